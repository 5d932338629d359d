"""Growing trees: columns are sorted into bins once, then compiled loops grow one tree after another on them.

1. ``bin_columns`` replaces each cell by the number of the bin that holds its value. A column with no more distinct
   values than bins has a bin for each, so nothing is lost; else bins hold about the same number of rows.
2. ``Targets`` turns what rows add to a node (class weights, or weighted values) into whole numbers. Their sums are
   the same in any order of the rows, and a child is exactly its parent less its sibling.
3. ``Grower.grow`` calls the loops of ``kernels/trees``. At each node they sum up the targets in each bin of the
   columns that may be asked, take the cut that gains most, and deal the rows to the two children.
4. ``Grower.to_trees`` turns what the loops leave into ``Trees``, with thresholds instead of bins.

A single tree, forests, boosting and isolation forests all grow this way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.trees.structure import LEAF, STOPS, Cells, Trees

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import (
        Binned,
        Bins,
        Bytes,
        Grown,
        Ids,
        KeptSums,
        Limits,
        Nodes,
        PackedTargets,
        Scale,
        Words,
        Workspace,
    )

MOST_BINS = 255
"""With the bin of missing cells, as many as a byte can number."""
CLASS_BITS = 63
"""The bits of a word for the weights of classes."""
AMOUNT_BITS = 61
"""The bits that the sum of amounts may take, without its sign."""

BINS_BY_TABLE: WeakKeyDictionary[Table, tuple[Array, Binned]] = WeakKeyDictionary()
"""The bins of tables that still exist, with the cells that they were made from."""


def bin_columns(
    cells: Cells, most: int | None = MOST_BINS, weights: Array | None = None, wide: bool = False, sample: int = 0
) -> Binned:
    """The bins of all cells, at most ``most`` for an ordered column; None: one for each value.

    ``wide`` bins take two bytes even if one would do, so that forests and single trees share compiled loops. A
    column with more values than bins in the first ``sample`` rows is binned by these rows alone.
    """
    from mlcli.kernels.trees.records import Binned, fill_edges

    columns, ordered = np.ascontiguousarray(cells.values.T), cells.ordered
    if weights is not None and (weights == weights[:1]).all():
        weights = None
    bins = min(most or len(cells), len(cells))
    edges, distinct = np.full((2, len(columns), max(bins, MOST_BINS) + 1), np.inf), np.empty((2, len(cells)))
    lowest, highest = edges
    known = np.where(ordered, 0, cells.levels - 1)
    sampled_values = np.sort(columns[:, : sample if weights is None else 0])
    sampled = ordered & ((sampled_values[:, :-1] < sampled_values[:, 1:]).sum(axis=1) >= bins)
    for j in np.flatnonzero(ordered):
        if sampled[j]:
            ascending, its_weights = sampled_values[j], np.empty(0)
        elif weights is None:
            ascending, its_weights = np.sort(columns[j]), np.empty(0)
        else:
            order = np.argsort(columns[j], kind="stable")
            ascending, its_weights = columns[j][order], weights[order]
        known[j] = fill_edges(ascending, its_weights, distinct, edges[:, j, :bins])
    last = sampled, known[sampled] - 1  # other rows lie between and beyond those of the sample
    lowest[sampled, 1:], highest[last] = highest[sampled, :-1], np.inf
    largest = max(int(known.max(initial=0)), 256 if wide else 0)
    assigned = _assign_bins(columns, highest, known, ordered, np.min_scalar_type(largest))
    if sampled.any():
        lowest[sampled, 0] = np.fmin.reduce(columns, axis=1)[sampled]
        highest[last] = np.fmax.reduce(columns, axis=1)[sampled]
    return Binned(assigned, known, ordered, *edges[:, :, : known[ordered].max(initial=0) + 1].copy())


def _assign_bins(columns: Array, highest: Array, known: Rows, ordered: Flags, dtype: np.dtype[Any]) -> Bins:
    """The bin of each cell, by the highest value of each bin."""
    from mlcli.kernels.trees.records import bins_of

    bins = np.empty(columns.shape, dtype)
    for j, column in enumerate(columns):
        if not ordered[j]:
            bins[j] = column
        elif known[j] <= MOST_BINS:
            bins_of(column, highest[j, :MOST_BINS], int(known[j]), bins[j])
        else:  # a bin for each value; NaN comes after everything
            order = np.argsort(column)
            ascending = column[order]
            bins[j, order[1:]] = (ascending[1:] != ascending[:-1]).cumsum()
            bins[j, order[0]], bins[j, np.isnan(column)] = 0, known[j]
    return bins


def bin_every_value(table: Table, cells: Cells) -> Binned:
    """A bin for each value of the cells of a table, computed once while the table exists.

    AdaBoost fits a tree to the same rows round after round, of which only the weights change.
    """
    kept = BINS_BY_TABLE.get(table)
    if kept is None or not (kept[0] is cells.values or np.array_equal(kept[0], cells.values, equal_nan=True)):
        kept = BINS_BY_TABLE[table] = cells.values, bin_columns(cells, most=None, wide=True)
    return kept[1]


def thresholds_between(
    columns: Binned, feature: Rows, low: Rows, high: Rows, drawn: Array | float = np.nan
) -> Array:
    """The thresholds between two bins of ordered columns: the drawn ones if they lie there, or midway.

    They are infinite where ``high`` is the bin of missing cells.
    """
    known = high < columns.known[feature]
    below, above = columns.highest[feature, low], columns.lowest[feature, np.where(known, high, low)]
    middle = below / 2 + above / 2
    middle = np.where(middle >= above, below, middle)  # the higher value must stay on the right
    return np.where(known, np.where((below <= drawn) & (drawn < above), drawn, middle), np.inf)


@dataclass(frozen=True, eq=False)
class Targets:
    """A row of class k adds its weight to the k-th sum; a row of value y adds weight × y to the only one."""

    slot: Rows
    output: Array
    slots: int

    @staticmethod
    def of(outputs: Array) -> Targets:
        """From the outputs of rows (n × K), of which at most one per row is not 0."""
        slot = np.abs(outputs).argmax(axis=1)
        return Targets(slot, outputs[np.arange(len(outputs)), slot], outputs.shape[1])

    def packed(self, counts: Words, unit: float) -> PackedTargets:
        """As words, given the weights of rows in units; a single slot holds values, more of them classes."""
        from mlcli.kernels.trees.records import PackedTargets, Scale

        if self.slots == 1:
            centred = self.output - (counts @ self.output) / counts.sum()
            amount_unit = 2.0 ** (bit_length(counts @ np.abs(centred)) - AMOUNT_BITS)
            parts = np.array([np.rint(counts * centred / amount_unit), counts]).astype(np.int64)
            return PackedTargets(parts, self.output, Scale(0, unit, amount_unit))
        bits = int(counts.sum()).bit_length()
        classes = CLASS_BITS // bits
        parts = np.zeros((-(-self.slots // classes), len(self.slot)), np.int64)
        parts[self.slot // classes, np.arange(len(self.slot))] = counts << (bits * (self.slot % classes))
        return PackedTargets(parts, self.output, Scale(bits, unit))


def in_units(weight: Array) -> tuple[Words, float]:
    """Weights as whole numbers of a unit: the smallest if all are multiples of it, else 2^-52 of their sum."""
    most_units = 2**52
    unit = float(weight[weight > 0].min())
    multiples = weight / unit
    if (multiples != np.rint(multiples)).any() or multiples.sum() > most_units:
        unit = float(weight.sum()) / most_units
    return np.maximum(np.rint(weight / unit), weight > 0).astype(np.int64), unit


def bit_length(total: float) -> int:
    """The bits of the largest whole number up to a total; negative for fractions."""
    return math.frexp(total)[1]


@dataclass(frozen=True, eq=False)
class Grower:
    """Binned rows on which trees grow, and how they grow."""

    binned: Binned
    limits: Limits
    outputs: int = 1
    """The number of classes, or 1 for values and gradients."""
    each_level: bool = False
    """Whether every level of a nominal column has a branch; else one level, or a group, is split from the rest."""
    random_cuts: bool = False
    level_bins: tuple[Rows, ...] = ()
    """The bin of each level of every column, if a node may split off any group of levels."""

    def grow(
        self,
        targets: PackedTargets,
        rows: Rows,
        columns: Rows | None = None,
        seed: int = 1,
        kept: KeptSums | None = None,
    ) -> tuple[Grown, Ids]:
        """The nodes of a tree on some rows and columns, and the rows grouped by node."""
        from mlcli.kernels.trees.growing import grow
        from mlcli.kernels.trees.records import NODE, SPLIT, Branching, Grown

        columns, words = np.arange(len(self.binned.known)) if columns is None else columns, len(targets.parts)
        count = 2 * min(len(rows), self.limits.max_leaves)
        goes_left = np.empty((count, self.binned.width if self.level_bins else 0), np.uint8)
        grown = Grown(np.empty(count, NODE), np.empty((count, words), np.int64), goes_left)
        space = workspace(self.binned, rows, words, columns, seed)
        room = np.empty(len(rows), self.binned.bins.dtype) if self.random_cuts else None
        sums = np.empty(space.cuts.along.shape, np.int64)
        branching = Branching(np.empty(len(columns), SPLIT), sums) if self.each_level else None
        searched = sums if room is None and kept is None and branching is None else None
        # The loops count weights in units; a sum that is a rounding error short of a limit reaches it.
        nearly, unit = 1 - 1e-9, targets.scale.weight
        least = float(min(max(math.ceil(self.limits.min_leaf * nearly / unit), 1), 2**62))
        limits = self.limits._replace(min_leaf=least, min_split=self.limits.min_split * nearly / unit)
        node_count = grow(self.binned, targets, limits, grown, space, searched, room, kept, branching)
        for array in grown:
            array.resize((node_count, *array.shape[1:]), refcheck=False)
        return grown, space.rows

    def thresholds(self, nodes: Nodes) -> Array:
        """The thresholds of nodes that split ordered columns, NaN for others, by the bins of this grower."""
        result = np.full(len(nodes), np.nan)
        inner = np.flatnonzero(nodes["feature"] != LEAF)
        ordered = inner[self.binned.ordered[nodes["feature"][inner]]]
        feature, low, high, cut = (nodes[name][ordered] for name in ("feature", "low", "high", "cut"))
        result[ordered] = thresholds_between(self.binned, feature, low, high, cut)
        return result

    def to_trees(self, each: Sequence[Grown], scale: Scale, thresholds: Sequence[Array] | None = None) -> Trees:
        """Grown trees, all of targets of this scale, as one; ``thresholds`` of those grown on other bins.

        One call for many trees is quicker than one for each.
        """
        from mlcli.kernels.trees.records import NONE_MISSING

        counts = [len(grown.nodes) for grown in each]
        nodes, roots = np.concatenate([grown.nodes for grown in each]), np.cumsum([0, *counts[:-1]])
        feature = nodes["feature"].copy()
        left = np.where(feature == LEAF, LEAF, nodes["left"] + np.repeat(roots, counts)).astype(np.int32)
        missing, offset = np.full((2, len(feature)), STOPS, np.int32)
        threshold = self.thresholds(nodes) if thresholds is None else np.concatenate(thresholds)
        inner, child_of = np.flatnonzero(feature != LEAF), np.empty(0, np.int32)
        by_threshold = self.binned.ordered[feature[inner]]
        ordered, nominal = inner[by_threshold], inner[~by_threshold]
        sided = ordered[nodes["side"][ordered] != NONE_MISSING]
        missing[sided] = left[sided] + (nodes["side"][sided] != 1)
        if self.each_level:
            offset[nominal], child_of = self._map_each_level(nodes, left[nominal], nominal)
        elif self.level_bins:
            goes_left = np.concatenate([grown.goes_left for grown in each])
            offset[nominal], child_of = self._map_level_groups(nodes, goes_left, left[nominal], nominal)
        else:
            threshold[nominal] = nodes["low"][nominal]
        if scale.bits:
            value = self._class_shares(np.concatenate([grown.totals for grown in each]), nodes["weight"], scale)
        else:
            value = nodes["value"].copy()[:, None]
        gain_unit = 0.5 if scale.shift else scale.weight  # half of what gradients note is what the loss falls by
        gain = np.where(feature == LEAF, 0.0, nodes["gain"] * gain_unit)
        links = (roots.astype(np.int32), feature, threshold, left, missing, offset, child_of)
        return Trees(*links, value, nodes["weight"] * scale.weight, nodes["impurity"].copy(), gain)

    def _class_shares(self, totals: Words, weight: Array, scale: Scale) -> Array:
        """The class shares (nodes × K) in the words of nodes."""
        in_word, mask = CLASS_BITS // scale.bits, (1 << scale.bits) - 1
        shares = np.empty((len(totals), self.outputs))
        for k in range(self.outputs):
            shares[:, k] = (totals[:, k // in_word] >> (scale.bits * (k % in_word)) & mask) / weight
        return shares

    def _map_each_level(self, nodes: Nodes, left: Codes, nominal: Rows) -> tuple[Rows, Codes]:
        """The offsets and children of levels if each has its own branch; rows of other levels stop."""
        lengths, branches = self.binned.known[nodes["feature"][nominal]] + 1, nodes["high"][nominal]
        starts, ends = np.cumsum(lengths) - lengths, np.cumsum(branches)
        children = np.repeat(left - ends + branches, branches) + np.arange(branches.sum())
        child_of = np.full(lengths.sum(), STOPS, np.int32)
        child_of[np.repeat(starts, branches) + nodes["level"][children]] = children
        return starts, child_of

    def _map_level_groups(self, nodes: Nodes, goes_left: Bytes, left: Codes, nominal: Rows) -> tuple[Rows, Codes]:
        """The offsets and children of levels if a group goes left; levels without rows go where most rows go."""
        bins = [self.level_bins[column] for column in nodes["feature"][nominal]]
        lengths = np.array([len(level_bins) for level_bins in bins], np.intp)
        sides, most = goes_left[nominal], nodes["weight"][left] >= nodes["weight"][left + 1]
        sides = np.where(sides > 1, most[:, None], sides).astype(np.int32)
        by_level = [node_sides[level_bins] for node_sides, level_bins in zip(sides, bins, strict=True)]
        joined = np.concatenate([np.empty(0, np.int32), *by_level])
        return np.cumsum(lengths) - lengths, np.repeat(left + 1, lengths) - joined


def workspace(binned: Binned, rows: Rows, words: int, columns: Rows, seed: int = 1) -> Workspace:
    """Memory for growing one tree of some rows and columns, with sums of so many words."""
    from mlcli.kernels.trees.records import FEW, PLACE_BITS, Cuts, Order, Workspace

    count, width = len(rows), max(binned.width, FEW)  # with more rows than bins, no rows are sorted
    keys = np.empty((3, width), np.int64)
    keys[2] = np.arange(width) << PLACE_BITS | np.arange(width)
    cuts = Cuts(
        along=np.empty((words, width), np.int64),
        bins=np.empty(width, np.intp),
        filled=np.empty(width, np.uint8),
        scores=np.empty((2, width)),
        lost=np.zeros((3, words), np.int64),
    )
    return Workspace(
        rows=rows.astype(np.uint32),
        right=np.empty(count, np.uint32),
        goes=np.empty(count, np.uint8),
        parts=np.empty((words, count), np.int64),
        drawn=columns,
        state=np.array([seed]),
        waiting=np.empty(count + 1, np.intp),
        order=Order(keys, np.empty(257, np.intp)),
        cuts=cuts,
    )
