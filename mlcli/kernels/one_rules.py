"""One-R for every part of a round: each column is sorted once, and the rows of a part are taken from its totals.

A column has a slot for each of its values, in order, and a last one for missing cells; ``totals`` (slots × K) has
the weight of each class in it. Weights are whole, so that taking rows away is exact. The twin is the method
itself: ``tests/models/test_one_r_held_out.py`` fits it to each part.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.without_counting import inlined


@njit(cache=True, nogil=True, error_model="numpy")
def rules_outside(
    slots: Rows, first: Rows, coded: Flags, values: Array, totals: Array, y: Codes, weights: Array,
    rows: Rows, begins: Rows, overall: Array, order: Rows, min_bucket: float, named: int, answers: Array,
) -> None:  # fmt: skip
    """Fill ``answers`` for the rows of each part by the best rule outside it, or that on the column ``named``.

    ``slots`` (n × columns) has the slot of each cell; those of column c are from ``first[c]`` to ``first[c + 1]``.
    """
    columns, room = slots.shape[1], len(values)
    kept, ends = np.empty(room, np.intp), np.empty(room, np.intp)
    wrong, sums = np.empty(columns), np.empty(totals.shape[1])
    for part in range(len(begins) - 1):
        some = rows[begins[part] : begins[part + 1]]
        change(totals, slots, y, weights, some, -1.0)
        for c in range(columns):
            if named < 0 or c == named:
                wrong[c] = wrong_on(
                    totals, first[c], first[c + 1], coded[c], order[part], min_bucket, kept, ends, sums
                )
        chosen = named
        if named < 0:
            chosen = first_least(wrong, 1e-12 * whole(overall[part]))
        f, end = first[chosen], first[chosen + 1]
        cuts = 0 if coded[chosen] else intervals(totals, f, end, order[part], min_bucket, kept, ends, sums)
        for row in some:
            slot, answer = slots[row, chosen], answers[row]
            answer[:] = 0.0
            if coded[chosen] or slot == end - 1:
                add(answer, totals[slot])
            else:
                add_interval(answer, totals, values, values[slot], kept, ends, cuts)
            if whole(answer) == 0.0:
                add(answer, overall[part])
            weight = whole(answer)
            for k in range(len(answer)):
                answer[k] /= weight
        change(totals, slots, y, weights, some, 1.0)


@inlined
def change(totals: Array, slots: Rows, y: Codes, weights: Array, rows: Rows, sign: float) -> None:
    """Add rows to the totals, or take them away."""
    for row in rows:
        for c in range(slots.shape[1]):
            totals[slots[row, c], y[row]] += sign * weights[row]


@inlined
def first_least(values: Array, rounding: float) -> int:
    """The first value that is the least, but for rounding."""
    least = values[0]
    for value in values:
        least = value if value < least else least
    for place in range(len(values)):
        if values[place] <= least + rounding:
            return place
    return 0


@inlined
def wrong_on(
    totals: Array, first: int, end: int, coded: bool, order: Rows, min_bucket: float, kept: Rows, ends: Rows,
    sums: Array,
) -> float:  # fmt: skip
    """The weight of the rows that the rule on a column gets wrong."""
    wrong = wrong_in(totals[end - 1])
    if coded:
        for slot in range(first, end - 1):
            wrong += wrong_in(totals[slot])
        return wrong
    begin = 0
    for place in range(intervals(totals, first, end, order, min_bucket, kept, ends, sums)):
        sums[:] = 0.0
        for value in range(begin, ends[place]):
            add(sums, totals[kept[value]])
        wrong += wrong_in(sums)
        begin = ends[place]
    return wrong


@inlined
def wrong_in(weights: Array) -> float:
    """The weight of all classes but the largest."""
    total, most = 0.0, weights[0]
    for weight in weights:
        total += weight
        most = weight if weight > most else most
    return float(total - most)


@inlined
def whole(weights: Array) -> float:
    """The weight of all classes."""
    total = 0.0
    for weight in weights:
        total += weight
    return total


@inlined
def intervals(
    totals: Array, first: int, end: int, order: Rows, min_bucket: float, kept: Rows, ends: Rows, sums: Array
) -> int:
    """Cut a column as Holte does: fill ``kept`` with the slots that have rows, ``ends`` with where intervals end.

    Classes that come earlier in ``order`` win ties. Returns how many intervals there are; ``sums`` is room.
    """
    size, count, start, before = 0, 0, 0, -1
    for slot in range(first, end - 1):
        for k in range(len(order)):
            if totals[slot, k] > 0.0:
                kept[size] = slot
                size += 1
                break
    while start < size:
        sums[:] = 0.0
        stop = start
        while stop < size and sums[leader_of(sums, order)] < min_bucket:
            add(sums, totals[kept[stop]])
            stop += 1
        leader = leader_of(sums, order)
        while stop < size and leader_of(totals[kept[stop]], order) == leader:
            stop += 1
        if leader != before:
            count += 1
        ends[count - 1] = stop
        before, start = leader, stop
    return count


@inlined
def leader_of(weights: Array, order: Rows) -> int:
    """The class that weighs most, the first in order of equals."""
    leader = order[0]
    for k in order:
        if weights[k] > weights[leader]:
            leader = k
    return int(leader)


@inlined
def add(sums: Array, weights: Array) -> None:
    """Add the weight of each class."""
    for k in range(len(weights)):
        sums[k] += weights[k]


@inlined
def add_interval(
    answer: Array, totals: Array, values: Array, cell: float, kept: Rows, ends: Rows, count: int
) -> None:  # fmt: skip
    """Add the totals of the interval in which a number lies; on a cut it is below it."""
    begin = 0
    for place in range(count):
        if place < count - 1:
            below, above = values[kept[ends[place] - 1]], values[kept[ends[place]]]
            halfway = below + (above - below) / 2
            if cell > (halfway if halfway < above else below):
                begin = ends[place]
                continue
        for value in range(begin, ends[place]):
            add(answer, totals[kept[value]])
        return
