"""Growing trees one after another on gradients of the same rows; the room that this takes is used again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.trees.binning import Binned, Bins, binned, with_rare_levels_joined
from mlcli.engines.trees.criteria import NEARLY, Limits
from mlcli.engines.trees.rounds import HeldAside
from mlcli.engines.trees.structure import LEAF, STOPS, Trees, placed
from mlcli.engines.trees.targets import Ids, Words

WORD = 62
"""How many bits a sum may take."""
WEIGHT_BITS = 30
"""How many of them weights take at most."""


@dataclass(frozen=True, eq=False)
class Grown:
    """One tree as the loops leave it, with the training rows grouped by node."""

    grower: GradientGrower
    nodes: Codes
    leaves: Rows
    spans: Rows
    """Per leaf where its rows begin and end in ``rows``."""
    value: Array
    """What each node says; 0 where it asks."""
    weight: Words
    gain: Array
    sets: Bins
    """Nodes that ask for levels × bins: whether a bin goes left."""
    rows: Ids

    @property
    def asks(self) -> bool:
        """Whether it asks anything."""
        return len(self.leaves) > 1

    @property
    def tree(self) -> Trees:
        """As arrays; of many trees together this takes less time."""
        return self.grower.trees([self])

    def refitted(self, score_of: Callable[[Ids], float]) -> Grown:
        """The same tree, whose leaves answer with a function of their rows."""
        value = self.value.copy()
        value[self.leaves] = [score_of(self.rows[begin:end]) for begin, end in self.spans]
        return replace(self, value=value)

    def shrunk(self, share: float) -> Grown:
        """The same tree, whose leaves say less."""
        return replace(self, value=self.value * share)

    def without_rows(self) -> Grown:
        """The same without the training rows."""
        return replace(self, rows=np.empty(0, np.uint32))

    def add_to(self, scores: Array) -> None:
        """Add what the tree says of the training rows."""
        order = np.argsort(self.spans[:, 0])
        scores[self.rows] += np.repeat(self.value[self.leaves[order]], np.diff(self.spans[order])[:, 0])

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
    weights: Array
    limits: Limits
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""
    l2: float
    """How much a leaf is pulled towards 0."""

    @staticmethod
    def of(
        cells: Array, levels: Rows, most: int, weights: Array, limits: Limits, directions: Rows, l2: float
    ) -> GradientGrower:
        """From cells (n × F), the columns that have an order in at most so many bins."""
        joined, counts, level_bins = with_rare_levels_joined(cells, levels, weights)
        rows = binned(joined, levels == 0, counts, most)
        return GradientGrower(rows, levels, level_bins, weights, limits, directions, l2)

    def grow(self, gradient: Array, hessian: Array, chosen: Rows | None) -> Grown:
        """One tree, that asks for some of the columns or, by None, for any."""
        from mlcli.kernels.trees.gradient_nodes import grow
        from mlcli.kernels.trees.growing import BEGIN, END, FEATURE, SIDE

        columns = self._all if chosen is None else self._of(chosen)
        slopes = self._room._replace(columns=columns)
        slopes = slopes._replace(scales=self._fix_points(gradient, hessian, slopes.fixed))
        rows = np.arange(self.binned.bins.shape[1], dtype=np.uint32)
        count = grow(slopes, rows)
        nodes, gain = slopes.nodes[:count].copy(), slopes.gain[:count].copy()
        inner = nodes[:, FEATURE] != LEAF
        asks, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
        column = nodes[asks, FEATURE] if chosen is None else chosen[nodes[asks, FEATURE]]
        nodes[asks, FEATURE], nodes[asks, SIDE] = column, slopes.sets[asks, self.binned.known[column]]
        value, weight = np.where(inner, 0.0, slopes.scores[:count]), slopes.totals[:count, 1] >> self._shift
        sets = slopes.sets[asks[self.levels[column] > 0]]
        return Grown(self, nodes, leaves, nodes[leaves][:, [BEGIN, END]], value, weight, gain, sets, rows)

    def trees(self, grown: Sequence[Grown]) -> Trees:
        """All these as one."""
        from mlcli.kernels.trees.growing import FEATURE, LOW, SIDE

        nodes, arrays = placed([one.nodes for one in grown])
        asks, sets = np.flatnonzero(nodes[:, FEATURE] != LEAF), np.concatenate([one.sets for one in grown])
        column, low, left = nodes[asks, FEATURE], nodes[asks, LOW], arrays["left"][asks]
        ordered, threshold = self.binned.ordered[column], np.full(len(nodes), np.nan)
        threshold[asks[ordered]] = self.binned.between(column[ordered], low[ordered], low[ordered] + 1)
        arrays["missing"][asks] = np.where(ordered, left + 1 - nodes[asks, SIDE], STOPS)
        lengths = self.levels[column[~ordered]]
        arrays["offset"][asks[~ordered]] = np.cumsum(lengths) - lengths
        sides = [
            own[self.level_bins[one]].astype(np.int32) for own, one in zip(sets, column[~ordered], strict=True)
        ]
        arrays["child_of"] = np.repeat(left[~ordered] + 1, lengths) - np.concatenate([arrays["child_of"], *sides])
        return Trees(
            **arrays,
            threshold=threshold,
            value=np.concatenate([one.value for one in grown])[:, None],
            weight=np.ldexp(np.concatenate([one.weight for one in grown]), -self._weight_places),
            impurity=np.empty(0),
            gain=np.concatenate([one.gain for one in grown]) / 2,
        )

    def _fix_points(self, gradient: Array, hessian: Array, fixed: Words) -> Any:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit; the scales of these."""
        from mlcli.kernels.trees.gradient_splits import Scales
        from mlcli.kernels.trees.gradient_sums import fix_points

        places = WORD - 1 - bits_of(np.abs(gradient).sum()), self._shift - 1 - bits_of(hessian.sum())
        finest = 2.0 ** np.array([*places, self._weight_places])
        fix_points(gradient, hessian, self.weights, finest, self._shift, fixed)
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
        from mlcli.kernels.trees.growing import DEPTH, NO_LIMIT

        rows, leaves = self.binned.bins.shape[1], self.limits.max_leaves or 0
        nodes = 2 * leaves
        along, order, ordered = np.empty((3, BINS), np.int64), *np.empty((2, PER_COLUMN), np.int64)
        return Slopes(
            max_depth=self.limits.max_depth or NO_LIMIT,
            max_leaves=leaves,
            columns=self._all,
            scales=None,  # type: ignore[arg-type]
            nodes=np.empty((nodes, DEPTH + 1), np.int32),
            gain=np.empty(nodes),
            waiting=np.empty(nodes, np.intp),
            right=np.empty(rows, np.uint32),
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
    def _all(self) -> Any:
        return self._of(slice(None))

    def _of(self, chosen: Rows | slice) -> Any:
        from mlcli.kernels.trees.gradient_splits import GradientColumns
        from mlcli.kernels.trees.gradient_sums import BLOCK, in_blocks

        bins, known = self.binned.bins[chosen], self.binned.known[chosen]
        blocks, kinds = in_blocks(bins), (self.levels[chosen] > 0).astype(np.intp)
        most = np.ones(len(blocks) * BLOCK, np.intp)
        most[: len(bins)] += known
        return GradientColumns(blocks, bins, most, known, kinds, self.directions[chosen])


def bits_of(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
