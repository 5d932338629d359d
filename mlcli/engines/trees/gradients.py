"""Growing trees one after another on gradients of the same rows; the room that this takes is used again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.engines.trees import growing
from mlcli.engines.trees.binning import Binned, Bins, binned, with_rare_levels_joined
from mlcli.engines.trees.criteria import CRITERIA
from mlcli.engines.trees.growing import NEARLY
from mlcli.engines.trees.structure import LEAF, STOPS, Trees, trees_of
from mlcli.engines.trees.targets import Ids

GROWTH = {"leaf-wise": 1, "depth-wise": 2}
"""Which leaf is split next, as compiled loops number it: the one that gains most, or that among the least deep."""
WORD = 62
"""How many bits a sum may take."""
WEIGHT_BITS = 30
"""How many of them weights take at most."""


@dataclass(frozen=True)
class Limits:
    """How far a tree grows, and how much a leaf is pulled towards 0."""

    max_leaves: int
    max_depth: int | None
    min_leaf: int
    l2: float
    growth: str


@dataclass(frozen=True, eq=False)
class Grown:
    """One tree, and the training rows that its leaves hold."""

    tree: Trees
    leaves: Rows
    rows: Ids
    spans: Rows
    """Per leaf where its rows begin and end in ``rows``."""

    @property
    def asks(self) -> bool:
        """Whether it asks anything."""
        return len(self.leaves) > 1

    def refitted(self, score_of: Callable[[Ids], float]) -> Grown:
        """The same tree, whose leaves answer with a function of their rows."""
        value = self.tree.value.copy()
        value[self.leaves, 0] = [score_of(self.rows[begin:end]) for begin, end in self.spans]
        return replace(self, tree=replace(self.tree, value=value))

    def shrunk(self, share: float) -> Grown:
        """The same tree, whose leaves say less."""
        return replace(self, tree=replace(self.tree, value=self.tree.value * share))

    def add_to(self, scores: Array) -> None:
        """Add what the tree says of the training rows."""
        order = np.argsort(self.spans[:, 0])
        lengths = (self.spans[:, 1] - self.spans[:, 0])[order]
        scores[self.rows] += np.repeat(self.tree.value[self.leaves[order], 0], lengths)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns as the kernel walks them."""

    blocks: Bins
    bins: Bins
    most: Rows
    """How many bins each column of the blocks may have, that of missing cells included."""
    known: Rows
    kinds: Rows
    directions: Rows


@dataclass(frozen=True, eq=False)
class GradientGrower:
    """Training rows in bins, and what stays the same while trees grow on them."""

    binned: Binned
    levels: Rows
    level_bins: tuple[Rows, ...]
    """The bin of each level of every nominal column; the rarest of many share one."""
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""
    weights: Array
    limits: Limits

    @staticmethod
    def of(
        cells: Array, levels: Rows, most: int, directions: Rows, weights: Array, limits: Limits
    ) -> GradientGrower:
        """From cells (n × F), the columns that have an order in at most so many bins."""
        joined, counts, level_bins = with_rare_levels_joined(cells, levels, weights)
        rows = binned(joined, levels == 0, counts, most)
        rows = replace(rows, bins=rows.bins.astype(np.uint8))
        return GradientGrower(rows, levels, level_bins, directions, weights, limits)

    @property
    def bins(self) -> Bins:
        """F × n."""
        return self.binned.bins

    def grow(self, gradient: Array, hessian: Array, chosen: Rows | None) -> Grown:
        """One tree, that asks for some of the columns or, by None, for any."""
        from mlcli.kernels.trees import growing as loops

        columns = self._all if chosen is None else self._of(chosen)
        units = self._fix_points(gradient, hessian)
        slopes = self._room._replace(
            blocks=columns.blocks,
            columns=columns.bins,
            bins=columns.most,
            known=columns.known,
            kinds=columns.kinds,
            directions=columns.directions,
            units=units,
        )
        rows, limits = np.arange(self.bins.shape[1], dtype=np.uint32), self._compiled_limits
        grown = self._nodes
        nothing: Any = None
        space = loops.Space(rows, self._right, nothing, nothing, nothing, self._waiting, nothing)
        count = loops.grow(None, None, 1.0, limits, grown, space, None, None, slopes)
        return self._grown(grown, slopes, rows, count, chosen)

    def _grown(self, grown: Any, slopes: Any, rows: Ids, count: int, chosen: Rows | None) -> Grown:
        from mlcli.kernels.trees.growing import BEGIN, END, FEATURE, LEFT, LOW

        nodes = grown.nodes[:count]
        inner = nodes[:, FEATURE] != LEAF
        asks, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
        column = nodes[asks, FEATURE] if chosen is None else chosen[nodes[asks, FEATURE]]
        arrays = trees_of(count, 1) | {
            "left": np.where(inner, nodes[:, LEFT], LEAF).astype(np.int32),
            "value": np.where(inner, 0.0, slopes.scores[:count])[:, None],
            "weight": np.ldexp((slopes.totals[:count, 1] >> self._shift).astype(np.float64), -self._weight_places),
            "impurity": np.empty(0),
        }
        arrays["feature"][asks], arrays["gain"][asks] = column, grown.gain[asks] / 2
        self._ask(arrays, asks, column, nodes[asks, LOW], slopes.sets[asks])
        return Grown(Trees(**arrays), leaves, rows, nodes[leaves][:, [BEGIN, END]])

    def _ask(self, arrays: dict[str, Any], asks: Rows, column: Rows, cut: Rows, sets: Any) -> None:
        """Thresholds and sides of missing cells, or the child of every level."""
        left = arrays["left"][asks]
        known, ordered = self.binned.known[column], self.binned.ordered[column]
        arrays["threshold"][asks[ordered]] = self.binned.between(column[ordered], cut[ordered], cut[ordered] + 1)
        lost = sets[np.arange(len(asks)), known >> 3] >> (known & 7) & 1
        arrays["missing"][asks] = np.where(ordered, left + 1 - lost, STOPS)
        child_of = [np.empty(0, np.int32)]
        for place in np.flatnonzero(~ordered):
            arrays["offset"][asks[place]] = sum(len(one) for one in child_of)
            bins = self.level_bins[column[place]]
            child_of.append(left[place] + 1 - (sets[place, bins >> 3] >> (bins & 7) & 1).astype(np.int32))
        arrays["child_of"] = np.concatenate(child_of)

    def _fix_points(self, gradient: Array, hessian: Array) -> Array:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit; the units, and l2."""
        from mlcli.kernels.trees.gradient_sums import fix_points

        places = WORD - 1 - bits_of(np.abs(gradient).sum()), self._shift - 1 - bits_of(hessian.sum())
        scales = 2.0 ** np.array([*places, self._weight_places])
        fix_points(gradient, hessian, self.weights, scales, self._shift, self._room.fixed)
        return np.array([1 / scales[0], 1 / scales[1], self.limits.l2])

    @cached_property
    def _weight_places(self) -> int:
        """How many binary places of weights are kept: none of whole ones."""
        spare = WEIGHT_BITS - bits_of(self.weights.sum())
        return min(spare, 0) if (self.weights == np.rint(self.weights)).all() else spare

    @cached_property
    def _shift(self) -> int:
        """How many bits are left for hessians beside the weights."""
        return WORD - 1 - bits_of(self.weights.sum() * 2.0**self._weight_places + len(self.weights))

    @cached_property
    def _least(self) -> int:
        """The least weight of a leaf, in the places that are kept."""
        least = math.ceil(self.limits.min_leaf * NEARLY * 2.0**self._weight_places)
        return min(least, 1 << WEIGHT_BITS)  # more than all rows together weigh

    @cached_property
    def _compiled_limits(self) -> Any:
        limits = self.limits
        shape = growing.Limits(max_depth=limits.max_depth, max_leaves=limits.max_leaves)
        return shape.compiled(CRITERIA["squared-error"], 1, 1.0)._replace(order=GROWTH[limits.growth])

    @cached_property
    def _room(self) -> Any:
        """Arrays that growing fills anew for each tree."""
        from mlcli.kernels.trees.gradient_nodes import Slopes
        from mlcli.kernels.trees.gradient_sums import BINS, BLOCK, PER_COLUMN

        columns, rows, leaves = self._all, self.bins.shape[1], self.limits.max_leaves
        nodes, sums = 2 * leaves - 1, columns.blocks.shape[0] * BLOCK * PER_COLUMN
        return Slopes(
            *(columns.blocks, columns.bins, columns.most, columns.known, columns.kinds, columns.directions),
            fixed=np.empty((rows, 2), np.int64),
            units=np.empty(3),
            whole=np.array([self._least, self._shift, int(self.directions.any())]),
            pool=np.empty((leaves, sums), np.int64),
            slots=np.zeros(nodes, np.intp),
            beside=np.empty((rows, 2), np.int64),
            of_bins=np.empty((4, BINS), np.int64),
            ordered=np.empty(2 * BINS, np.int64),
            found=np.empty(BINS),
            bounds=np.empty((nodes, 2)),
            sets=np.zeros((nodes, 32), np.uint8),
            totals=np.empty((nodes, 2), np.int64),
            scores=np.empty(nodes),
        )

    @cached_property
    def _nodes(self) -> Any:
        from mlcli.kernels.trees.growing import DEPTH, Grown

        count = 2 * self.limits.max_leaves - 1
        nodes, nothing = np.empty((count, DEPTH + 1), np.int32), cast("Any", None)
        return Grown(nodes, nothing, np.empty(count), nothing, nothing, nothing, nothing)

    @cached_property
    def _right(self) -> Ids:
        return np.empty(self.bins.shape[1], np.uint32)

    @cached_property
    def _waiting(self) -> Rows:
        return np.empty(2 * self.limits.max_leaves, np.intp)

    @cached_property
    def _all(self) -> Columns:
        return self._of(np.arange(len(self.bins)))

    def _of(self, chosen: Rows) -> Columns:
        from mlcli.kernels.trees.gradient_sums import BLOCK, in_blocks

        bins = self.bins[chosen]
        kinds = (self.levels[chosen] > 0).astype(np.intp)
        blocks = in_blocks(bins)
        most = np.ones(len(blocks) * BLOCK, np.intp)
        most[: len(bins)] += self.binned.known[chosen]
        return Columns(blocks, bins, most, self.binned.known[chosen], kinds, self.directions[chosen])


def bits_of(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
