"""Growing trees one after another on gradients of the same rows; the room that this takes is used again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.trees.binning import binned, with_rare_levels_joined
from mlcli.engines.trees.criteria import CRITERIA, Limits
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.rounds import HeldAside
from mlcli.engines.trees.structure import LEAF, Trees
from mlcli.engines.trees.targets import Ids, Packed, Targets, Words

if TYPE_CHECKING:
    from mlcli.kernels.trees import nodes as loops

WORD = 61
"""How many bits a sum may take, but for its sign."""
WEIGHT_BITS = 30
"""How many of them weights take at most."""


@dataclass(frozen=True, eq=False)
class Grown:
    """One tree as the loops leave it, with the training rows grouped by node."""

    grower: GradientGrower
    parts: loops.Grown
    share: Packed
    leaves: Rows
    spans: Codes
    """Per leaf where its rows begin and end in ``rows``."""
    rows: Ids

    @property
    def asks(self) -> bool:
        """Whether it asks anything."""
        return len(self.leaves) > 1

    @property
    def tree(self) -> Trees:
        """As arrays; of many trees together this takes less time."""
        return self.grower.trees([self])

    def _saying(self, value: Array) -> Grown:
        return replace(self, parts=self.parts._replace(value=value))

    def refitted(self, score_of: Callable[[Ids], float]) -> Grown:
        """The same tree, whose leaves answer with a function of their rows."""
        value = np.zeros_like(self.parts.value)
        value[self.leaves] = [score_of(self.rows[begin:end]) for begin, end in self.spans]
        return self._saying(value)

    def shrunk(self, share: float) -> Grown:
        """The same tree, whose leaves say less."""
        return self._saying(self.parts.value * share)

    def without_rows(self) -> Grown:
        """The same without the training rows."""
        return replace(self, rows=np.empty(0, np.uint32))

    def add_to(self, scores: Array) -> None:
        """Add what the tree says of the training rows."""
        order = np.argsort(self.spans[:, 0])
        scores[self.rows] += np.repeat(self.parts.value[self.leaves[order]], np.diff(self.spans[order])[:, 0])

    def says(self, held: HeldAside) -> Array:
        """What the tree says of rows held aside."""
        return self.tree.answers(held.cells, held.ordered)[:, 0]


@dataclass(frozen=True, eq=False)
class GradientGrower:
    """Training rows in bins, and what stays the same while trees grow on them."""

    grower: Grower
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""

    @staticmethod
    def of(
        cells: Array, levels: Rows, most: int, weights: Array, limits: Limits, directions: Rows, l2: float
    ) -> GradientGrower:
        """From cells (n × F), the columns that have an order in at most so many bins; ``l2`` pulls leaves to 0."""
        joined, counts, level_bins = with_rare_levels_joined(cells, levels, weights)
        rows, targets = binned(joined, levels == 0, counts, most), Targets(levels, np.empty(0), weights, 1)
        return GradientGrower(
            Grower(rows, targets, CRITERIA["squared-error"], limits, l2, level_bins=level_bins), directions
        )

    def grow(self, gradient: Array, hessian: Array, chosen: Rows | None) -> Grown:
        """One tree, that asks for some of the columns or, by None, for any."""
        from mlcli.kernels.trees.nodes import BEGIN, END, FEATURE

        share, rows = self._packed(gradient, hessian), np.arange(len(gradient), dtype=np.uint32)
        drawn = np.arange(len(self.directions)) if chosen is None else chosen
        parts = self.grower.grown_on(rows, share, drawn, pool=self._pool)
        leaves = np.flatnonzero(parts.nodes[:, FEATURE] == LEAF)
        value = np.zeros_like(parts.value)
        value[leaves] = parts.value[leaves]
        parts = parts._replace(value=value)
        return Grown(self, parts, share.units, leaves, parts.nodes[leaves][:, [BEGIN, END]], rows)

    def trees(self, grown: Sequence[Grown]) -> Trees:
        """All these as one."""
        trees = self.grower.trees([one.parts for one in grown], grown[0].share)
        return replace(trees.sent_with_most(), impurity=np.empty(0))

    def _packed(self, gradient: Array, hessian: Array) -> Packed:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit."""
        unit, weights, bits = self._weights
        shift = WORD - bits
        places = WORD - bits_of(np.abs(gradient).sum()), shift - 1 - bits_of(hessian.sum())
        amount, curvature = (2.0**-place for place in places)
        parts = np.array([np.rint(gradient / amount), np.rint(hessian / curvature)]).astype(np.int64)
        parts[1] += weights << shift
        return Packed(parts, 0, unit, amount, curvature, shift)

    @cached_property
    def _weights(self) -> tuple[float, Words, int]:
        """The unit of weights (1 of whole ones), these in units, and how many bits their sum takes."""
        weights = self.grower.targets.weight
        spare = WEIGHT_BITS - bits_of(weights.sum())
        places = min(spare, 0) if (weights == np.rint(weights)).all() else spare
        bits = bits_of(weights.sum() * 2.0**places + len(weights))
        return 2.0**-places, np.floor(weights * 2.0**places + 0.5).astype(np.int64), bits

    @cached_property
    def _pool(self) -> Any:
        """Sums and bounds of nodes, which growing fills anew for each tree."""
        from mlcli.kernels.trees.nodes import Pool

        leaves, columns = self.grower.limits.max_leaves or 0, self.grower.binned
        sums = np.empty((leaves, len(columns.known), 2, columns.width), np.int64)
        return Pool(sums, np.zeros(2 * leaves, np.intp), np.empty((2 * leaves, 2)), self.directions)


def bits_of(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
