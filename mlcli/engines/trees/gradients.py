"""Growing trees one after another on gradients of the same rows; the room that this takes is used again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.engines.trees.binning import Binned, Bins, binned, with_rare_levels_joined
from mlcli.engines.trees.criteria import CRITERIA
from mlcli.engines.trees.growing import NEARLY, Limits
from mlcli.engines.trees.rounds import HeldAside
from mlcli.engines.trees.structure import LEAF, STOPS, Trees, trees_of
from mlcli.engines.trees.targets import Ids

WORD = 62
"""How many bits a sum may take."""
WEIGHT_BITS = 30
"""How many of them weights take at most."""


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

    def says(self, held: HeldAside) -> Array:
        """What the tree says of rows held aside."""
        return self.tree.answers(held.cells, held.ordered)[:, 0]


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
    l2: float
    """How much a leaf is pulled towards 0."""

    @staticmethod
    def of(
        cells: Array, levels: Rows, most: int, directions: Rows, weights: Array, limits: Limits, l2: float
    ) -> GradientGrower:
        """From cells (n × F), the columns that have an order in at most so many bins."""
        joined, counts, level_bins = with_rare_levels_joined(cells, levels, weights)
        rows = binned(joined, levels == 0, counts, most)
        rows = replace(rows, bins=rows.bins.astype(np.uint8))
        return GradientGrower(rows, levels, level_bins, directions, weights, limits, l2)

    @property
    def bins(self) -> Bins:
        """F × n."""
        return self.binned.bins

    def grow(self, gradient: Array, hessian: Array, chosen: Rows | None) -> Grown:
        """One tree, that asks for some of the columns or, by None, for any."""
        from mlcli.kernels.trees import growing as loops

        columns = self._all if chosen is None else self._of(chosen)
        slopes = self._room._replace(columns=columns, scales=self._fix_points(gradient, hessian))
        grown, space, limits = self._space
        rows = np.arange(self.bins.shape[1], dtype=np.uint32)
        count = loops.grow(None, None, 1.0, limits, grown, space._replace(rows=rows), None, slopes)
        return self._grown(grown, slopes, rows, count, chosen)

    def _grown(self, grown: Any, slopes: Any, rows: Ids, count: int, chosen: Rows | None) -> Grown:
        from mlcli.kernels.trees.nodes import BEGIN, END, FEATURE, LEFT, LOW

        nodes = grown.nodes[:count]
        inner = nodes[:, FEATURE] != LEAF
        asks, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
        column = nodes[asks, FEATURE] if chosen is None else chosen[nodes[asks, FEATURE]]
        weight = (slopes.totals[:count, 1] >> self._shift).astype(np.float64)
        arrays = trees_of(count, 1) | {
            "left": np.where(inner, nodes[:, LEFT], LEAF).astype(np.int32),
            "value": np.where(inner, 0.0, slopes.scores[:count])[:, None],
            "weight": np.ldexp(weight, -self._weight_places),
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
        arrays["missing"][asks] = np.where(ordered, left + 1 - sets[np.arange(len(asks)), known], STOPS)
        child_of = [np.empty(0, np.int32)]
        for place in np.flatnonzero(~ordered):
            arrays["offset"][asks[place]] = sum(len(one) for one in child_of)
            child_of.append(left[place] + 1 - sets[place, self.level_bins[column[place]]].astype(np.int32))
        arrays["child_of"] = np.concatenate(child_of)

    def _fix_points(self, gradient: Array, hessian: Array) -> Any:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit; the scales of these."""
        from mlcli.kernels.trees.gradient_splits import Scales
        from mlcli.kernels.trees.gradient_sums import fix_points

        places = WORD - 1 - bits_of(np.abs(gradient).sum()), self._shift - 1 - bits_of(hessian.sum())
        finest = 2.0 ** np.array([*places, self._weight_places])
        fix_points(gradient, hessian, self.weights, finest, self._shift, self._room.fixed)
        gradients, hessians = (1 / finest[:2]).tolist()
        bound = bool(self.directions.any())
        return Scales(gradients, hessians, float(self.l2), self._least, self._shift, bound)

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
    def _room(self) -> Any:
        """Arrays that growing fills anew for each tree."""
        from mlcli.kernels.trees.gradient_nodes import Slopes
        from mlcli.kernels.trees.gradient_splits import SplitRoom
        from mlcli.kernels.trees.gradient_sums import BINS, PER_COLUMN

        rows, leaves = self.bins.shape[1], self.limits.max_leaves or 0
        nodes = 2 * leaves - 1
        along, order, ordered = np.empty((2, BINS), np.int64), *np.empty((2, PER_COLUMN), np.int64)
        return Slopes(
            columns=self._all,
            scales=None,  # type: ignore[arg-type]
            room=SplitRoom(along, order, ordered, np.empty(BINS)),
            fixed=np.empty((rows, 2), np.int64),
            pool=np.empty((leaves, len(self._all.bins), PER_COLUMN), np.int64),
            slots=np.zeros(nodes, np.intp),
            beside=np.empty((rows, 2), np.int64),
            bounds=np.empty((nodes, 2)),
            sets=np.zeros((nodes, BINS), np.uint8),
            totals=np.empty((nodes, 2), np.int64),
            scores=np.empty(nodes),
        )

    @cached_property
    def _space(self) -> tuple[Any, Any, Any]:
        """Room for nodes and for rows, and the limits."""
        from mlcli.kernels.trees.nodes import DEPTH, Grown, Space

        count, nothing = 2 * (self.limits.max_leaves or 0), np.empty(0, np.uint32)
        grown: Any = Grown(np.empty((count, DEPTH + 1), np.int32), None, np.empty(count), *[None] * 4)  # type: ignore[arg-type]
        right, waiting = np.empty(self.bins.shape[1], np.uint32), np.empty(count, np.intp)
        space: Any = Space(nothing, right, None, None, None, waiting, None)  # type: ignore[arg-type]
        return grown, space, self.limits.compiled(CRITERIA["squared-error"], 1, 1.0)

    @cached_property
    def _all(self) -> Any:
        return self._of(np.arange(len(self.bins)))

    def _of(self, chosen: Rows) -> Any:
        from mlcli.kernels.trees.gradient_splits import GradientColumns
        from mlcli.kernels.trees.gradient_sums import BLOCK, in_blocks

        bins, known = self.bins[chosen], self.binned.known[chosen]
        blocks, kinds = in_blocks(bins), (self.levels[chosen] > 0).astype(np.intp)
        most = np.ones(len(blocks) * BLOCK, np.intp)
        most[: len(bins)] += known
        return GradientColumns(blocks, bins, most, known, kinds, self.directions[chosen])


def bits_of(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
