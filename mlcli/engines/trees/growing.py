"""Growing trees by compiled loops on the same binned rows, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.quantities import size
from mlcli.core.rooms import VARIABLE, memory
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.trees.binning import Binned
from mlcli.engines.trees.criteria import ALGORITHMS, NEARLY, Algorithm, Criterion, Limits
from mlcli.engines.trees.structure import LEAF, STOPS, Trees
from mlcli.engines.trees.targets import Ids, Packed, Targets

if TYPE_CHECKING:
    from mlcli.kernels.trees import nodes as loops

COPIES = 3
"""How often the nodes of a tree are held, while trees are put together."""
MOST_WEIGHT = 2**62


@dataclass(frozen=True, eq=False)
class Grower:
    """Binned rows with their targets, on which one tree grows after another."""

    binned: Binned
    targets: Targets
    criterion: Criterion
    limits: Limits
    l2: float = 0.0
    algorithm: Algorithm = ALGORITHMS["cart"]
    gated: bool = False
    """Whether only columns compete that gain as much as the average one."""
    level_bins: tuple[Rows, ...] = ()
    """The bin of each level of every column, where a node may ask for any group of levels."""

    def grow(self, share: Packed, seed: int = 1) -> Trees:
        """The tree of the rows that have a weight in ``share``; a number that training never missed stops."""
        return self.trees([self.grown(share, seed)], share)

    def grown(self, share: Packed, seed: int) -> loops.Grown:
        """The same as the loops leave it; ``trees`` takes less time for many than for one after another."""
        return self.grown_on(share.inside, share, np.arange(len(self.binned.known)), seed)

    def grown_on(self, rows: Ids, share: Packed, drawn: Rows, seed: int = 1, pool: Any = None) -> loops.Grown:
        """A tree of some rows, which it groups by node, that asks for some columns."""
        from mlcli.kernels.trees import nodes
        from mlcli.kernels.trees.random_splits import Chance
        from mlcli.kernels.trees.sums import Columns, Targets

        binned, count, words = self.binned, len(rows), len(share.parts)
        columns = Columns(binned.bins, binned.known, binned.ordered, binned.lowest, binned.highest)
        right, goes, codes = (np.empty(count, kind) for kind in (np.uint32, np.uint8, binned.bins.dtype))
        parts, waiting, room = (
            np.empty((words, count), np.int64),
            np.empty(count + 1, np.intp),
            room_for(binned, words),
        )
        space = nodes.Space(rows, right, goes, parts, drawn, np.array([seed]), waiting, room)
        chance = Chance(codes, goes, np.array([np.nan])) if self.limits.random_cuts else None
        limits, grown = self._limits(share, pool), self._nodes(count, words)
        targets = Targets(share.parts, share.bits, self.targets.output)
        made = nodes.grow(columns, targets, limits, grown, space, chance, pool, self._branching(len(drawn)))
        kept: list[Any] = [array[:made].copy() for array in grown]
        one = nodes.Grown(*kept)
        one.wish[:] = self._thresholds(one)
        return one

    def _thresholds(self, grown: loops.Grown) -> Array:
        """Where nodes cut ordered columns, by these bins: the trees of one forest may be of others."""
        from mlcli.kernels.trees.nodes import FEATURE, HIGH, LOW

        found = np.full(len(grown.nodes), np.nan)
        inner = np.flatnonzero(grown.nodes[:, FEATURE] != LEAF)
        ordered = inner[self.binned.ordered[grown.nodes[inner, FEATURE]]]
        asked, low, high = grown.nodes[ordered][:, [FEATURE, LOW, HIGH]].T
        found[ordered] = self.binned.between(asked, low, high, grown.wish[ordered])
        return found

    def _limits(self, share: Packed, pool: Any) -> loops.Limits:
        """When a node becomes a leaf, as compiled loops read it, which count weights in units."""
        from mlcli.kernels.trees.nodes import NO_LIMIT, Limits
        from mlcli.kernels.trees.splits import Scale

        limits, mask = self.limits, (1 << share.shift) - 1 if share.shift else -1
        least = limits.least if pool is None else limits.min_leaf * NEARLY
        return Limits(
            features=limits.features or len(self.binned.known),
            criterion=self.criterion.code,
            least=min(max(math.ceil(least / share.unit), 1), MOST_WEIGHT),
            fewest=limits.fewest / share.unit,
            max_depth=limits.max_depth or NO_LIMIT,
            max_leaves=limits.max_leaves or NO_LIMIT,
            min_gain=float(limits.min_gain),
            of_shares=self.criterion.of_shares,
            purity=float(limits.purity),
            scale=Scale(share.amount, share.curvature, mask, share.shift, float(self.l2)),
        )

    def _branching(self, columns: int) -> loops.Branching | None:
        """How columns compete that may have a branch for each level, if they may."""
        from mlcli.kernels.trees.nodes import Branching

        gains, information, ratios = np.empty((3, columns))
        found, counts = np.empty((columns, 3), np.intp), np.empty(self.binned.width, np.intp)
        way = Branching(self.algorithm.by_ratio, self.gated, gains, information, ratios, found, counts)
        return way if self.algorithm.each_level else None

    def _nodes(self, rows: int, words: int) -> loops.Grown:
        """Memory for the largest tree."""
        from mlcli.kernels.trees.nodes import LEVEL, Grown

        count = 2 * min(rows, self.limits.max_leaves or rows)
        nodes, totals = np.empty((count, LEVEL + 1), np.int32), np.empty((count, words), np.int64)
        sets = np.empty((count, self.binned.width if self.level_bins else 0), np.uint8)
        wish, gain, weight, impurity, value = np.empty((5, count))
        return Grown(nodes, wish, gain, weight, impurity, value, totals, sets)

    def trees(self, grown: Sequence[loops.Grown], share: Packed) -> Trees:
        """Trees as the loops left them, all of shares like this one."""
        from mlcli.kernels.trees.nodes import FEATURE, HIGH, LEFT, LEVEL, LOW, NONE_MISSING, SIDE

        counts, columns = [len(one.nodes) for one in grown], self.binned
        whole = type(grown[0])(*map(np.concatenate, zip(*grown, strict=True)))
        roots, nodes, feature = np.cumsum([0, *counts[:-1]]), whole.nodes, whole.nodes[:, FEATURE].copy()
        left = np.where(feature == LEAF, LEAF, nodes[:, LEFT] + np.repeat(roots, counts)).astype(np.int32)
        missing, offset = np.full((2, len(nodes)), STOPS, np.int32)
        threshold, child_of = whole.wish, np.empty(0, np.int32)
        inner = np.flatnonzero(feature != LEAF)
        by_threshold = columns.ordered[feature[inner]]
        ordered, nominal = inner[by_threshold], inner[~by_threshold]
        sided = ordered[nodes[ordered, SIDE] != NONE_MISSING]
        missing[sided] = left[sided] + (nodes[sided, SIDE] != 1)
        if self.algorithm.each_level:
            lengths, branches = columns.known[feature[nominal]] + 1, nodes[nominal, HIGH]
            offset[nominal] = np.cumsum(lengths) - lengths
            children = np.repeat(left[nominal] - np.cumsum(branches) + branches, branches) + np.arange(
                branches.sum()
            )
            child_of = np.full(lengths.sum(), STOPS, np.int32)
            child_of[np.repeat(offset[nominal], branches) + nodes[children, LEVEL]] = children
        elif self.level_bins:
            offset[nominal], child_of = self._children_of_levels(whole, feature[nominal], left[nominal], nominal)
        else:
            threshold[nominal] = nodes[nominal, LOW]
        slots, of_classes = self.targets.slots, share.bits > 0
        value = share.shares(whole.totals, whole.weight, slots) if of_classes else whole.value[:, None]
        gain = np.where(feature == LEAF, 0.0, whole.gain * share.gain_unit)
        links = (roots.astype(np.int32), feature, threshold, left, missing, offset, child_of)
        return Trees(*links, value, whole.weight * share.unit, whole.impurity, gain)

    def _children_of_levels(
        self, whole: loops.Grown, columns: Codes, left: Codes, nodes: Rows
    ) -> tuple[Rows, Codes]:
        """Where the children of levels begin, where nodes ask for groups; levels without rows go with most."""
        lengths = np.array([len(self.level_bins[column]) for column in columns], np.intp)
        goes = whole.sets[nodes]
        most = whole.weight[left] >= whole.weight[left + 1]
        goes = np.where(goes > 1, most[:, None], goes).astype(np.int32)
        sides = [own[self.level_bins[column]] for own, column in zip(goes, columns, strict=True)]
        none = np.empty(0, np.int32)
        return np.cumsum(lengths) - lengths, np.repeat(left + 1, lengths) - np.concatenate([none, *sides])


def refuse_beyond_memory(one: loops.Grown, trees: int) -> None:
    """Refuse so many trees like one where memory would not hold them."""
    of_one, there = COPIES * sum(array.nbytes for array in one), memory()
    needed, leaves = trees * of_one, there * len(one.nodes) // (4 * trees * of_one)  # in half of it
    if needed > there:
        what = f"{trees} trees of {len(one.nodes):,} nodes need about {size(needed)} of memory"
        hint = f"max_leaves {max(2, leaves):,} would do; a larger min_leaf and fewer trees take less, too"
        raise FitError(f"{what}; there are {size(there)} ({VARIABLE} may say otherwise)", hint=hint)


def room_for(binned: Binned, words: int) -> Any:
    """Memory to search one column in, with sums of so many words."""
    from mlcli.kernels.trees.sums import FEW, PLACE_BITS, Room

    width = max(binned.width, FEW)  # with more rows than bins, no rows are sorted
    return Room(
        sums=np.empty((words, width), np.int64),
        along=np.empty((words, width), np.int64),
        bins=np.empty(width, np.intp),
        filled=np.empty(width, np.uint8),
        scores=np.empty((2, width)),
        lost=np.zeros((2, words), np.int64),
        every=np.arange(width) << PLACE_BITS | np.arange(width),
        keys=np.full((3, FEW), np.iinfo(np.int32).max, np.int32),
        places=np.empty((2, width), np.int64),
        left=np.empty(words, np.int64),
        counts=np.empty(257, np.intp),
    )
