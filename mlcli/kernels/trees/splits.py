"""Find the best split of one node by one column.

A node scores −weight × impurity, without the part that no split changes. Of squares that is Σ S² / W: gini for
class weights, the squared error for amounts. With gradients as amounts and curvatures as weights, it is twice what
the best scores of both sides lower the loss by. Extra-trees score one cut, which is drawn at random; ID3 and
C4.5 may score a branch for each level.

Loops over rows and bins stand in functions of few arrays, since Numba counts references to every array that a
function is called with.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.records import (
    AMOUNT,
    ENTROPY,
    FEW,
    NONE_MISSING,
    PLACE_BITS,
    SQUARES,
    WEIGHT,
    Binned,
    Bins,
    Bytes,
    Cuts,
    Ids,
    Limits,
    Nodes,
    Order,
    Scale,
    Words,
    Workspace,
)

PLACES = (1 << PLACE_BITS) - 1
LEAST_CURVATURE = 1e-3
"""The curvature that each side of a split needs: with less, its step could not be trusted."""
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is -inf where there is no split."""


class ParentNode(NamedTuple):
    """A node before it is split: its words, and the limits of its splits."""

    totals: Words
    scale: Scale
    limits: Limits
    least: int
    """The least weight of a branch, in units."""
    tolerance: float
    """How much two scores may differ by rounding alone."""
    low: float
    """Bounds of the scores of gradients."""
    high: float


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def gather(parts: Words, rows: Ids, beside: Words, totals: Words) -> None:
    """Copy the words of a node's rows side by side, and add them up."""
    for w in range(len(parts)):
        source, target, total = parts[w], beside[w], 0
        for i in range(len(rows)):
            part = source[rows[i]]
            target[i] = part
            total += part
        totals[w] = total


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def add_up(column: Bins, bins: int, rows: Ids, parts: Words, sums: Words) -> None:
    """Fill ``sums`` (words × bins) with what the rows of a node hold in each bin of a column."""
    for w in range(len(sums)):
        for b in range(bins):
            sums[w, b] = 0
    for w in range(0, len(sums) - 1, 2):  # two at a time, which look up the bin of a row once
        first, second, own, other = sums[w], sums[w + 1], parts[w], parts[w + 1]
        for i in range(len(rows)):
            b = column[rows[i]]
            first[b] += own[i]
            second[b] += other[i]
    if len(sums) % 2:
        first, own = sums[len(sums) - 1], parts[len(sums) - 1]
        for i in range(len(rows)):
            first[column[rows[i]]] += own[i]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def sort_rows(column: Bins, rows: Ids, known: int, keys: Rows, counts: Rows) -> int:
    """Sort the keys of rows, few by insertion, else by digits; which of the two first lines has them."""
    count, source, shift = len(rows), 0, PLACE_BITS
    for i in range(count):
        key, index = (int(column[rows[i]]) << PLACE_BITS) | i, i
        while count <= FEW and index > 0 and keys[0, index - 1] > key:
            keys[0, index] = keys[0, index - 1]
            index -= 1
        keys[0, index] = key
    while count > FEW and known >> (shift - PLACE_BITS):
        for digit in range(len(counts)):
            counts[digit] = 0
        for i in range(count):
            counts[((keys[source, i] >> shift) & 255) + 1] += 1
        for digit in range(1, len(counts)):
            counts[digit] += counts[digit - 1]
        for i in range(count):
            digit = (keys[source, i] >> shift) & 255
            keys[1 - source, counts[digit]] = keys[source, i]
            counts[digit] += 1
        source = 1 - source
        shift += 8  # bits of a digit
    return source


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def accumulate(
    keys: Rows, count: int, sums: Words, sorted_rows: bool, filled: Bytes, along: Words, bins: Rows
) -> int:
    """Fill what lies on the left of each cut, and the bin before it; how many there are, and one after all bins.

    Keys, ascending, say in which bin each column of ``sums`` is. Most bins are empty in most nodes, and what comes
    after an empty one is overwritten, so that the loop has no branch.
    """
    if sorted_rows:
        for i in range(count - 1):
            filled[i] = (keys[i] >> PLACE_BITS) != (keys[i + 1] >> PLACE_BITS)
        filled[count - 1] = 1
    else:
        for i in range(count):
            filled[i] = sums[0, i] != 0
        for w in range(1, len(sums)):
            for i in range(count):
                filled[i] |= sums[w, i] != 0
    made = np.uint64(0)
    for w in range(len(sums)):
        total, own, left = np.int64(0), sums[w], along[w]
        made = np.uint64(0)
        for i in range(count):
            total += own[keys[i] & PLACES]
            left[made] = total
            bins[made] = keys[i] >> PLACE_BITS
            made += np.uint64(filled[i])
    return int(made)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def entropy_term(weight: float) -> float:
    """W log2 W, 0 for 0."""
    return weight * math.log2(weight) if weight > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def score_of_words(words: Words, bits: int, criterion: int) -> tuple[float, float, float]:
    """The weight of some rows, what they score (of none: 0), and the weight of their largest class."""
    weight, score, largest, mask = 0.0, 0.0, 0.0, (1 << bits) - 1
    if bits == 0:
        weight = float(words[WEIGHT])
        return weight, float(words[AMOUNT]) ** 2 / max(weight, 1.0), 0.0
    for w in range(len(words)):
        word = words[w]
        while word:
            value = float(word & mask)
            weight += value
            largest = value if value > largest else largest
            score += entropy_term(value) if criterion == ENTROPY else value * value
            word >>= bits
    if criterion == SQUARES:
        return weight, score / max(weight, 1.0), largest
    return weight, score - entropy_term(weight) if criterion == ENTROPY else largest - weight, largest


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def fill_class_scores(
    along: Words, lost: Words, count: int, totals: Words, bits: int, criterion: int, least: int, scores: Array
) -> None:
    """What both sides of each cut score, of classes, with ``along`` and ``lost`` on the left."""
    mask = (1 << bits) - 1
    for k in range(count):
        here, there, ours, theirs = 0.0, 0.0, 0.0, 0.0
        for w in range(len(along)):
            left = along[w, k] + lost[w]
            right = totals[w] - left
            while left | right:
                own, other = float(left & mask), float(right & mask)
                here, there = here + own, there + other
                if criterion == SQUARES:
                    ours, theirs = ours + own * own, theirs + other * other
                elif criterion == ENTROPY:
                    ours, theirs = ours + entropy_term(own), theirs + entropy_term(other)
                else:
                    ours, theirs = own if own > ours else ours, other if other > theirs else theirs
                left >>= bits
                right >>= bits
        if criterion == SQUARES:
            ours, theirs = ours / (here if here > 1.0 else 1.0), theirs / (there if there > 1.0 else 1.0)
        elif criterion == ENTROPY:
            ours, theirs = ours - entropy_term(here), theirs - entropy_term(there)
        else:
            ours, theirs = ours - here, theirs - there
        scores[k] = -np.inf if here < least or there < least else ours + theirs


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def bounded(amount: float, curvature: float, low: float, high: float) -> tuple[float, float]:
    """The best score of some rows between bounds, and twice what it lowers the loss by."""
    score = -amount / curvature if curvature > 0.0 else 0.0
    score = score if score > low else low
    score = score if score < high else high
    return score, -(2.0 * amount + curvature * score) * score


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def fill_value_scores(
    along: Words, lost: Words, count: int, parent: ParentNode, direction: int, scores: Array
) -> None:
    """The same of values or gradients; -inf if one side has too little, or scores go in the wrong direction."""
    amounts, words, amount, word = along[AMOUNT], along[WEIGHT], lost[AMOUNT], lost[WEIGHT]
    amount_of_all, word_of_all = parent.totals[AMOUNT], parent.totals[WEIGHT]
    scale, least, l2, low, high = parent.scale, parent.least, parent.limits.l2, parent.low, parent.high
    for k in range(count):
        left, own = amounts[k] + amount, words[k] + word
        right, other = amount_of_all - left, word_of_all - own
        here, there = (own & scale.mask) * scale.curvature, (other & scale.mask) * scale.curvature
        poor = ((own >> scale.shift) < least) | ((other >> scale.shift) < least)
        poor |= (here < LEAST_CURVATURE) | (there < LEAST_CURVATURE)
        below, ours = bounded(left * scale.amount, here + l2, low, high)
        above, theirs = bounded(right * scale.amount, there + l2, low, high)
        scores[k] = -np.inf if poor | (direction * (above - below) < 0.0) else ours + theirs


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def fill_scores(along: Words, lost: Words, count: int, parent: ParentNode, direction: int, scores: Array) -> None:
    """What both sides of each cut score, with ``along`` and ``lost`` on the left."""
    if parent.scale.bits:
        bits, criterion = parent.scale.bits, parent.limits.criterion
        fill_class_scores(along, lost, count, parent.totals, bits, criterion, parent.least, scores)
    else:
        fill_value_scores(along, lost, count, parent, direction, scores)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def best_cut(
    along: Words, cuts: int, missing: bool, parent: ParentNode, direction: int, scores: Array, lost: Words
) -> tuple[float, int, int]:
    """The first cut with the best score, but for rounding: score, place, and the side of missing cells.

    Missing cells come after the last cut, if there are any. Then ``lost[2]`` has the words on the left.
    """
    best, index, best_side, sides = -np.inf, 0, 0, 1
    if missing:
        for w in range(len(along)):
            lost[1, w] = parent.totals[w] - along[w, cuts - 1]
        scores[1, cuts - 1] = -np.inf
        sides = 2
    for side in range(sides):
        fill_scores(along, lost[side], cuts - side, parent, direction, scores[side])
    for k in range(cuts):
        for side in range(sides):
            if scores[side, k] > best + parent.tolerance:
                best, index, best_side = scores[side, k], k, side
    for w in range(len(along)):
        lost[2, w] = along[w, index] + lost[best_side, w]
    return best, index, best_side


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def best_split(
    column: Bins, known: int, ordered: bool, rows: Ids, parts: Words, parent: ParentNode, sums: Words,
    order: Order, cuts: Cuts,
) -> Split:  # fmt: skip
    """The best split of a node by one column: a threshold, or a level against the rest."""
    by_rows = ordered and (len(rows) <= FEW or known > 2 * len(rows))  # then sorting the rows takes less time
    if not by_rows:
        add_up(column, known + 1, rows, parts, sums)
    if not ordered:
        score, index, side = best_cut(sums, known + 1, False, parent, 0, cuts.scores, cuts.lost)
        return score, index, index, 0
    if by_rows:
        keys = order.keys[sort_rows(column, rows, known, order.keys, order.counts)]
        count = accumulate(keys, len(rows), parts, True, cuts.filled, cuts.along, cuts.bins) - 1
    else:
        count = accumulate(order.keys[2], known + 1, sums, False, cuts.filled, cuts.along, cuts.bins) - 1
    missing = count > 1 and cuts.bins[count] == known
    score, index, side = best_cut(cuts.along, count, missing, parent, 0, cuts.scores, cuts.lost)
    return score, cuts.bins[index], cuts.bins[index + 1], side


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def sort_levels(sums: Words, known: int, scale: Scale, l2: float, order: Rows, ratios: Array) -> int:
    """Put keys of the levels that have rows, missing as the last, in order of amount over curvature.

    Of equals the first is first. How many there are.
    """
    count = 0
    for level in range(known + 1):
        word = sums[WEIGHT, level]
        if word >> scale.shift > 0:
            curvature = (word & scale.mask) * scale.curvature + l2
            ratio = sums[AMOUNT, level] * scale.amount / max(curvature, LEAST_CURVATURE)
            index = count
            while index > 0 and ratios[index - 1] > ratio:
                order[index], ratios[index] = order[index - 1], ratios[index - 1]
                index -= 1
            order[index], ratios[index] = level, ratio
            count += 1
    for index in range(count):
        order[index] |= index << PLACE_BITS
    return count


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def mark_levels(
    sums: Words, known: int, low: int, scale: Scale, l2: float, order: Rows, ratios: Array, goes_left: Bytes
) -> None:
    """Fill which levels go left: the first ones in order, up to ``low``."""
    for b in range(known + 1):
        goes_left[b] = NONE_MISSING
    for index in range(sort_levels(sums, known, scale, l2, order, ratios)):
        goes_left[order[index] & PLACES] = index <= low


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def entropy_of_sides(left: Words, parent: ParentNode, weight: float) -> float:
    """The entropy of the two sides of a cut by their weights."""
    own, _, _ = score_of_words(left, parent.scale.bits, parent.limits.criterion)
    return (entropy_term(weight) - entropy_term(own) - entropy_term(weight - own)) / weight


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def score_of_levels(
    sums: Words, known: int, parent: ParentNode, weight: float, words: Words
) -> tuple[float, float, int]:
    """What a branch for each level scores, the entropy of branches by their weights, and how many there are."""
    score, bits, count, unit = 0.0, entropy_term(weight), 0, 1.0 if parent.scale.bits else parent.scale.amount
    for b in range(known + 1):
        held = False
        for w in range(len(words)):
            words[w] = sums[w, b]
            held |= words[w] != 0
        if held:
            own, part, _ = score_of_words(words, parent.scale.bits, parent.limits.criterion)
            score += part * unit * unit if own >= parent.least else -np.inf
            bits, count = bits - entropy_term(own), count + 1
    return score if count > 1 else -np.inf, bits / weight, count


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def random_below(state: Rows, end: int) -> int:
    """A whole number from 0 to ``end - 1``, all alike; ``state[0]`` must not be 0 (xorshift, Marsaglia 2003)."""
    x = state[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    state[0] = x
    drawn: int = (x * end) >> 32
    return drawn


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def random_share(state: Rows) -> float:
    """A number in [0, 1)."""
    return random_below(state, int(np.int64(1 << 30))) / (1 << 30)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def extreme_bins(column: Bins, rows: Ids, known: int, codes: Bins) -> tuple[int, int, bool]:
    """Fill ``codes`` with the bins of a node's rows; the first and the last of known values, and if some are not.

    Without known values the last comes before the first.
    """
    first, last, count, highest = column[rows[0]], column[rows[0]], len(rows), -1
    for i in range(count):
        codes[i] = column[rows[i]]
    for i in range(count):
        first = codes[i] if codes[i] < first else first
        last = codes[i] if codes[i] > last else last
    if last == known:
        for i in range(count):
            highest = int(codes[i]) if highest < codes[i] < known else highest
    return int(first), highest if last == known else int(last), last == known


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def score_of_range(
    parts: Words, codes: Bins, count: int, begin: int, end: int, other: int, parent: ParentNode,
    along: Words, lost: Words, scores: Array,
) -> float:  # fmt: skip
    """What both sides score where the rows in the bins from begin to end, and in one other, go left."""
    for w in range(len(along)):
        total, own = np.int64(0), parts[w]
        for i in range(count):
            b = int(codes[i])
            total += own[i] * (((b >= begin) & (b <= end)) | (b == other))
        along[w, 0] = total
    fill_scores(along, lost, 1, parent, 0, scores)
    return float(scores[0])


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def bin_of(lowest: Array, cut: float, first: int, last: int) -> int:
    """The last bin before ``last`` that begins at or below the cut."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if lowest[middle] <= cut:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def random_level(codes: Bins, count: int, levels: int, state: Rows) -> int:
    """One of the levels of some rows, all alike."""
    while True:
        level = random_below(state, levels)
        for i in range(count):
            if codes[i] == level:
                return level


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def split_in_branches(
    columns: Binned, feature: int, rows: Ids, parent: ParentNode, weight: float, sums: Words,
    space: Workspace, nodes: Nodes,
) -> float:  # fmt: skip
    """The score of the best threshold of a column, or of a branch for each level, which is noted."""
    column, known, ordered = columns.bins[feature], int(columns.known[feature]), columns.ordered[feature]
    low, side = 0, 0
    if ordered:
        score, low, high, side = best_split(
            column, known, ordered, rows, space.parts, parent, sums, space.order, space.cuts
        )
        nodes["information"] = entropy_of_sides(space.cuts.lost[2], parent, weight) if score > -np.inf else 0.0
    else:
        add_up(column, known + 1, rows, space.parts, sums)
        score, nodes["information"], high = score_of_levels(sums, known, parent, weight, space.cuts.lost[2])
    nodes["low"], nodes["high"], nodes["side"] = low, high, side
    return score
