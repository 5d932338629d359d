"""Compiled search for the best split of one node by one column.

A node scores −weight × impurity, up to what no split changes, which of squares is Σ S² / W. That is gini of class
weights and the squared error of amounts alike; with gradients as amounts, and curvatures in the place of weights,
it is twice what the best scores of both sides lower the loss by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.sums import (
    AMOUNT,
    FEW,
    NONE_MISSING,
    PLACE_BITS,
    WEIGHT,
    Bytes,
    Columns,
    Here,
    Room,
    Scale,
    Words,
    add_up,
    sort_few,
    sort_many,
)
from mlcli.kernels.without_counting import inlined

SQUARES, ENTROPY, LARGEST = range(3)
"""Criteria: the sum of squares, the entropy, the share that the largest class is wrong about."""
PLACES = (1 << PLACE_BITS) - 1
SPARSE = 2
"""With more bins than this many for each row, the rows are sorted rather than the bins gone through."""
LEAST_CURVATURE = 1e-3
"""Of a side: with less, no step could be trusted."""
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is -inf where there is no split."""


class Whole(NamedTuple):
    """A node before it is split: its words, and what a split of it must heed."""

    totals: Words
    bits: int
    criterion: int
    least: int
    """The least weight of a branch."""
    tolerance: float
    """How much two scores may differ by rounding alone."""
    scale: Scale
    low: float
    """Bounds of the scores of gradients."""
    high: float


@inlined
def bits_of(weight: float) -> float:
    """W log2 W, 0 for 0."""
    return weight * math.log2(weight) if weight > 0.0 else 0.0


@inlined
def score_of_words(words: Words, bits: int, criterion: int) -> tuple[float, float, float]:
    """The weight of some rows, what they score (of none: 0), and the weight of their largest class."""
    weight, score, largest, mask = 0.0, 0.0, 0.0, (1 << bits) - 1
    if bits == 0:
        weight = float(words[WEIGHT])
        return weight, float(words[AMOUNT]) ** 2 / max(weight, 1.0), 0.0
    for w in range(len(words)):
        word = words[w]
        while word:
            one = float(word & mask)
            weight += one
            largest = one if one > largest else largest
            score += bits_of(one) if criterion == ENTROPY else one * one
            word >>= bits
    if criterion == SQUARES:
        return weight, score / max(weight, 1.0), largest
    return weight, score - bits_of(weight) if criterion == ENTROPY else largest - weight, largest


@inlined
def score_of_classes(along: Words, k: int, lost: Words, whole: Whole, room: Room) -> float:
    """What both sides of a cut score; -inf if one is too light."""
    for w in range(len(whole.totals)):
        room.left[w] = along[w, k] + lost[w]
        room.rest[w] = whole.totals[w] - room.left[w]
    here, ours, _ = score_of_words(room.left, whole.bits, whole.criterion)
    there, theirs, _ = score_of_words(room.rest, whole.bits, whole.criterion)
    return -np.inf if here < whole.least or there < whole.least else ours + theirs


@inlined
def bounded(amount: float, curvature: float, low: float, high: float) -> tuple[float, float]:
    """The best score of some rows between bounds, and twice what it lowers the loss by."""
    score = -amount / curvature if curvature > 0.0 else 0.0
    score = score if score > low else low
    score = score if score < high else high
    return score, -(2.0 * amount + curvature * score) * score


@inlined
def score_of(amount: int, word: int, whole: Whole, direction: int) -> float:
    """What both sides of a cut score within bounds, rising or falling; -inf if one has too little."""
    totals, scale, least = whole.totals, whole.scale, whole.least
    left, right, other = amount * scale.amount, (totals[AMOUNT] - amount) * scale.amount, totals[WEIGHT] - word
    here, there = (word & scale.mask) * scale.curvature, (other & scale.mask) * scale.curvature
    poor = ((word >> scale.shift) < least) | ((other >> scale.shift) < least)
    poor |= (here < LEAST_CURVATURE) | (there < LEAST_CURVATURE)
    below, ours = bounded(left, here + scale.l2, whole.low, whole.high)
    above, theirs = bounded(right, there + scale.l2, whole.low, whole.high)
    return -np.inf if poor | (direction * (above - below) < 0.0) else ours + theirs


@inlined
def fill_scores(
    along: Words, lost: Words, count: int, whole: Whole, direction: int, scores: Array, room: Room
) -> None:
    """What both sides of each cut score, with ``along`` and ``lost`` on the left."""
    if whole.bits:
        for k in range(count):
            scores[k] = score_of_classes(along, k, lost, whole, room)
    else:
        amounts, words, amount, word = along[AMOUNT], along[WEIGHT], lost[AMOUNT], lost[WEIGHT]
        for k in range(count):
            scores[k] = score_of(amounts[k] + amount, words[k] + word, whole, direction)


@inlined
def accumulate(keys: Rows, count: int, sums: Words, sorted_rows: bool, room: Room) -> int:
    """Fill what lies on the left of each cut, and the bin before it; how many there are, and one after all bins.

    Keys, ascending, say in which bin each column of ``sums`` is. Most bins are empty in most nodes, and what comes
    after an empty one is overwritten: nothing branches on them.
    """
    filled, along, bins = room.filled, room.along, room.bins
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


@inlined
def best_threshold(
    keys: Rows, count: int, sums: Words, known: int, sorted_rows: bool, whole: Whole, direction: int, room: Room
) -> Split:
    """The first cut, but for rounding, that scores most; missing cells (bin ``known``) go to either side."""
    cuts = accumulate(keys, count, sums, sorted_rows, room) - 1
    if cuts < 1:
        return -np.inf, 0, 0, 0
    scores, lost, sides = room.scores, room.lost[1], 1
    fill_scores(room.along, room.lost[0], cuts, whole, direction, scores[0], room)
    if room.bins[cuts] == known and cuts > 1:
        for w in range(len(lost)):
            lost[w] = whole.totals[w] - room.along[w, cuts - 1]
        fill_scores(room.along, lost, cuts - 1, whole, direction, scores[1], room)
        scores[1, cuts - 1] = -np.inf
        sides = 2
    best, at, at_side = -np.inf, 0, 0
    for k in range(cuts):
        for side in range(sides):
            if scores[side, k] > best + whole.tolerance:
                best, at, at_side = scores[side, k], k, side
    for w in range(len(lost)):
        room.left[w] = room.along[w, at] + room.lost[at_side, w]
    return best, room.bins[at], room.bins[at + 1], at_side


@inlined
def best_level(sums: Words, known: int, whole: Whole, room: Room) -> Split:
    """The first level, but for rounding, that scores most when it is split from the rest."""
    best, level = -np.inf, 0
    fill_scores(sums, room.lost[0], known + 1, whole, 0, room.scores[0], room)
    for b in range(known + 1):
        if room.scores[0, b] > best + whole.tolerance:
            best, level = room.scores[0, b], b
    return best, level, level, 0


@inlined
def best_split(columns: Columns, feature: int, here: Here, whole: Whole, room: Room) -> Split:
    """The best split of a node by one column."""
    known, count, column, sums = int(columns.known[feature]), len(here.rows), columns.bins[feature], room.sums
    if columns.ordered[feature] and (count <= FEW or known > SPARSE * count):
        keys = room.places[0]
        if count <= FEW:
            sort_few(column, here.rows, room.keys, keys)
        else:
            keys = room.places[sort_many(column, here.rows, known, room.places, room.counts)]
        return best_threshold(keys, count, here.parts, known, True, whole, 0, room)
    add_up(columns, feature, here, sums)
    if columns.ordered[feature]:
        return best_threshold(room.every, known + 1, sums, known, False, whole, 0, room)
    return best_level(sums, known, whole, room)


@inlined
def sort_levels(sums: Words, known: int, scale: Scale, room: Room) -> int:
    """Put keys of the levels that have rows, missing as the last, in order of amount over curvature.

    Of equals the first is first. How many there are.
    """
    count, order, ratios = 0, room.places[0], room.scores[0]
    for level in range(known + 1):
        word = sums[WEIGHT, level]
        if word >> scale.shift > 0:
            curvature = (word & scale.mask) * scale.curvature + scale.l2
            ratio = sums[AMOUNT, level] * scale.amount / max(curvature, LEAST_CURVATURE)
            place = count
            while place > 0 and ratios[place - 1] > ratio:
                order[place], ratios[place] = order[place - 1], ratios[place - 1]
                place -= 1
            order[place], ratios[place] = level, ratio
            count += 1
    for place in range(count):
        order[place] |= place << PLACE_BITS
    return count


@inlined
def kept_split(columns: Columns, feature: int, sums: Words, direction: int, whole: Whole, room: Room) -> Split:
    """The best split of a node whose sums are kept; of levels, the first ones in order, up to ``low``."""
    known, by_level = int(columns.known[feature]), not columns.ordered[feature]
    keys, count, missing = room.every, known + 1, known
    if by_level:
        keys, count, missing = room.places[0], sort_levels(sums, known, whole.scale, room), -1
    score, low, _, side = best_threshold(keys, count, sums, missing, by_level, whole, direction, room)
    return score, low, low + 1, side


@inlined
def group(sums: Words, known: int, low: int, scale: Scale, room: Room, goes_left: Bytes) -> None:
    """Fill which levels go left: the first ones in order, up to ``low``."""
    for b in range(known + 1):
        goes_left[b] = NONE_MISSING
    for place in range(sort_levels(sums, known, scale, room)):
        goes_left[room.places[0, place] & PLACES] = place <= low


@inlined
def bits_of_left(whole: Whole, weight: float, room: Room) -> float:
    """The entropy of the two sides of a cut by their weights."""
    left, _, _ = score_of_words(room.left, whole.bits, whole.criterion)
    return (bits_of(weight) - bits_of(left) - bits_of(weight - left)) / weight


@inlined
def score_of_levels(known: int, whole: Whole, weight: float, room: Room) -> tuple[float, float, int]:
    """What a branch for each level scores, the entropy of branches by their weights, and how many there are."""
    score, bits, count, unit = 0.0, bits_of(weight), 0, 1.0 if whole.bits else whole.scale.amount
    for b in range(known + 1):
        held = False
        for w in range(len(room.left)):
            room.left[w] = room.sums[w, b]
            held |= room.left[w] != 0
        if held:
            own, part, _ = score_of_words(room.left, whole.bits, whole.criterion)
            score += part * unit * unit if own >= whole.least else -np.inf
            bits, count = bits - bits_of(own), count + 1
    return score if count > 1 else -np.inf, bits / weight, count
