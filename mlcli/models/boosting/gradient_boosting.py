"""Gradient boosting: adds tree after tree, fitted to what the loss pulls at; each leaf searches how far to go.

Formula:
    F_0 = arg min_γ Σ w L(y, γ). A round takes the pseudo-residuals r = −∂L/∂F of every row, fits a tree to them by
    least squares, and lets each leaf answer γ = arg min_γ Σ_leaf w L(y, F + γ): the mean of y − F for the squared
    loss, the median for the absolute one, what lies between for Huber's. F ← F + learning_rate·γ.
    Classes: F is the log-odds (two) or a softmax over K scores, one tree per class and round (more); a leaf takes
    one step of Newton's, γ = Σ w r / Σ w p(1 − p), times (K − 1)/K for more than two.
    With a ``base`` any regressor h is fitted to r, and all rows share γ = arg min_γ Σ w L(y, F + γ h(x)).

Assumes:
    Nothing of the columns. Trees of few questions, since each only has to be a little better than none.

Cost:
    Per round and output about n·p·log2(leaves) / 2 additions, plus leaves·p·bins for the search; n·p bytes, and
    leaves·p·4 kB for histograms.

Choices:
    ∂L/∂F of the squared loss is −(y − F), not +. The notes' algorithm 2 searches one multiplier for
    a whole tree, as is done with a ``base``, up to 128; without one every leaf has its own (Friedman 2001,
    TreeBoost), which contains that. With a ``base`` rounds end once no step gains anything. A leaf of one class
    has no best step, so classes take Friedman's single step. ``delta`` of Huber's loss stays the same in all
    rounds, so that the losses of rounds can be compared. Bins, missing cells and nominal columns are as in
    newton-boosting, with h = 1 and no l2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.configuration import behind_steps, described_as
from mlcli.core.findings import Curve, Explanation
from mlcli.core.findings import Table as Figures
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import by_name, learned, param
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.bags import order_of_content
from mlcli.engines.trees.gradients import GradientGrower, Grown
from mlcli.engines.trees.losses import Loss, Slopes
from mlcli.engines.trees.rounds import Boosting, Learner
from mlcli.models.boosting._boosted import Boosted
from mlcli.models.boosting._weak_learners import WeakLearning, staged
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

OF_TREES = ("max_leaves", "max_depth", "growth", "min_leaf", "features", "bins")
"""What only trees are told."""


@register(
    "gradient-boosting", reference="Friedman 2001, Greedy function approximation: a gradient boosting machine"
)
class GradientBoosting(Boosted, Classifier, Regressor):
    """Trees on gradients alone."""

    max_depth: int | None = param(
        3, "how many questions lead to a leaf at most", ge=1, tune=Range(1, 8, simpler="low", unasked=False)
    )
    min_leaf: int = param(
        1, "how many rows a leaf holds at least", ge=1, tune=log_range(1, 100, simpler="high", unasked=False)
    )
    base: Model | None = model_param(None, "what is fitted to the gradient; none: trees", of=(Regressor,))

    models_: tuple[Model, ...] = learned()
    multipliers_: Array = learned()
    """What each model is multiplied by (rounds × outputs)."""

    @property
    def accepts(self) -> Accepts:
        """Anything: a base stands behind the steps that it needs."""
        return Accepts(nominal=True, missing=True, weights=self.base is None or self.base.accepts.weights)

    def conflicts(self) -> list[str]:
        """Parameters of trees, where there are none."""
        usual = by_name(type(self))
        given = [name for name in OF_TREES if getattr(self, name) != usual[name].default]
        return [f"{name} is of trees, but base is given" for name in given if self.base is not None]

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Grow trees, or fit the base round by round."""
        super().fit(data if self.base is None else data.take(order_of_content(data.counted())), rng)

    def _learner(self, train: Any, loss: Loss) -> Learner:
        if self.base is None:
            return super()._learner(train, loss)
        return WeakLearning(self._behind_steps(self.base), train)

    def _keep(self, boosting: Boosting) -> None:
        of_trees = self.base is None
        super()._keep(boosting if of_trees else replace(boosting, rounds=()))
        learners = [] if of_trees else [one for steps in boosting.rounds for one in steps]
        self.models_, outputs = tuple(one.model for one in learners), 0 if of_trees else len(boosting.start)
        far = np.array([one.far for one in learners])
        self.multipliers_ = far.reshape(len(far) // max(outputs, 1), outputs)

    def _behind_steps(self, base: Model) -> Model:
        return behind_steps(base, self.columns_)

    def stages(self) -> int:
        """The rounds that are kept."""
        return super().stages() if self.base is None else len(self.multipliers_)

    def _staged_scores(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The scores after each of some rounds."""
        if self.base is None:
            return super()._staged_scores(table, at)
        return staged(self.models_, self.multipliers_, table, self.start_, at)

    def explain(self) -> Explanation:
        """Rounds kept, the loss along the way, and what columns gained or how far each round went."""
        if self.base is None:
            return super().explain()
        row = self.stages(), len(self.training_loss_) - 1, self.base.final.name
        found = Figures("Rounds", ("kept", "made", "base"), (row,)), self._losses()
        if not self.stages():
            return found
        rounds = tuple(np.arange(1.0, self.stages() + 1).tolist())
        several = len(self.present_) > 2
        names = [self.classes_[code] for code in self.present_] if several else [self.base.final.name]
        far = tuple((name, tuple(steps)) for name, steps in zip(names, self.multipliers_.T.tolist(), strict=True))
        return *found, Curve("What each round is multiplied by", "round", rounds, far)

    def check_learned(self) -> None:
        """As for trees, and a multiplier for each model that was asked for."""
        super().check_learned()
        far, outputs = self.multipliers_, 0 if self.base is None else len(self.start_)
        if far.ndim != 2 or far.shape[1] != outputs or len(self.models_) != far.size or not np.isfinite(far).all():
            raise ValueError("there is not a multiplier for each model")
        if self.base is not None:
            asked = described_as(self._behind_steps(self.base))
            if any(described_as(model) != asked for model in self.models_):
                raise ValueError("a base that is not the one asked for")

    def tree(
        self, grower: GradientGrower, loss: Loss, slopes: Slopes, scores: Array, output: int, chosen: Rows | None
    ) -> Grown:
        """A least-squares tree of the pseudo-residuals, whose leaves search how far to go."""
        grown = grower.grow(slopes.gradient[output], grower.weights, chosen)
        return grown.refitted(lambda rows: loss.step(slopes, scores, output, rows))
