"""Decision rule: answers by a threshold of the probability, or by what answers cost, not the likeliest class.

Formula:
    The training rows are dealt into folds, and each row gets the probability p that the base gives it after
    learning from the other folds. A row is answered with the positive class where p ≥ t; t is the threshold at
    which these answers have the best f1, Youden's J (true minus false positive rate), accuracy or mean cost,
    half-way between the two probabilities that it separates. By `expected-cost` no threshold is chosen: the
    answer is the class c of the least Σ_k p_k · cost(k, c).

Assumes:
    Probabilities that rank rows well; for `expected-cost` also such that are right on average (calibrated).

Cost:
    folds + 1 fits of the base; one for `expected-cost`, or where the threshold is given.

Choices:
    A cost that is not given is 0 for the right class and 1 for a wrong one. Of equally good thresholds it is the
    nearest to ½. Of more than two classes one has a threshold against the rest, and where it is not reached the
    likeliest of the others is answered; `cost` means `expected-cost` there. The probabilities stay those of the
    base, so that log-loss and AUC are its own. Where no row can be held out the threshold is ½.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core import DECIMALS
from mlcli.core.abilities import CountsParameters, DecidesByRule, RowExplainer
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.findings import Curve, Explanation, Lines, Table
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import AnyBut, learned, param
from mlcli.core.pipeline import adjustable_parameters, explain_row
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes
from mlcli.core.tables import Table as Rows
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.metrics.confusion import ThresholdCounts, between, cost_matrix, counts_by_threshold, problems_with_costs
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows

GOALS: dict[str, Callable[[ThresholdCounts, Array], Array]] = {
    "f1": lambda counts, costs: counts.f1,
    "youden": lambda counts, costs: counts.youden,
    "accuracy": lambda counts, costs: counts.accuracy,
    "cost": lambda counts, costs: -counts.costs(costs),
}
"""What a threshold is chosen by: larger is better."""
EXPECTED = "expected-cost"


@register("decision-rule", reference="Elkan 2001, The foundations of cost-sensitive learning; Youden 1950")
class DecisionRule(Classifier, CountsParameters, DecidesByRule, RowExplainer):
    """A classifier whose answers are decided in another way."""

    base: Model = model_param("logistic-regression", "the model that gives the probabilities", of=(Classifier,))
    by: str = param(
        "cost", "what the answers are to be best by", choices=(*GOALS, EXPECTED), matters_when={"threshold": None}
    )
    cost: dict[str, Any] | None = param(None, "what answers cost: {actual: {predicted: value}}")
    threshold: float | None = param(None, "a threshold that is not chosen but given", ge=0, le=1)
    positive: str | None = param(
        None, "the class that has the threshold; none: the last", matters_when={"by": AnyBut(("expected-cost",))}
    )
    folds: int = param(
        5,
        "how many folds the training rows are split into to choose a threshold",
        ge=2,
        matters_when={"threshold": None, "by": AnyBut(("expected-cost",))},
    )

    model_: Model = learned()
    threshold_: float = learned()
    """NaN where the expected cost decides."""
    goal_: Array = learned("thresholds", 2)
    """Some thresholds and the goal at each (n × 2), as chosen from."""

    @property
    def accepts(self) -> Accepts:
        """Anything: the base stands behind the steps that it needs."""
        inside = self.base.accepts
        return Accepts(nominal=True, missing=True, weights=inside.weights, sensitive=inside.sensitive)

    def conflicts(self) -> list[str]:
        """Costs of another form, or of no use, and a threshold beside a rule that has none."""
        result = [] if self.cost is None else list(problems_with_costs(self.cost))
        if self.threshold is not None and self.by == EXPECTED:
            result.append(f"a threshold has no part in '{EXPECTED}'")
        if self.cost is not None and self.by not in ("cost", EXPECTED):
            result.append(f"cost is of use by cost or {EXPECTED}, not by {self.by}")
        return result

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Fit the base to all rows, and choose the threshold by its probabilities for held-out rows."""
        data = in_content_order(data)
        try:
            cost_matrix(self.cost, self.classes_)
        except UsageError as error:
            raise FitError(*error.problems) from None
        if self.positive is not None and self.positive not in self.classes_:
            hint = did_you_mean(self.positive, self.classes_, "classes")
            raise FitError(f"there is no class '{self.positive}' to have a threshold", hint=hint)
        base = with_steps(self.base, self.columns_)
        base_rng, folds_rng, dealing_rng = rng.spawn(3)
        self.model_ = fitted(base, data, base_rng)
        self.threshold_, self.goal_ = 0.5, np.empty((0, 2))
        if self.threshold is not None:
            self.threshold_ = self.threshold
            return
        if self._by_expected_cost:
            self.threshold_ = np.nan
            return
        if len(self.classes_) > 2 and self.positive is None:
            last = f"{self.classes_[-1]}, the last of {len(self.classes_)}"
            text = f"by {self.by} one class has a threshold, here {last}; 'positive' names another"
            warnings.warn(text, MlcliWarning, stacklevel=3)
        folds = inner_folds(data, self.folds, dealing_rng)
        if folds.any():
            self._choose_threshold(held_out_outputs(base, data, folds, folds_rng), data)

    def _choose_threshold(self, probabilities: Array, data: LabelledRows) -> None:
        """The threshold with the best goal; of equals the one nearest to ½."""
        code, costs = self._positive, np.zeros((2, 2))
        if len(self.classes_) == 2:  # the positive class second
            order = [1 - code, code]
            costs = cost_matrix(self.cost, self.classes_)[np.ix_(order, order)]
        counts = counts_by_threshold(probabilities[:, code], data.y == code, data.weights)
        goal = np.round(GOALS[self.by](counts, costs), DECIMALS)
        thresholds = between(counts.thresholds)
        best = np.flatnonzero(goal == goal.max())
        self.threshold_ = float(thresholds[best[np.abs(thresholds[best] - 0.5).argmin()]])
        # Forty points of the curve are enough to draw it.
        points = np.unique(np.linspace(0, len(goal) - 1, min(40, len(goal))).round().astype(int))[::-1]
        self.goal_ = np.column_stack([thresholds[points], goal[points]])

    def predict_proba(self, table: Rows) -> Array:
        """The probabilities of the base."""
        return outputs(self.model_, table, CLASSIFICATION)

    def decide(self, probabilities: Array) -> Codes:
        """The class with the least expected cost, or the positive class from its threshold on."""
        if self._by_expected_cost:
            expected = probabilities @ cost_matrix(self.cost, self.classes_)
            return np.asarray(np.round(expected, DECIMALS).argmin(axis=1), np.int32)
        code = self._positive
        others = probabilities.copy()
        others[:, code] = -1.0
        reached = probabilities[:, code] >= self.threshold_
        return np.where(reached, code, others.argmax(axis=1)).astype(np.int32)

    @property
    def _by_expected_cost(self) -> bool:
        return self.by == EXPECTED or (self.by == "cost" and len(self.classes_) != 2 and self.threshold is None)

    @property
    def _positive(self) -> int:
        return len(self.classes_) - 1 if self.positive is None else self.classes_.index(self.positive)

    def check_learned(self) -> None:
        """The base as configured."""
        check_members((self.model_,), with_steps(self.base, self.columns_), self)

    def adjustable_parameters(self, table: Rows) -> float | None:
        """Those of the base."""
        return adjustable_parameters(self.model_, table)

    def explain(self) -> Explanation:
        """The rule, the goal over thresholds, then what the base says of itself."""
        if self._by_expected_cost:
            costs = cost_matrix(self.cost, self.classes_).tolist()
            title = "Cost of each predicted class (columns) by the true class"
            rows = tuple((label, *line) for label, line in zip(self.classes_, costs, strict=True))
            return Table(title, ("true \\ predicted", *self.classes_), rows), *self.model_.explain()
        rule = Lines("Decision rule", (self.decision_in_words(),))
        if not len(self.goal_):
            return rule, *self.model_.explain()
        goal = -self.goal_[:, 1] if self.by == "cost" else self.goal_[:, 1]
        thresholds, series = tuple(self.goal_[:, 0].tolist()), ((self.by, tuple(goal.tolist())),)
        curve = Curve(f"{self.by} by threshold", "threshold", thresholds, series)
        return rule, curve, *self.model_.explain()

    def explain_answer(self, table: Rows) -> Explanation:
        """How the base came to its probabilities."""
        return explain_row(self.model_, table)

    def decision_in_words(self) -> str:
        """The rule in a sentence."""
        if self._by_expected_cost:
            return "the class whose expected cost is least"
        chosen = "as it was given" if self.threshold is not None else f"chosen by {self.by} on rows held out"
        positive = self.classes_[self._positive]
        return f"{positive} where its probability is at least {self.threshold_:.4g}, {chosen}"
