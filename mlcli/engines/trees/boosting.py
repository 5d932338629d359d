"""Boosting round by round: slopes of the loss, and a weak learner on them for each output, mostly a tree.

Trees grow one after another on gradients of the same rows; the memory that this takes is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.trees.binning import binned, with_rare_levels_joined
from mlcli.engines.trees.cells import Cells, cells_of
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.losses import Loss, LossDerivatives
from mlcli.engines.trees.structure import LEAF, Trees
from mlcli.engines.trees.targets import AMOUNT_BITS, bit_length

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Grown, Ids, KeptSums, Limits, PackedTargets, Scale, Words

WEIGHT_BITS = 30
"""How many bits of a sum weights take at most."""
Steps = Callable[[LossDerivatives, Array], Sequence[tuple[Any, Array]]]
"""From the slopes of the loss at some scores what a round adds to each output: a weak learner, and what it says of
the training rows. A learner knows whether it ``contributes`` anything, and its ``answers`` about other rows."""


@dataclass(eq=False)
class ScoredRows:
    """Rows with their scores so far (outputs × rows), and their mean loss before any round and after each."""

    table: Table
    loss: Loss
    scores: Array
    costs: list[float] = field(default_factory=list)

    @staticmethod
    def of(data: Any, loss: Loss, start: Array) -> ScoredRows:
        """Rows that all have the score from which boosting starts."""
        return ScoredRows(data.table, loss, np.repeat(start[:, None], len(data), axis=1))

    @property
    def best(self) -> int:
        """After how many rounds the loss was smallest first."""
        return int(np.argmin(self.costs))

    def add(self, answers: Iterable[Array]) -> LossDerivatives:
        """Add to each output what a round says of the rows; the slopes from there."""
        for output, own in enumerate(answers):
            self.scores[output] += own
        slopes = self.loss.at(self.scores)
        self.costs.append(slopes.cost)
        return slopes


def boost(
    steps: Steps, train: ScoredRows, aside: ScoredRows | None, most: int, patience: int, ends: bool
) -> list[Any]:
    """Algorithms 2 and 3 of the notes: start from the best constant, then add step after step.

    The learners of all outputs, round after round, of at most so many. Rows held aside say when to stop: after
    so many rounds without a smaller loss of theirs; the learners are those up to the smallest. Where it ``ends``,
    a round that gains nothing is not made any more.
    """
    learners, slopes = list[Any](), train.add(())
    if aside is not None:
        aside.add(())
    while len(train.costs) <= most and (aside is None or len(aside.costs) - 1 - aside.best < patience):
        made = steps(slopes, train.scores)
        if ends and not any(learner.contributes for learner, _ in made):
            break
        learners += [learner for learner, _ in made]
        slopes = train.add(answers for _, answers in made)
        if aside is not None:
            aside.add(learner.answers(aside.table) for learner, _ in made)
    return learners if aside is None else learners[: aside.best * len(train.scores)]


@dataclass(frozen=True, eq=False)
class BoostedTree:
    """One tree as the loops leave it, whose leaves alone say anything."""

    grower: GradientGrower
    grown: Grown

    @property
    def contributes(self) -> bool:
        """Whether it asks anything."""
        return len(self.grown.nodes) > 1

    def answers(self, table: Table) -> Array:
        """What the tree says of other rows."""
        return self.grower.trees([self]).answers(cells_of(table))[:, 0]


@dataclass(frozen=True, eq=False)
class GradientGrower:
    """Training rows in bins, and what stays the same while trees grow on them."""

    grower: Grower
    weights: Array
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""

    @staticmethod
    def of(cells: Cells, most: int, weights: Array, limits: Limits, directions: Rows) -> GradientGrower:
        """From cells, the columns that have an order in at most so many bins."""
        joined, level_bins = with_rare_levels_joined(cells, weights)
        return GradientGrower(Grower(binned(joined, most), limits, level_bins=level_bins), weights, directions)

    def grow(
        self,
        gradient: Array,
        hessian: Array,
        chosen: Rows | None = None,
        share: float = 1.0,
        score_of: Callable[[Ids], float] | None = None,
    ) -> tuple[BoostedTree, Array]:
        """A tree that asks for some of the columns or, by None, for any; and what it says of the training rows.

        A leaf says a ``share`` of −G / (H + l2), or of what a function makes of its rows.
        """
        targets = self._packed(gradient, hessian)
        grown, rows = self.grower.grown(targets, np.arange(len(gradient)), chosen, kept=self._kept)
        nodes = grown.nodes
        leaves = np.flatnonzero(nodes["feature"] == LEAF)
        leaves = leaves[np.argsort(nodes["begin"][leaves])]  # rows are grouped by leaf
        begin, end, value = (nodes[name][leaves] for name in ("begin", "end", "value"))
        if score_of is not None:
            value = np.array([score_of(rows[first:last]) for first, last in zip(begin, end, strict=True)])
        value *= share
        nodes["value"] = 0.0
        nodes["value"][leaves] = value
        answers = np.empty(len(rows))
        answers[rows] = np.repeat(value, end - begin)
        return BoostedTree(self, grown), answers

    def trees(self, each: Sequence[BoostedTree]) -> Trees:
        """All these as one."""
        trees = self.grower.trees([tree.grown for tree in each], self._weights[1])
        return replace(trees.sent_with_most(), impurity=np.empty(0))

    def _packed(self, gradient: Array, hessian: Array) -> PackedTargets:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit."""
        from mlcli.kernels.trees.records import PackedTargets

        weights, scale = self._weights
        amount = 2.0 ** (bit_length(np.abs(gradient).sum()) - AMOUNT_BITS)
        curvature = 2.0 ** (bit_length(hessian.sum()) + 1 - scale.shift)
        parts = np.array([np.rint(gradient / amount), np.rint(hessian / curvature)]).astype(np.int64)
        parts[1] += weights << scale.shift
        return PackedTargets(parts, np.empty(0), scale._replace(amount=amount, curvature=curvature))

    @cached_property
    def _weights(self) -> tuple[Words, Scale]:
        """The weights in units (1 of whole ones), and where in a word they stand."""
        from mlcli.kernels.trees.records import Scale

        weights = self.weights
        spare = WEIGHT_BITS - bit_length(weights.sum())
        places = min(spare, 0) if (weights == np.rint(weights)).all() else spare
        shift = AMOUNT_BITS - bit_length(weights.sum() * 2.0**places + len(weights))
        scale = Scale(0, 2.0**-places, shift=shift, mask=(1 << shift) - 1)
        return np.floor(weights * 2.0**places + 0.5).astype(np.int64), scale

    @cached_property
    def _kept(self) -> KeptSums:
        """Sums and bounds of nodes, which growing fills anew for each tree."""
        from mlcli.kernels.trees.records import KeptSums

        leaves, columns = self.grower.limits.max_leaves, self.grower.binned
        sums = np.empty((leaves, len(columns.known), 2, columns.width), np.int64)
        return KeptSums(sums, np.zeros(2 * leaves, np.intp), np.empty((2 * leaves, 2)), self.directions)
