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
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mlcli.core.abilities import CountsParameters, DecidesByRule, RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.findings import Curve, Explanation, Lines, Table
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import AnyBut, learned, param
from mlcli.core.pipeline import adjustable_parameters, explain_row
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.core.tables import Table as Rows
from mlcli.core.tolerances import DECIMALS
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.metrics.confusion import cost_matrix, problems_with_costs
from mlcli.metrics.threshold_curves import ThresholdCounts, between, counts_by_threshold
from mlcli.tasks.classification import CLASSIFICATION, Classifier, LabelledRows

GOALS: dict[str, Callable[[ThresholdCounts, Array], Array]] = {
    "f1": lambda counts, costs: counts.f1,
    "youden": lambda counts, costs: counts.youden,
    "accuracy": lambda counts, costs: counts.accuracy,
    "cost": lambda counts, costs: -counts.costs(costs),
}
"""What a threshold is chosen by: larger is better."""
EXPECTED = "expected-cost"
HALF = 0.5


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
        """Fit the base to all rows, and choose the threshold by what it says of rows that were held out."""
        data = in_content_order(data)
        # the rule must fit the classes
        try:
            cost_matrix(self.cost, self.classes_)
        except UsageError as error:
            raise FitError(*error.problems) from None
        if self.positive is not None and self.positive not in self.classes_:
            hint = did_you_mean(self.positive, self.classes_, "classes")
            raise FitError(f"there is no class '{self.positive}' to have a threshold", hint=hint)
        base, (own, inner, dealing) = with_steps(self.base, self.columns_), rng.spawn(3)
        self.model_ = fitted(base, data, own)
        self.threshold_, self.goal_ = np.nan if self._by_expected_cost() else HALF, np.empty((0, 2))
        if self.threshold is not None:
            self.threshold_ = self.threshold
        elif not self._by_expected_cost():
            # name the class that has the threshold if it was not given
            if len(self.classes_) > 2 and self.positive is None:
                last = f"{self.classes_[-1]}, the last of {len(self.classes_)}"
                what = f"by {self.by} one class has a threshold, here {last}; 'positive' names another"
                warnings.warn(what, MlcliWarning, stacklevel=3)
            folds = inner_folds(data, self.folds, dealing)
            if folds.any():
                self._choose(held_out_outputs(base, data, folds, inner), data)

    def _choose(self, shares: Array, data: LabelledRows) -> None:
        """The threshold at which the goal is best."""
        code = self._positive()
        counts = counts_by_threshold(shares[:, code], data.y == code, data.weights)
        goal = np.round(GOALS[self.by](counts, self._costs_of_two()), DECIMALS)
        thresholds = between(counts.thresholds)
        best = np.flatnonzero(goal == goal.max())
        self.threshold_ = float(thresholds[best[np.abs(thresholds[best] - HALF).argmin()]])
        # points of the curve of the goal over thresholds
        some = np.unique(np.linspace(0, len(goal) - 1, min(40, len(goal))).round().astype(int))[::-1]
        self.goal_ = np.column_stack([thresholds[some], goal[some]])

    def predict_proba(self, table: Rows) -> Array:
        """The probabilities of the base."""
        return outputs(self.model_, table, CLASSIFICATION)

    def decide(self, probabilities: Array) -> Codes:
        """The class that the rule answers."""
        if self._by_expected_cost():
            expected = probabilities @ cost_matrix(self.cost, self.classes_)
            return np.asarray(np.round(expected, DECIMALS).argmin(axis=1), np.int32)
        code = self._positive()
        others = probabilities.copy()
        others[:, code] = -1.0
        reached = probabilities[:, code] >= self.threshold_
        return np.where(reached, code, others.argmax(axis=1)).astype(np.int32)

    def _by_expected_cost(self) -> bool:
        return self.by == EXPECTED or (self.by == "cost" and len(self.classes_) != 2 and self.threshold is None)

    def _positive(self) -> int:
        return len(self.classes_) - 1 if self.positive is None else self.classes_.index(self.positive)

    def _costs_of_two(self) -> Array:
        """The costs with the positive class second; of no use where there are more classes."""
        if len(self.classes_) != 2:
            return np.zeros((2, 2))
        code = self._positive()
        order = [1 - code, code]
        return cost_matrix(self.cost, self.classes_)[np.ix_(order, order)]

    def check_learned(self) -> None:
        """The base that was asked for."""
        check_members((self.model_,), with_steps(self.base, self.columns_), self)

    def adjustable_parameters(self, table: Rows) -> float | None:
        """Those of the base."""
        return adjustable_parameters(self.model_, table)

    def explain(self) -> Explanation:
        """The rule, the goal over thresholds, then what the base says of itself."""
        return (*self._rule(), *self.model_.explain())

    def explain_answer(self, table: Rows) -> Explanation:
        """How the base came to its probabilities."""
        return explain_row(self.model_, table)

    def decision_in_words(self) -> str:
        """By which rule the answers are decided."""
        if self._by_expected_cost():
            return "the class whose expected cost is least"
        chosen = "as it was given" if self.threshold is not None else f"chosen by {self.by} on rows held out"
        positive = self.classes_[self._positive()]
        return f"{positive} where its probability is at least {self.threshold_:.4g}, {chosen}"

    def _rule(self) -> Iterator[Any]:
        if self._by_expected_cost():
            costs = cost_matrix(self.cost, self.classes_)
            rows = tuple((label, *line) for label, line in zip(self.classes_, costs.tolist(), strict=True))
            yield Table(
                "Cost of each predicted class (columns) by the true class",
                ("true \\ predicted", *self.classes_),
                rows,
            )
            return
        yield Lines("Decision rule", (self.decision_in_words(),))
        if len(self.goal_):
            points, goal = (tuple(map(float, column)) for column in self.goal_.T)
            name, sign = ("cost", -1.0) if self.by == "cost" else (self.by, 1.0)
            yield Curve(f"{name} by threshold", "threshold", points, ((name, tuple(sign * one for one in goal)),))
