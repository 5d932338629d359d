"""Compiled sums of a node before it is split, and the rows of a small one laid out."""

from __future__ import annotations

from typing import NamedTuple

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.histogram_splits import Few
from mlcli.kernels.histograms import AMOUNT, WEIGHT, Here, Words
from mlcli.kernels.without_counting import inlined

EPSILON = 2.0**-52
ROOM = 2.0**61
"""What the amounts of a node may sum up to."""


class Targets(NamedTuple):
    """What each training row adds to the words of its node, and what is to be learnt: its class, or its value."""

    parts: Words
    """Words × n; of values the weight alone."""
    bits: int
    """How many a class has in a word; 0 of values."""
    classes: int
    """How many have room in a word."""
    slot: Rows
    output: Array


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are."""

    nodes: Codes
    """See ``dealing``."""
    threshold: Array
    gain: Array
    """The weighted impurity that each split takes away."""
    weight: Array
    mean: Array
    """Of values."""
    totals: Words
    """The words of each node."""


@inlined
def gather(targets: Targets, here: Here, totals: Words, node: int) -> None:
    """Lay the words of a node's rows side by side, and add them up."""
    for w in range(len(targets.parts)):
        source, beside, total = targets.parts[w], here.parts[w], 0
        for i in range(len(here.rows)):
            part = source[here.rows[i]]
            beside[i] = part
            total += part
        totals[node, w] = total


@inlined
def squares_of(totals: Words, node: int, bits: int) -> tuple[float, float]:
    """The weight of a node, and the sum of the squared weights of its classes."""
    weight, squares, mask = 0.0, 0.0, (1 << bits) - 1
    for w in range(totals.shape[1]):
        word = totals[node, w]
        while word:
            one = float(word & mask)
            weight += one
            squares += one * one
            word >>= bits
    return weight, squares


@inlined
def centre(targets: Targets, here: Here, grown: Grown, node: int, away: Array) -> tuple[float, float]:
    """Count amounts from the mean, in units as small as there is room for: their sum of squares, and the scale.

    The sum is 0 where values differ by rounding alone.
    """
    count, total, weight = len(here.rows), 0.0, float(grown.totals[node, WEIGHT])
    if count == 1:
        grown.mean[node] = targets.output[here.rows[0]]
        return 0.0, 1.0
    weights, amounts = here.parts[WEIGHT], here.parts[AMOUNT]
    for i in range(count):
        away[i] = targets.output[here.rows[i]]
        total += weights[i] * away[i]
    mean = total / weight
    grown.mean[node] = mean
    spread, widest = 0.0, 0.0
    for i in range(count):
        away[i] -= mean
        widest = max(widest, abs(away[i]))
        spread += weights[i] * away[i] * away[i]
    if spread / weight <= (8 * EPSILON * mean) ** 2:
        return 0.0, 1.0
    scale, rest = min(ROOM / (widest * weight), 1e150), 0
    for i in range(count):
        part = int(weights[i] * away[i] * scale)
        amounts[i] = part
        rest += part
    grown.totals[node, AMOUNT] = rest
    return spread * scale * scale, scale


@inlined
def lay_out(targets: Targets, here: Here, few: Few) -> None:
    """Take few rows out of their words."""
    for k in range(len(few.totals)):
        few.totals[k] = 0.0
    for i in range(len(here.rows)):
        row = here.rows[i]
        k = targets.slot[row]
        weight = float(targets.parts[k // targets.classes, row] >> targets.bits * (k % targets.classes))
        few.weights[i] = weight
        few.amounts[i] = weight if targets.bits else float(here.parts[AMOUNT, i])
        few.slots[i] = k
        few.totals[k] += few.amounts[i]
