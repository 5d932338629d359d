"""Growing trees by compiled loops on the same binned rows, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.limits import memory, refuse_size
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.trees.binning import between
from mlcli.engines.trees.structure import LEAF, STOPS, Trees
from mlcli.engines.trees.targets import class_shares

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Binned, Grown, Ids, KeptSums, Limits, PackedTargets, Scale, Workspace

NEARLY = 1 - 1e-9
MOST_WEIGHT = 2**62
TIMES_HELD = 3
"""How often the nodes of a tree are held, while trees are put together."""


@dataclass(frozen=True, eq=False)
class Grower:
    """Binned rows, on which one tree grows after another, and how."""

    binned: Binned
    limits: Limits
    outputs: int = 1
    """The classes, or 1 of values and gradients."""
    each_level: bool = False
    """Whether every level of a nominal column has a branch; else one is split from the rest, or a group."""
    random_cuts: bool = False
    level_bins: tuple[Rows, ...] = ()
    """The bin of each level of every column, where a node may ask for any group of levels."""

    def grown(
        self,
        targets: PackedTargets,
        rows: Rows,
        drawn: Rows | None = None,
        seed: int = 1,
        kept: KeptSums | None = None,
    ) -> tuple[Grown, Ids]:
        """A tree of some rows that asks for some columns, as the loops leave it, and the rows grouped by node.

        ``trees`` takes less time for many than for one after another.
        """
        from mlcli.kernels.trees.growing import grow
        from mlcli.kernels.trees.records import SPLIT, Branching

        drawn, words = np.arange(len(self.binned.known)) if drawn is None else drawn, len(targets.parts)
        space, grown = workspace(self.binned, rows, words, drawn, seed), self._nodes(len(rows), words)
        room = np.empty(len(rows), self.binned.bins.dtype) if self.random_cuts else None
        sums = np.empty(space.cuts.along.shape, np.int64)
        branching = Branching(np.empty(len(drawn), SPLIT), sums) if self.each_level else None
        searched = sums if room is None and kept is None and branching is None else None
        limits = limits_in_units(self.limits, targets.scale.weight)
        made = grow(self.binned, targets, limits, grown, space, searched, room, kept, branching)
        for array in grown:
            array.resize((made, *array.shape[1:]), refcheck=False)
        return grown, space.rows

    def _nodes(self, rows: int, words: int) -> Grown:
        """Memory for the largest tree."""
        from mlcli.kernels.trees.records import NODE, Grown

        count = 2 * min(rows, self.limits.max_leaves)
        goes_left = np.empty((count, self.binned.width if self.level_bins else 0), np.uint8)
        return Grown(np.empty(count, NODE), np.empty((count, words), np.int64), goes_left)

    def thresholds(self, nodes: Any) -> Array:
        """Where nodes, or arrays of their fields, cut ordered columns, by these bins."""
        result = np.full(len(nodes["feature"]), np.nan)
        inner = np.flatnonzero(nodes["feature"] != LEAF)
        ordered = inner[self.binned.ordered[nodes["feature"][inner]]]
        asked = (nodes[name][ordered] for name in ("feature", "low", "high", "cut"))
        result[ordered] = between(self.binned, *asked)
        return result

    def trees(self, each: Sequence[Grown], scale: Scale, thresholds: Sequence[Array] | None = None) -> Trees:
        """Trees as the loops left them, all of targets of this scale; ``thresholds`` of those of other bins."""
        from mlcli.kernels.trees.records import NODE, NONE_MISSING

        counts, names = [len(one.nodes) for one in each], NODE.names or ()
        nodes = {name: np.concatenate([one.nodes[name] for one in each]) for name in names}
        feature, roots = nodes["feature"], np.cumsum([0, *counts[:-1]])
        left = np.where(feature == LEAF, LEAF, nodes["left"] + np.repeat(roots, counts)).astype(np.int32)
        missing, offset = np.full((2, len(feature)), STOPS, np.int32)
        threshold = self.thresholds(nodes) if thresholds is None else np.concatenate(thresholds)
        inner, child_of = np.flatnonzero(feature != LEAF), np.empty(0, np.int32)
        by_threshold = self.binned.ordered[feature[inner]]
        ordered, nominal = inner[by_threshold], inner[~by_threshold]
        sided = ordered[nodes["side"][ordered] != NONE_MISSING]
        missing[sided] = left[sided] + (nodes["side"][sided] != 1)
        if self.each_level:
            offset[nominal], child_of = self._branches_of_levels(nodes, left[nominal], nominal)
        elif self.level_bins:
            goes_left = np.concatenate([one.goes_left for one in each])
            offset[nominal], child_of = self._sides_of_levels(nodes, goes_left, left[nominal], nominal)
        else:
            threshold[nominal] = nodes["low"][nominal]
        value = nodes["value"][:, None]
        if scale.bits:
            totals = np.concatenate([one.totals for one in each])
            value = class_shares(totals, nodes["weight"], scale, self.outputs)
        unit = 0.5 if scale.shift else scale.weight  # of losses as quadratics, their half is gained
        gain = np.where(feature == LEAF, 0.0, nodes["gain"] * unit)
        links = (roots.astype(np.int32), feature, threshold, left, missing, offset, child_of)
        return Trees(*links, value, nodes["weight"] * scale.weight, nodes["impurity"], gain)

    def _branches_of_levels(self, nodes: Any, left: Codes, asking: Rows) -> tuple[Rows, Codes]:
        """Where the children of levels begin, where each level has its own; rows of others stop."""
        lengths, branches = self.binned.known[nodes["feature"][asking]] + 1, nodes["high"][asking]
        starts, ends = np.cumsum(lengths) - lengths, np.cumsum(branches)
        children = np.repeat(left - ends + branches, branches) + np.arange(branches.sum())
        child_of = np.full(lengths.sum(), STOPS, np.int32)
        child_of[np.repeat(starts, branches) + nodes["level"][children]] = children
        return starts, child_of

    def _sides_of_levels(self, nodes: Any, goes_left: Array, left: Codes, asking: Rows) -> tuple[Rows, Codes]:
        """Where the children of levels begin, where nodes ask for groups; levels without rows go with most."""
        bins = [self.level_bins[column] for column in nodes["feature"][asking]]
        lengths = np.array([len(own) for own in bins], np.intp)
        goes, most = goes_left[asking], nodes["weight"][left] >= nodes["weight"][left + 1]
        goes = np.where(goes > 1, most[:, None], goes).astype(np.int32)
        sides = [own[places] for own, places in zip(goes, bins, strict=True)]
        none = np.empty(0, np.int32)
        return np.cumsum(lengths) - lengths, np.repeat(left + 1, lengths) - np.concatenate([none, *sides])


def refuse_beyond_memory(grown: Grown, trees: int) -> None:
    """Refuse so many trees like one where memory would not hold them."""
    of_one, there = TIMES_HELD * sum(array.nbytes for array in grown), memory()
    needed, leaves = trees * of_one, there * len(grown.nodes) // (4 * trees * of_one)  # in half of it
    hint = f"max_leaves {max(2, leaves):,} would do; a larger min_leaf and fewer trees take less, too"
    refuse_size(f"{trees} trees of {len(grown.nodes):,} nodes need about {{}} of memory", needed, hint)


def limits_in_units(limits: Limits, unit: float) -> Limits:
    """The same as loops read them, which count weights in units; sums reach a limit when they come near."""
    least = min(max(math.ceil(limits.min_leaf * NEARLY / unit), 1), MOST_WEIGHT)
    return limits._replace(min_leaf=float(least), min_split=limits.min_split * NEARLY / unit)


def workspace(binned: Binned, rows: Rows, words: int, drawn: Rows, seed: int = 1) -> Workspace:
    """Memory to grow one tree in, of some rows and columns with sums of so many words."""
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
        drawn=drawn,
        state=np.array([seed]),
        waiting=np.empty(count + 1, np.intp),
        order=Order(keys, np.empty(257, np.intp)),
        cuts=cuts,
    )
