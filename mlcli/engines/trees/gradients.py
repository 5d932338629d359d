"""Growing trees one after another on gradients of the same rows; the memory that this takes is used again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.trees.binning import binned, with_rare_levels_joined
from mlcli.engines.trees.cells import features
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.structure import LEAF, Trees

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Grown, Ids, KeptSums, Limits, PackedTargets, Scale, Words

SUM_BITS = 61
"""How many bits a sum may take, but for its sign."""
WEIGHT_BITS = 30
"""How many of them weights take at most."""


@dataclass(frozen=True, eq=False)
class BoostedTree:
    """One tree as the loops leave it, whose leaves alone say anything."""

    grower: GradientGrower
    parts: Grown
    scale: Scale

    @property
    def asks(self) -> bool:
        """Whether it asks anything."""
        return len(self.parts.nodes) > 1

    @property
    def leaves(self) -> Rows:
        """The nodes that ask nothing, in the order of their rows."""
        nodes = self.parts.nodes
        leaves = np.flatnonzero(nodes["feature"] == LEAF)
        return leaves[np.argsort(nodes["begin"][leaves])]

    def refit(self, rows: Ids, score_of: Callable[[Ids], float]) -> None:
        """Let leaves answer with a function of their training rows, which are grouped by node."""
        for leaf in self.leaves:
            node = self.parts.nodes[leaf]
            node["value"] = score_of(rows[node["begin"] : node["end"]])

    def shrink(self, share: float) -> None:
        """Let leaves say less."""
        self.parts.nodes["value"] *= share

    def training_answers(self, rows: Ids) -> Array:
        """What the tree says of the training rows, which are grouped by node."""
        answers, leaves = np.empty(len(rows)), self.parts.nodes[self.leaves]
        answers[rows] = np.repeat(leaves["value"], leaves["end"] - leaves["begin"])
        return answers

    def answers(self, table: Table) -> Array:
        """What the tree says of other rows."""
        return self.grower.trees([self]).answers(features(table), self.grower.grower.binned.ordered)[:, 0]


@dataclass(frozen=True, eq=False)
class GradientGrower:
    """Training rows in bins, and what stays the same while trees grow on them."""

    grower: Grower
    weights: Array
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""

    @staticmethod
    def of(
        cells: Array, levels: Rows, most: int, weights: Array, limits: Limits, directions: Rows
    ) -> GradientGrower:
        """From cells (n × F), the columns that have an order in at most so many bins."""
        joined, counts, level_bins = with_rare_levels_joined(cells, levels, weights)
        columns = binned(joined, levels == 0, counts, most)
        return GradientGrower(Grower(columns, limits, level_bins=level_bins), weights, directions)

    def grow(self, gradient: Array, hessian: Array, chosen: Rows | None) -> tuple[BoostedTree, Ids]:
        """A tree that asks for some of the columns or, by None, for any; and the rows grouped by node."""
        targets = self._packed(gradient, hessian)
        parts, rows = self.grower.grown(targets, np.arange(len(gradient)), chosen, kept=self._kept)
        parts.nodes["value"][parts.nodes["feature"] != LEAF] = 0.0
        return BoostedTree(self, parts, targets.scale), rows

    def trees(self, grown: Sequence[BoostedTree]) -> Trees:
        """All these as one."""
        trees = self.grower.trees([one.parts for one in grown], grown[0].scale)
        return replace(trees.sent_with_most(), impurity=np.empty(0))

    def _packed(self, gradient: Array, hessian: Array) -> PackedTargets:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit."""
        from mlcli.kernels.trees.records import PackedTargets, Scale

        unit, weights, bits = self._weights
        shift = SUM_BITS - bits
        places = SUM_BITS - bits_of(np.abs(gradient).sum()), shift - 1 - bits_of(hessian.sum())
        amount, curvature = (2.0**-place for place in places)
        parts = np.array([np.rint(gradient / amount), np.rint(hessian / curvature)]).astype(np.int64)
        parts[1] += weights << shift
        return PackedTargets(parts, np.empty(0), Scale(0, unit, amount, curvature, shift, (1 << shift) - 1))

    @cached_property
    def _weights(self) -> tuple[float, Words, int]:
        """The unit of weights (1 of whole ones), these in units, and how many bits their sum takes."""
        weights = self.weights
        spare = WEIGHT_BITS - bits_of(weights.sum())
        places = min(spare, 0) if (weights == np.rint(weights)).all() else spare
        bits = bits_of(weights.sum() * 2.0**places + len(weights))
        return 2.0**-places, np.floor(weights * 2.0**places + 0.5).astype(np.int64), bits

    @cached_property
    def _kept(self) -> KeptSums:
        """Sums and bounds of nodes, which growing fills anew for each tree."""
        from mlcli.kernels.trees.records import KeptSums

        leaves, columns = self.grower.limits.max_leaves, self.grower.binned
        sums = np.empty((leaves, len(columns.known), 2, columns.width), np.int64)
        return KeptSums(sums, np.zeros(2 * leaves, np.intp), np.empty((2 * leaves, 2)), self.directions)


def bits_of(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
