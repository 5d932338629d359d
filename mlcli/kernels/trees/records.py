"""What growing a tree works on: rows in bins, and the named arrays that compiled loops and their callers share.

Sums are whole numbers, so that they are the same in any order of rows, and a sibling is exactly its parent less
the other child. Of classes, a word holds the weights of as many as it has room for, ``bits`` for each, and all are
added at once. Of values and gradients, the first word is the amount and the second the weight, above the curvature
if rows have one of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows

Bins = NDArray[np.unsignedinteger]
"""Small whole numbers of one, two or four bytes."""
Ids = NDArray[np.uint32]
"""Numbers of rows: unsigned, since a compiled loop asks of signed ones whether they count from the end."""
Words = NDArray[np.int64]
Bytes = NDArray[np.uint8]

AMOUNT, WEIGHT = 0, 1
"""The words of values and of gradients."""
SQUARES, ENTROPY, LARGEST = range(3)
"""Criteria: the sum of squares, the entropy, the share that the largest class is wrong about."""
PLACE_BITS = 32
"""How many bits of a key say which entry of a bin it is; the others are the bin."""
FEW = 32
"""Up to how many rows inserting one after another sorts fastest."""
LEAF = -1
"""The feature of a node that asks nothing."""
NO_LIMIT = 2**31 - 1
"""Of columns, depth and leaves."""
NONE_MISSING = 2
"""The side of missing cells where there were none, or of levels without rows."""
MEASURES = ("value", "weight", "impurity", "gain", "cut")
PLACES = ("feature", "low", "high", "side", "left", "parent", "begin", "end", "depth", "level")
NODE = np.dtype([(name, np.float64) for name in MEASURES] + [(name, np.int32) for name in PLACES])
"""A node: the mean of values or the score of gradients, the weighted impurity that its question takes away, and
the threshold that was drawn, if any. Of what it asks: bins up to ``low`` go left, from ``high`` on right, and
missing cells to a ``side``; or ``high`` levels have a branch each. Its first child; its parent, -1 at the root;
its rows; the level that led there."""
Nodes = NDArray[np.void]


class Binned(NamedTuple):
    """The training rows in bins: ``bins`` (F × n) says in which one each cell lies.

    Known values of feature f are in bins 0 to ``known[f] - 1``, missing ones in bin ``known[f]``. The bin of a
    nominal cell is its code. A bin takes one byte, two, or four where one column has more than 65,535: loops are
    compiled for each anew.
    """

    bins: Bins
    known: Rows
    ordered: Flags
    lowest: Array
    """F × most bins: the smallest training value in each bin, infinite past the last one."""
    highest: Array

    @property
    def width(self) -> int:
        """How many bins a feature has at most, with that of missing cells."""
        return int(self.known.max(initial=0)) + 1


class Scale(NamedTuple):
    """What the words of targets count."""

    bits: int
    """How many a class has in a word; 0 of values and gradients."""
    weight: float
    """The unit of weights."""
    amount: float = 1.0
    curvature: float = 1.0
    shift: int = 0
    """How many bits the weight stands above the curvature of rows that have one."""
    mask: int = -1
    """Where the curvature is in that word."""


class PackedTargets(NamedTuple):
    """What each training row adds to the words of its node (words × n), and its value."""

    parts: Words
    output: Array
    scale: Scale


class Limits(NamedTuple):
    """How a node is split, and when it becomes a leaf."""

    criterion: int = SQUARES
    of_shares: bool = False
    features: int = NO_LIMIT
    """How many columns are drawn for a node."""
    max_depth: int = NO_LIMIT
    max_leaves: int = NO_LIMIT
    min_leaf: float = 0.0
    """The least weight of a leaf, and of a node that is split; in units where loops read it."""
    min_split: float = 0.0
    min_gain: float = 0.0
    """What a split must gain more than, by the weight of the node."""
    purity: float = 1.0
    """A node with this share of one class, or else with this part of the root's impurity gone, is a leaf."""
    by_ratio: bool = False
    """Where each level has a branch, whether gains are divided by the information in branches (C4.5)."""
    gated: bool = False
    """Whether only columns compete there that gain as much as the average one."""
    reuse: bool = True
    """Whether a node may ask for a column that a node above it has asked for."""
    l2: float = 0.0
    """How much the score of a leaf of gradients is pulled towards 0."""


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are; each with its words, and its levels that go left."""

    nodes: Nodes
    totals: Words
    goes_left: Bytes
    """Nodes × bins, where any group of levels may."""


class Cuts(NamedTuple):
    """Memory for the cuts of one column at one node."""

    along: Words
    """Words × cuts: what lies on the left of each."""
    bins: Rows
    """The last bin there."""
    filled: Bytes
    scores: Array
    """With missing cells on the right and on the left."""
    lost: Words
    """What missing cells add to the left: nothing, or their words; then all words on the left of the best cut."""


class Order(NamedTuple):
    """Memory for sorting."""

    keys: Rows
    """Two orders of the rows of a node or of levels, and all bins in order."""
    counts: Rows


class Workspace(NamedTuple):
    """Memory to grow one tree in."""

    rows: Ids
    """The training rows of the tree, grouped by node as it grows."""
    right: Ids
    goes: Bytes
    """Which rows go left."""
    parts: Words
    """What each row of the node at hand adds to its words."""
    drawn: Rows
    state: Rows
    """Of random numbers."""
    waiting: Rows
    order: Order
    cuts: Cuts


class KeptSums(NamedTuple):
    """Sums that are kept, of leaves × columns × words × bins, and bounds of scores."""

    sums: Words
    slots: Rows
    """Where the sums of each node lie."""
    bounds: Array
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""


SPLIT = np.dtype(
    [(name, np.float64) for name in ("gain", "information", "ratio")]
    + [(name, np.int32) for name in ("low", "high", "side")]
)
"""What a column has found: its gain, the information in its branches, and what a node is to note."""


class Branching(NamedTuple):
    """Room for what columns find that may have a branch for each level."""

    splits: Nodes
    """A ``SPLIT`` for each column."""
    sums: Words
    """Words × bins."""


@njit(cache=True, nogil=True, error_model="numpy")
def fill_edges(ascending: Array, weights: Array, distinct: Array, edges: Array) -> int:
    """Fill ``edges`` (2 × most bins) with the smallest and the largest value of each bin; how many bins there are.

    Each value has a bin of its own where there are enough of them. Else, by the rule of LightGBM (Ke et al. 2017),
    one with more than its share of the rows, or of their weights if there are any, does, and the others share the
    bins that are left, each taking its part of the rows still to come. Empty cells come last.
    """
    values, counts, bins, result, count, rows = distinct[0], distinct[1], edges.shape[1], 0, 0.0, 0.0
    for i in range(len(ascending)):
        if np.isnan(ascending[i]):
            break
        if i == 0 or ascending[i] != ascending[i - 1]:
            values[result], count = ascending[i], 0.0
            result += 1
        weight = weights[i] if len(weights) else 1.0
        count += weight
        counts[result - 1] = count
        rows += weight
    own = result <= bins
    free, light = bins, rows
    for value in range(result):
        if counts[value] * bins > rows:
            free -= 1
            light -= counts[value]
    share = light / (free if free > 1 else 1)
    made, filled, begins = 0, 0.0, True
    for value in range(result):
        large, next_large = counts[value] * bins > rows, value + 1 < result and counts[value + 1] * bins > rows
        if begins:
            edges[0, made] = values[value]
        filled += counts[value]
        light -= 0.0 if large else counts[value]
        begins = own or large or filled >= share or (next_large and 2 * filled >= share)
        begins = value + 1 == result or (begins and made < bins - 1)
        if begins:
            edges[1, made] = values[value]
            made, filled = made + 1, 0.0
            free -= 0 if large else 1
            share = light / (free if free > 1 else 1)
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def bins_of(column: Array, highest: Array, missing: int, bins: Bins) -> None:
    """Fill ``bins``: the bin of x is the number of those that end below it; that of NaN is ``missing``.

    The ``highest`` values are 255, ascending, infinite past the last: a search takes eight steps without a branch.
    """
    for row in range(len(column)):
        x = column[row]
        below = 0
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            below += step * (highest[below + step - 1] < x)
        bins[row] = missing if np.isnan(x) else below
