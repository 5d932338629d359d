"""Exponentiated gradient: classifiers of rows weighted by what fairness costs, mixed so that they keep it.

Formula:
    Minimise the error of a mixture Q of classifiers h of the base under |P(ŷ=1 | g, e) − P(ŷ=1 | e)| ≤ bound for
    all groups g, e being all rows (demographic parity), those of the last class (equal opportunity), or those of
    each class (equalised odds). Each round sets prices of the constraints, by which it gains more or less to
    answer a row with the last class; the base learns the sign of that gain, weighted by its size. Odd rounds
    take the prices of exponentiated gradient, λ = B exp(θ) / (1 + Σ exp(θ)) with B = 1/bound, θ growing by how
    far each answer breaks a constraint; the others those of the linear programme that mixes all classifiers
    found so far to the least error. Its last solution is Q; where no mixture keeps the constraints, the largest
    breach costs B.

Assumes:
    A base that takes weights. Groups in training only: unseen rows need no sensitive column.

Cost:
    `rounds` fits of the base.

Choices:
    Agarwal et al. 2018 on any base, where `fair-logistic-regression` has its constraint in the method itself;
    the linear programme, as in fairlearn, makes few rounds do. A constraint on answers is kept by drawing lots:
    each row is answered by one classifier drawn from Q, by its cells, so that the same row is answered alike
    each time (`lots: false`: by the weight of those that agree). Of the probabilities that are said, half is
    given to the class that is answered. Of more than two classes the last is held against the rest; a row that
    is to be answered otherwise has the most frequent other class. Groups of fewer than 10 rows are left alone.
    Where no column is sensitive, this is the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from mlcli.core import CLOSE, findings
from mlcli.core.configuration import with_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import Groups, sensitive_groups
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.content_seeds import draws, in_content_order
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.metrics.fairness import FEW
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows

ALL_ROWS, LAST_CLASS, EACH_CLASS = "demographic-parity", "equal-opportunity", "equalised-odds"


@register("exponentiated-gradient", reference="Agarwal et al. 2018, A reductions approach to fair classification")
class ExponentiatedGradient(Classifier):
    """A mixture of classifiers that keeps a criterion."""

    base: Model = model_param("logistic-regression", "the model that learns weighted rows", of=(Classifier,))
    criterion: str = param(
        ALL_ROWS, "which rows are to be answered alike in all groups", choices=(ALL_ROWS, LAST_CLASS, EACH_CLASS)
    )
    bound: float = param(0.02, "how far a group may lie from all rows", gt=0, le=1, tune=(0.01, 0.2))
    rounds: int = param(15, "how many classifiers are tried", ge=1)
    lots: bool = param(True, "whether each row is answered by one classifier that is drawn")
    by: tuple[str, ...] | None = param(
        None, "the columns that make groups together; none: all sensitive ones", if_given=True
    )

    models_: tuple[Model, ...] = learned("models")
    """Those with a share in the mixture."""
    shares_: Array = learned("models")
    labels_: tuple[str, ...] = learned()
    breaches_: Array = learned()
    """How far groups lie from all rows in training (events × groups), of the base alone, then of the mixture."""
    seed_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: the base stands behind the steps that it needs."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Rows have weights."""
        if self.base.accepts.weights:
            return []
        return [f"base: {self.base.name} takes every row alike, and rows are weighed here"]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find classifiers under changing prices, then mix them."""
        data = in_content_order(data)
        groups = sensitive_groups((data.context, data.table), self.by, len(data))
        *round_rngs, seed_rng = rng.spawn(self.rounds + 1)
        self.labels_, self.seed_ = groups.labels, int(seed_rng.integers(2**31))
        if len(groups.labels) < 2 or len(data.classes) < 2:  # nothing to mix
            round_rngs = round_rngs[:1]
        last, weights, base = data.y == len(data.classes) - 1, data.weights, with_steps(self.base, self.columns_)
        events = [last]
        if self.criterion != LAST_CLASS:
            events = [np.ones(len(data), bool)] if self.criterion == ALL_ROWS else [last, ~last]
        models, errors, excesses = list[Model](), list[float](), list[Array]()
        path = np.zeros((2, len(events), len(groups.labels)))
        mixture = ClassifierMixture(np.ones(1), path[0].ravel())
        for number, round_rng in enumerate(round_rngs):
            prices = bounded(path, self.bound) if number % 2 else mixture.prices.reshape(path.shape[1:])
            models.append(fitted(base, self._priced(data, groups, events, prices), round_rng))
            codes = _decided(models[-1], outputs(models[-1], data.table, CLASSIFICATION))
            yes = np.asarray(codes == len(self.classes_) - 1, np.float64)
            errors.append(float(weights @ (yes != last) / weights.sum()))
            excesses.append(breaches(yes, groups, events, weights))
            # the step of exponentiated gradient
            path += 2.0 * np.stack([excesses[-1] - self.bound, -excesses[-1] - self.bound])
            mixture = best_mixture(np.array(errors), np.array(excesses).reshape(len(models), -1), self.bound)
        kept = np.flatnonzero(mixture.shares > 0)
        self.models_, self.shares_ = tuple(models[index] for index in kept), mixture.shares[kept]
        self.breaches_ = np.stack([excesses[0], np.tensordot(mixture.shares, np.array(excesses), 1)])

    def _priced(self, data: LabelledRows, groups: Groups, events: list[Flags], prices: Array) -> LabelledRows:
        """The rows with the class that gains more by these prices, weighted by how much."""
        last = len(data.classes) - 1
        gain = (2.0 * (data.y == last) - 1) * data.weights / data.weights.sum()
        for event, price in zip(events, prices, strict=True):
            event_weights = np.where(event, data.weights, 0.0)
            totals = np.bincount(groups.codes, event_weights, len(groups.labels))
            by_row = np.divide(price, totals, out=np.zeros_like(price), where=totals > 0)[groups.codes]
            gain -= event_weights * (by_row - price[totals > 0].sum() / max(event_weights.sum(), 1e-300))
        # the most frequent of the other classes; itself where it is the only one
        other = int(data.class_totals[:-1].argmax()) if len(data.classes) > 1 else 0
        y = np.where(gain > 0, last, np.where(data.y == last, other, data.y)).astype(np.int32)
        weight = np.abs(gain)
        return replace(data, y=y, weight=weight * data.weights.sum() / weight.sum()) if weight.any() else data

    def predict_proba(self, table: Table) -> Array:
        """Half for the predicted class, half by the probabilities of all classifiers."""
        rows, shares = np.arange(len(table)), np.zeros((len(table), len(self.classes_)))
        votes, drawn = np.zeros_like(shares), np.zeros(len(table), np.int32)
        before, draw = 0.0, draws(table, self.seed_)
        for share, model in zip(self.shares_.tolist(), self.models_, strict=True):
            probabilities = outputs(model, table, CLASSIFICATION)
            codes = _decided(model, probabilities)
            shares += 0.5 * share * probabilities
            votes[rows, codes] += share
            drawn, before = np.where(draw >= before, codes, drawn), before + share
        shares[rows, drawn if self.lots else votes.argmax(axis=1)] += 0.5
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def check_learned(self) -> None:
        """Bases as configured, with a share each."""
        check_members(self.models_, with_steps(self.base, self.columns_), self)
        if len(self.shares_) != len(self.models_) or not np.isclose(self.shares_.sum(), 1):
            raise ValueError("shares that do not fit the classifiers")

    def explain(self) -> findings.Explanation:
        """Differences between groups, of the base and of the mixture, and its shares."""
        if self.criterion == ALL_ROWS:
            events = ["of all rows"]
        else:
            events = [f"of {self.classes_[-1]}", "of others"][: 1 if self.criterion == LAST_CLASS else 2]
        rows = tuple(
            (label, event, float(self.breaches_[0, index, group]), float(self.breaches_[1, index, group]))
            for index, event in enumerate(events)
            for group, label in enumerate(self.labels_)
        )
        title = f"Share predicted {self.classes_[-1]} minus that of all groups, in training"
        shares = tuple((f"classifier {index + 1}", share) for index, share in enumerate(self.shares_.tolist()))
        return (
            findings.Table(title, ("group", "rows", "base alone", "mixture"), rows),
            findings.Table("Mixture", ("classifier", "share"), shares),
        )


@dataclass(frozen=True, eq=False)
class ClassifierMixture:
    """The share of each classifier, and what a unit of each constraint costs: upwards less downwards."""

    shares: Array
    prices: Array


def _decided(model: Model, probabilities: Array) -> Codes:
    return np.asarray(cast(Classifier, model.final).decide(probabilities), np.int32)


def breaches(answers: Array, groups: Groups, events: Sequence[Flags], weights: Array) -> Array:
    """The share answered yes in each group less that of all, among the rows of each event (events × groups).

    A group of fewer than ten rows there says nothing, and breaks nothing.
    """
    result = np.zeros((len(events), len(groups.labels)))
    for index, event in enumerate(events):
        counted = np.where(event, weights, 0.0)
        totals = np.bincount(groups.codes, counted, len(groups.labels))
        yes = np.bincount(groups.codes, counted * answers, len(groups.labels))
        enough = np.bincount(groups.codes[event], minlength=len(groups.labels)) >= FEW
        if totals.sum() > 0:
            overall = yes.sum() / totals.sum()
            result[index] = np.where(enough, yes / np.where(enough, totals, 1.0) - overall, 0.0)
    return result


def best_mixture(errors: Array, excesses: Array, bound: float) -> ClassifierMixture:
    """The mixture of the least error whose breaches (classifiers × constraints) stay within a bound.

    If no mixture stays within it, the largest excess costs 1 / bound for each unit.
    """
    from scipy.optimize import linprog

    both, count = np.vstack([excesses.T, -excesses.T]), excesses.shape[1]
    solution = linprog(
        np.append(errors, 1 / bound),
        A_ub=np.hstack([both, np.full((len(both), 1), -1.0)]),
        b_ub=np.full(len(both), bound),
        A_eq=np.append(np.ones(len(errors)), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    shares = np.where(solution.x[:-1] > CLOSE, solution.x[:-1], 0.0)
    costs = -np.asarray(solution.ineqlin.marginals)
    return ClassifierMixture(shares / shares.sum(), costs[:count] - costs[count:])


def bounded(path: Array, bound: float) -> Array:
    """Prices of exponentiated gradient (upwards, downwards) as one, all together at most 1 / bound."""
    top = max(0.0, float(path.max()))
    grown = np.exp(path - top)
    upward, downward = grown / bound / (np.exp(-top) + grown.sum())
    return np.asarray(upward - downward, np.float64)
