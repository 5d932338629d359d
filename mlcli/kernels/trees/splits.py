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
from mlcli.kernels.trees.records import (
    AMOUNT,
    ENTROPY,
    NONE_MISSING,
    SQUARES,
    WEIGHT,
    Binned,
    Bytes,
    Ids,
    Limits,
    Scale,
    Words,
    Workspace,
)
from mlcli.kernels.trees.sums import FEW, PLACE_BITS, add_up, sort_rows
from mlcli.kernels.without_counting import inlined

PLACES = (1 << PLACE_BITS) - 1
SPARSE = 2
"""With more bins than this many for each row, the rows are sorted rather than the bins gone through."""
LEAST_CURVATURE = 1e-3
"""Of a side: with less, no step could be trusted."""
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is -inf where there is no split."""


class ParentNode(NamedTuple):
    """A node before it is split: its words, and what a split of it must heed."""

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


@inlined
def entropy_term(weight: float) -> float:
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
            score += entropy_term(one) if criterion == ENTROPY else one * one
            word >>= bits
    if criterion == SQUARES:
        return weight, score / max(weight, 1.0), largest
    return weight, score - entropy_term(weight) if criterion == ENTROPY else largest - weight, largest


@inlined
def score_of_classes(along: Words, k: int, lost: Words, parent: ParentNode, space: Workspace) -> float:
    """What both sides of a cut score; -inf if one is too light."""
    for w in range(len(parent.totals)):
        space.left[w] = along[w, k] + lost[w]
        space.rest[w] = parent.totals[w] - space.left[w]
    here, ours, _ = score_of_words(space.left, parent.scale.bits, parent.limits.criterion)
    there, theirs, _ = score_of_words(space.rest, parent.scale.bits, parent.limits.criterion)
    return -np.inf if here < parent.least or there < parent.least else ours + theirs


@inlined
def bounded(amount: float, curvature: float, low: float, high: float) -> tuple[float, float]:
    """The best score of some rows between bounds, and twice what it lowers the loss by."""
    score = -amount / curvature if curvature > 0.0 else 0.0
    score = score if score > low else low
    score = score if score < high else high
    return score, -(2.0 * amount + curvature * score) * score


@inlined
def score_of(amount: int, word: int, parent: ParentNode, direction: int) -> float:
    """What both sides of a cut score within bounds, rising or falling; -inf if one has too little."""
    totals, scale, least, l2 = parent.totals, parent.scale, parent.least, parent.limits.l2
    left, right, other = amount * scale.amount, (totals[AMOUNT] - amount) * scale.amount, totals[WEIGHT] - word
    here, there = (word & scale.mask) * scale.curvature, (other & scale.mask) * scale.curvature
    poor = ((word >> scale.shift) < least) | ((other >> scale.shift) < least)
    poor |= (here < LEAST_CURVATURE) | (there < LEAST_CURVATURE)
    below, ours = bounded(left, here + l2, parent.low, parent.high)
    above, theirs = bounded(right, there + l2, parent.low, parent.high)
    return -np.inf if poor | (direction * (above - below) < 0.0) else ours + theirs


@inlined
def fill_scores(
    along: Words, lost: Words, count: int, parent: ParentNode, direction: int, scores: Array, space: Workspace
) -> None:
    """What both sides of each cut score, with ``along`` and ``lost`` on the left."""
    if parent.scale.bits:
        for k in range(count):
            scores[k] = score_of_classes(along, k, lost, parent, space)
    else:
        amounts, words, amount, word = along[AMOUNT], along[WEIGHT], lost[AMOUNT], lost[WEIGHT]
        for k in range(count):
            scores[k] = score_of(amounts[k] + amount, words[k] + word, parent, direction)


@inlined
def accumulate(keys: Rows, count: int, sums: Words, sorted_rows: bool, space: Workspace) -> int:
    """Fill what lies on the left of each cut, and the bin before it; how many there are, and one after all bins.

    Keys, ascending, say in which bin each column of ``sums`` is. Most bins are empty in most nodes, and what comes
    after an empty one is overwritten: nothing branches on them.
    """
    filled, along, bins = space.filled, space.along, space.bins
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
def best_cut(
    along: Words, cuts: int, missing: bool, parent: ParentNode, direction: int, space: Workspace
) -> tuple[float, int, int]:
    """What the first cut scores, but for rounding, that scores most, which it is, and where missing cells go.

    They come after the last cut, if there are any.
    """
    best, place, best_side, scores, lost, sides = -np.inf, 0, 0, space.scores, space.lost, 1
    if missing:
        for w in range(len(along)):
            lost[1, w] = parent.totals[w] - along[w, cuts - 1]
        scores[1, cuts - 1] = -np.inf
        sides = 2
    for side in range(sides):
        fill_scores(along, lost[side], cuts - side, parent, direction, scores[side], space)
    for k in range(cuts):
        for side in range(sides):
            if scores[side, k] > best + parent.tolerance:
                best, place, best_side = scores[side, k], k, side
    for w in range(len(along)):
        space.left[w] = along[w, place] + lost[best_side, w]
    return best, place, best_side


@inlined
def best_split(
    columns: Binned, feature: int, rows: Ids, parent: ParentNode, sums: Words, space: Workspace
) -> Split:
    """The best split of a node by one column: a threshold, or a level against the rest."""
    known, ordered, count = int(columns.known[feature]), columns.ordered[feature], len(rows)
    keys, held, along, cuts, missing = space.every, sums, sums, known + 1, False
    by_rows = ordered and (count <= FEW or known > SPARSE * count)
    if by_rows:
        keys, held = space.places[sort_rows(columns.bins[feature], rows, known, space)], space.parts
    else:
        add_up(columns, feature, rows, space, sums)
        count = known + 1
    if ordered:
        along, cuts = space.along, accumulate(keys, count, held, by_rows, space) - 1
        missing = cuts > 1 and space.bins[cuts] == known
    score, place, side = best_cut(along, cuts, missing, parent, 0, space)
    return (score, space.bins[place], space.bins[place + 1], side) if ordered else (score, place, place, 0)


@inlined
def sort_levels(sums: Words, known: int, scale: Scale, l2: float, space: Workspace) -> int:
    """Put keys of the levels that have rows, missing as the last, in order of amount over curvature.

    Of equals the first is first. How many there are.
    """
    count, order, ratios = 0, space.places[0], space.scores[0]
    for level in range(known + 1):
        word = sums[WEIGHT, level]
        if word >> scale.shift > 0:
            curvature = (word & scale.mask) * scale.curvature + l2
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
def kept_split(
    columns: Binned, feature: int, sums: Words, direction: int, parent: ParentNode, space: Workspace
) -> Split:
    """The best split of a node whose sums are kept; of levels, the first ones in order, up to ``low``."""
    known, ordered = int(columns.known[feature]), columns.ordered[feature]
    keys, count = space.every, known + 1
    if not ordered:
        keys, count = space.places[0], sort_levels(sums, known, parent.scale, parent.limits.l2, space)
    cuts = accumulate(keys, count, sums, not ordered, space) - 1
    missing = ordered and cuts > 1 and space.bins[cuts] == known
    score, place, side = best_cut(space.along, cuts, missing, parent, direction, space)
    return score, space.bins[place], space.bins[place] + 1, side


@inlined
def mark_levels(
    sums: Words, known: int, low: int, scale: Scale, l2: float, space: Workspace, goes_left: Bytes
) -> None:
    """Fill which levels go left: the first ones in order, up to ``low``."""
    for b in range(known + 1):
        goes_left[b] = NONE_MISSING
    for place in range(sort_levels(sums, known, scale, l2, space)):
        goes_left[space.places[0, place] & PLACES] = place <= low


@inlined
def entropy_of_sides(parent: ParentNode, weight: float, space: Workspace) -> float:
    """The entropy of the two sides of a cut by their weights."""
    left, _, _ = score_of_words(space.left, parent.scale.bits, parent.limits.criterion)
    return (entropy_term(weight) - entropy_term(left) - entropy_term(weight - left)) / weight


@inlined
def score_of_levels(
    sums: Words, known: int, parent: ParentNode, weight: float, space: Workspace
) -> tuple[float, float, int]:
    """What a branch for each level scores, the entropy of branches by their weights, and how many there are."""
    score, bits, count, unit = 0.0, entropy_term(weight), 0, 1.0 if parent.scale.bits else parent.scale.amount
    for b in range(known + 1):
        held = False
        for w in range(len(space.left)):
            space.left[w] = sums[w, b]
            held |= space.left[w] != 0
        if held:
            own, part, _ = score_of_words(space.left, parent.scale.bits, parent.limits.criterion)
            score += part * unit * unit if own >= parent.least else -np.inf
            bits, count = bits - entropy_term(own), count + 1
    return score if count > 1 else -np.inf, bits / weight, count
