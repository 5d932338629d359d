"""Gradient boosting: adds tree after tree, each fitted to the negative gradient of the loss, with a line search.

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

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from mlcli.core.configuration import described_as, with_steps
from mlcli.core.findings import Curve, Explanation
from mlcli.core.findings import Table as Figures
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import by_name, learned, param
from mlcli.core.pipeline import adjustable_parameters
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.models.boosting._boosted import Boosted, FitRound, Learner
from mlcli.models.boosting._losses import Loss, LossDerivatives
from mlcli.tasks.supervised import REGRESSION, Classifier, Regressor, SupervisedRows, ValuedRows

TREE_PARAMETERS = ("max_leaves", "max_depth", "min_leaf", "features", "bins")
"""Parameters that only trees have."""


@register(
    "gradient-boosting",
    reference="Friedman 2001, Greedy function approximation: a gradient boosting machine",
    revision=3,
)
class GradientBoosting(Boosted, Classifier, Regressor):
    """Trees on gradients alone."""

    max_depth: int | None = param(
        3, "the depth of a tree at most", ge=1, tune=Range(1, 8, simpler="low", unasked=False)
    )
    min_leaf: int = param(
        1, "how many rows a leaf holds at least", ge=1, tune=log_range(1, 100, simpler="high", unasked=False)
    )
    base: Model | None = model_param(None, "what is fitted to the gradient; none: trees", of=(Regressor,))

    by_curvature: ClassVar[bool] = False

    models_: tuple[Model, ...] = learned("fitted")
    """Those of all outputs, round after round."""
    multipliers_: Array = learned("fitted")

    @property
    def accepts(self) -> Accepts:
        """Anything: a base stands behind the steps that it needs."""
        weights = self.base is None or self.base.accepts.weights
        return Accepts(nominal=True, missing=True, weights=weights, large=self.base is None)

    def conflicts(self) -> list[str]:
        """Parameters of trees beside a base."""
        if self.base is None:
            return []
        defaults = by_name(type(self))
        given = [name for name in TREE_PARAMETERS if getattr(self, name) != defaults[name].default]
        return [f"{name} is of trees, but base is given" for name in given]

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Grow trees, or fit the base round by round."""
        super().fit(data if self.base is None else data.take(order_of_content(data.counted())), rng)

    def _round_fitter(self, train: SupervisedRows, loss: Loss, rng: np.random.Generator) -> FitRound:
        if self.base is None:
            return super()._round_fitter(train, loss, rng)
        base = with_steps(self.base, self.columns_)

        def fit_learners(derivatives: LossDerivatives, scores: Array) -> list[tuple[WeakLearner, Array]]:
            """For every output a base on the negative gradient, scaled by the best step and the learning rate."""
            (own_rng,) = rng.spawn(1)
            results = []
            for output, gradient in enumerate(derivatives.gradient):
                model = fitted(base, with_values(train, -gradient / train.weights), own_rng)
                values = values_of(model, train.table)
                step = self.learning_rate * line_search(loss, scores, output, values)
                results.append((WeakLearner(model, step), step * values))
            return results

        return fit_learners

    def _keep(self, learners: Sequence[Learner]) -> None:
        super()._keep(learners)
        fits = [learner for learner in learners if isinstance(learner, WeakLearner)]
        self.models_ = tuple(learner.model for learner in fits)
        self.multipliers_ = np.array([learner.step for learner in fits])

    def stages(self) -> int:
        """The rounds that are kept."""
        return super().stages() if self.base is None else len(self.models_) // len(self.start_)

    def _add(self, scores: Array, table: Table, first: int, end: int) -> None:
        if self.base is None:
            super()._add(scores, table, first, end)
            return
        for index in range(first, end):
            values = values_of(self.models_[index], table)
            scores[:, index % len(self.start_)] += self.multipliers_[index] * values

    def adjustable_parameters(self, table: Table) -> float | None:
        """As for trees; with a base the parameters of each fit and its multiplier, if the base counts them."""
        if self.base is None:
            return super().adjustable_parameters(table)
        counts = [adjustable_parameters(model, table) for model in self.models_]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        return sum(known) + len(self.multipliers_) + len(self.start_)

    def explain(self) -> Explanation:
        """Rounds kept, the loss along the way, and what columns gained or how far each round went."""
        if self.base is None:
            return super().explain()
        row = self.stages(), len(self.training_loss_) - 1, self.base.final.name
        result = Figures("Rounds", ("kept", "made", "base"), (row,)), self._losses()
        if not self.stages():
            return result
        rounds = tuple(np.arange(1.0, self.stages() + 1).tolist())
        names = self.score_names()
        steps = tuple((name, tuple(self.multipliers_[k :: len(names)].tolist())) for k, name in enumerate(names))
        return *result, Curve("Step length by round", "round", rounds, steps)

    def check_learned(self) -> None:
        """Refuse what does not fit: trees, models other than the base, or a wrong number of models."""
        super().check_learned()
        requested = None if self.base is None else described_as(with_steps(self.base, self.columns_))
        if any(described_as(model) != requested for model in self.models_):
            raise ValueError("a base that is not the one asked for")
        if len(self.models_) % len(self.start_) or not np.isfinite(self.multipliers_).all():
            raise ValueError("there is not a multiplier for each model")


@dataclass(frozen=True, eq=False)
class WeakLearner:
    """A fitted regressor, and the factor of its predictions."""

    model: Model
    step: float

    @property
    def contributes(self) -> bool:
        """Whether it changes any score."""
        return self.step != 0

    def predict(self, table: Table) -> Array:
        """What it adds to the scores of rows."""
        return self.step * values_of(self.model, table)


def values_of(member: Model, table: Table) -> Array:
    """The predictions of a fitted regressor."""
    return outputs(member, table, REGRESSION)[:, 0]


def with_values(data: SupervisedRows, y: Array) -> ValuedRows:
    """The same rows with numbers as their target."""
    return ValuedRows(**{field.name: getattr(data, field.name) for field in fields(RowsOfTable)}, y=y)


def line_search(loss: Loss, scores: Array, output: int, direction: Array) -> float:
    """The step in a direction of one output with the least loss, by bisection; 0 if that leads uphill.

    It is at most 128: the loss of perfectly separated classes falls for ever.
    """

    def slope(step: float) -> float:
        moved = scores.copy()
        moved[output] += step * direction
        return float(loss.at(moved).gradient[output] @ direction)

    if slope(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while high < 128.0 and slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(60):  # then the interval has no more digits
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2
