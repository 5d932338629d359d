"""Fair thresholds: answers the last class from a threshold of its probability that each group has for itself.

Formula:
    The training rows are dealt into folds, and each row gets the probability p that the base gives it after
    learning from the other folds. In group a it is answered with the last class where p ≥ t_a. For every rate r of
    a grid, each group gets the threshold of the most right answers among those at which its rate lies within
    slack/2 of r; the r with the most right answers of all groups wins. The rate is the share selected (demographic
    parity), the true positive rate (equal opportunity), both the true and the false positive rate (equalised
    odds), or the precision (predictive parity).

Assumes:
    That the group may be asked for where answers are given, and be treated unlike: in many places the law forbids
    it. Probabilities that rank the rows of each group well.

Cost:
    folds + 1 fits of the base.

Choices:
    The base does not see the sensitive columns; only the thresholds do. Each row has one certain answer, and rates
    agree up to `slack` on rows held out. With `lots` they agree exactly there, as in Hardt et al.: each row draws
    one of two thresholds of its group, and for equalised odds a group that could do better answers some rows by a
    coin. What is drawn follows from the cells of the row, so that it is answered alike each time. What is
    answered with probability ½ or more is answered, so the probabilities that are said are bent at the threshold:
    p/(2t) below it, ½ + (p − t)/(2(1 − t)) from it on; ranks within a group stay (with `lots`, p/2 and ½ + p/2). A
    group with fewer than 10 rows of a class, or that was not there in training, gets the threshold ½. Of more than
    two classes the last has thresholds against the rest, and where they are not reached the likeliest of the
    others is answered. Where no column is sensitive, everybody is one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import NamedTuple

import numpy as np

from mlcli.core import ROUNDING
from mlcli.core.abilities import CountsParameters
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.findings import Table as Finding
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.pipeline import adjustable_parameters
from mlcli.core.registry import register
from mlcli.core.rows import Groups, groups_by, sensitive_groups, sensitive_names
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.content_seeds import draws, in_content_order
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.metrics.confusion import ThresholdCounts, between, counts_by_threshold
from mlcli.metrics.fairness import CRITERIA, FEW
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows


class Lots(NamedTuple):
    """``first`` is drawn with probability ``share``, else ``second``."""

    first: float
    second: float
    share: float
    blind: float = 0.0
    """The share of rows answered by a coin, whatever their probability."""
    coin: float = 0.0
    """How often the coin says yes."""


NO_LOTS = Lots(0.5, 0.5, 1.0)
BELOW_HALF = np.nextafter(0.5, 0.0)


@register("fair-thresholds", reference="Hardt, Price & Srebro 2016, Equality of opportunity")
class FairThresholds(Classifier, CountsParameters):
    """A classifier with a threshold for each group."""

    base: Model = model_param("logistic-regression", "the model that gives the probabilities", of=(Classifier,))
    by: str = param("demographic-parity", "the rate that all groups are to have", choices=CRITERIA)
    slack: float = param(
        0.02, "how far apart the rates may lie on rows held out", ge=0, le=1, matters_when={"lots": False}
    )
    groups: tuple[str, ...] | None = param(
        None, "the columns that make groups together; none: all sensitive ones", if_given=True
    )
    lots: bool = param(
        False, "whether lots are drawn between two thresholds, which makes rates the same", if_given=True
    )
    folds: int = param(5, "how many folds the training rows are split into to choose thresholds", ge=2)

    model_: Model = learned()
    by_columns_: tuple[str, ...] = learned()
    labels_: tuple[str, ...] = learned("groups")
    thresholds_: Array = learned("groups")
    rates_: Array = learned("groups", "rates")
    """The rates of groups on rows held out (groups × rates); NaN of a group with too few rows."""
    lots_: Array = learned()
    """The ``Lots`` of each group (groups × 5), if they are drawn."""
    seed_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: the base stands behind the steps that it needs, and does not see what is sensitive."""
        return Accepts(nominal=True, missing=True, weights=self.base.accepts.weights, sensitive=True)

    def conflicts(self) -> list[str]:
        """Precision does not mix: lots would not make it the same."""
        wrong = self.lots and self.by == "predictive-parity"
        return ["lots make shares and rates of answers the same, not precision"] if wrong else []

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Fit the base to all rows, and choose thresholds by its probabilities for held-out rows."""
        data = in_content_order(data)
        base = with_steps(self.base, self.columns_)
        base_rng, folds_rng, dealing_rng, lots_rng = rng.spawn(4)
        self.model_ = fitted(base, data, base_rng)
        groups = sensitive_groups((data.table,), self.groups, len(data))
        _refuse_changed_groups(groups, data)
        count = len(groups.labels)
        self.by_columns_, self.labels_ = groups.columns, groups.labels
        self.thresholds_ = np.full(count, 0.5)
        self.rates_ = np.full((count, len(CRITERIA[self.by])), np.nan)
        self.lots_ = np.tile(NO_LOTS, (count if self.lots else 0, 1))
        self.seed_ = int(lots_rng.integers(2**31))
        folds = inner_folds(data, self.folds, dealing_rng)
        if folds.any() and len(data.classes) > 1:
            self._choose(held_out_outputs(base, data, folds, folds_rng)[:, -1], groups, data)

    def _choose(self, probabilities: Array, groups: Groups, data: LabelledRows) -> None:
        """The thresholds of all groups that have enough rows of both classes."""
        positive = data.y == len(data.classes) - 1
        large, choices = list[int](), list[GroupThresholds]()
        for index in range(len(groups.labels)):
            rows = groups.codes == index
            if min((rows & positive).sum(), (rows & ~positive).sum()) >= FEW:
                counts = counts_by_threshold(probabilities[rows], positive[rows], data.weights[rows])
                large.append(index)
                choices.append(GroupThresholds.of(counts, self.by))
        if not choices:
            return
        if not self.lots:
            indices = best_thresholds(choices, self.slack)
            for group, choice, index in zip(large, choices, indices, strict=True):
                self.thresholds_[group], self.rates_[group] = choice.thresholds[index], choice.rates[:, index]
            return
        if self.by == "equalised-odds":
            curves = [RateCurve(choice.thresholds, choice.rates[1], choice.rates[0]) for choice in choices]
            rates, lots = equalised_odds(curves, data.weights @ positive, data.weights @ ~positive)
        else:
            curves = [RateCurve(choice.thresholds, choice.rates[0], choice.right) for choice in choices]
            rates, lots = equal_rates(curves)
        for group, lot in zip(large, lots, strict=True):
            self.lots_[group], self.rates_[group], self.thresholds_[group] = lot, rates, lot.first

    def predict_proba(self, table: Table) -> Array:
        """The probabilities of the base, bent so that each group's threshold lies at ½."""
        plain = outputs(self.model_, table, CLASSIFICATION)
        if len(self.classes_) < 2:
            return plain
        bent = (self._drawn if self.lots else self._bent)(table, plain[:, -1])
        others = plain[:, :-1]
        total = others.sum(axis=1, keepdims=True)
        shares = np.where(total > 0, others / np.where(total > 0, total, 1.0), 1 / others.shape[1])
        return np.column_stack([(1 - bent)[:, None] * shares, bent])

    def _bent(self, table: Table, p: Array) -> Array:
        """Probabilities with the threshold of each row at ½."""
        t = self._by_row(table, self.thresholds_, 0.5)
        with np.errstate(invalid="ignore", divide="ignore"):
            below = 0.5 * p / np.where(t > 0, t, 1.0)
            above = 0.5 + 0.5 * np.where(t < 1, (p - t) / np.where(t < 1, 1 - t, 1.0), 1.0)
        return np.where(p >= t, np.clip(above, 0.5, 1.0), np.clip(below, 0.0, BELOW_HALF))

    def _drawn(self, table: Table, p: Array) -> Array:
        """Probabilities from ½ on where the lots of a row say yes; the same row draws the same lots each time."""
        first, second, share, blind, coin = (
            self._by_row(table, values, default) for values, default in zip(self.lots_.T, NO_LOTS, strict=True)
        )
        draw, other_draw = draws(table, self.seed_), draws(table, self.seed_ + 1)
        by_threshold = p >= np.where(draw < share, first, second)
        yes = np.where(other_draw < blind, draw < coin, by_threshold)
        return np.where(yes, 0.5 + 0.5 * p, np.minimum(0.5 * p, BELOW_HALF))

    def _by_row(self, table: Table, values: Array, default: float) -> Array:
        """The value of each row's group; the default for an unknown group."""
        if not self.by_columns_:
            return np.full(len(table), values[0])
        groups = groups_by(table, self.by_columns_)
        by_label = dict(zip(self.labels_, values.tolist(), strict=True))
        return np.array([by_label.get(label, default) for label in groups.labels])[groups.codes]

    def decide(self, probabilities: Array) -> Codes:
        """The last class from ½ on, else the likeliest of the others."""
        if len(self.classes_) < 2:
            return super().decide(probabilities)
        others = probabilities[:, :-1].argmax(axis=1)
        return np.where(probabilities[:, -1] >= 0.5, len(self.classes_) - 1, others).astype(np.int32)

    def check_learned(self) -> None:
        """The base as configured, and groups by columns that exist."""
        check_members((self.model_,), with_steps(self.base, self.columns_), self)
        if self.lots_.shape != (len(self.labels_) * self.lots, len(NO_LOTS)) or not np.isfinite(self.lots_).all():
            raise ValueError("lots that do not fit the groups")
        if not set(self.by_columns_) <= {column.name for column in self.columns_ if column.groups}:
            raise ValueError("groups by columns that are not there")

    def adjustable_parameters(self, table: Table) -> float | None:
        """Those of the base."""
        return adjustable_parameters(self.model_, table)

    def explain(self) -> Explanation:
        """The threshold of each group, then what the base says of itself."""
        lines = zip(self.labels_, self.thresholds_.tolist(), self.rates_.tolist(), strict=True)
        thresholds = Finding(
            f"Thresholds of {self.classes_[-1]}",
            ("group", "threshold", *CRITERIA[self.by]),
            tuple(
                (label, value, *(None if isnan(rate) else rate for rate in rates)) for label, value, rates in lines
            ),
            note=f"Rates on rows held out; none where a group has fewer than {FEW} rows of a class.",
        )
        if not len(self.lots_):
            return thresholds, *self.model_.explain()
        lots = Finding(
            "Randomised thresholds",
            ("group", "first", "second", "share of the first", "by a coin", "of heads"),
            tuple((label, *line) for label, line in zip(self.labels_, self.lots_.tolist(), strict=True)),
        )
        return thresholds, lots, *self.model_.explain()


def _refuse_changed_groups(groups: Groups, data: LabelledRows) -> None:
    """Refuse sensitive numbers that a step has changed, since they would lie in other bands."""
    if data.context is None or not set(groups.columns) <= set(sensitive_names(data.context)):
        return
    before = groups_by(data.context, groups.columns)
    if any(not column.coded for column in data.context.columns) and before.labels != groups.labels:
        problem = f"fair-thresholds: a step before it changes what is sensitive: {groups.name}"
        raise FitError(problem, hint="say with 'columns' which columns the step is for")


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """One group: its thresholds with the rates that they give, and the weight of right answers."""

    thresholds: Array
    rates: Array
    """Rates of the criterion × thresholds."""
    right: Array

    @classmethod
    def of(cls, counts: ThresholdCounts, criterion: str) -> GroupThresholds:
        """The thresholds of a group."""
        total = counts.positives + counts.negatives
        rates = {
            "selected": (counts.true_positives + counts.false_positives) / total,
            "tpr": counts.recall,
            "fpr": counts.fpr,
            "precision": counts.precision,
        }
        return cls(
            between(counts.thresholds),
            np.array([rates[name] for name in CRITERIA[criterion]]),
            counts.accuracy * total,
        )

    def best_near(self, target: Array, reach: float) -> tuple[int, float]:
        """The index of the best threshold with rates within reach, else of the nearest; how far it is off."""
        distances = np.abs(self.rates - target[:, None]).max(axis=0)
        within = distances <= max(reach, float(distances.min())) + ROUNDING
        index = int(np.flatnonzero(within)[self.right[within].argmax()])
        return index, float(distances[index])


def best_thresholds(groups: Sequence[GroupThresholds], slack: float) -> list[int]:
    """The indices of the thresholds with the most right answers, among those at which all groups meet a rate.

    A grid of rates is tried; of two rates each with each, the true positive rate not below the false one.
    """
    grid = np.linspace(0.0, 1.0, 101)
    targets = grid[:, None]
    if len(groups[0].rates) == 2:
        targets = np.array([(tpr, fpr) for tpr in grid[::4] for fpr in grid[::4] if tpr >= fpr])
    tried, distances, right = list[list[int]](), list[float](), list[float]()
    for target in targets:
        nearest = [group.best_near(target, slack / 2) for group in groups]
        tried.append([index for index, _ in nearest])
        distances.append(max(distance for _, distance in nearest))
        right.append(sum(float(group.right[index]) for group, (index, _) in zip(groups, nearest, strict=True)))
    fair = np.array(distances) <= max(slack / 2, min(distances)) + ROUNDING
    return tried[int(np.flatnonzero(fair)[np.array(right)[fair].argmax()])]


@dataclass(frozen=True, eq=False)
class RateCurve:
    """What the thresholds of a group reach: a rate ``x``, and ``y``, the higher the better.

    A group that draws lots between two thresholds reaches every point between theirs, so only the upper hull
    matters (Hardt, Price & Srebro 2016).
    """

    thresholds: Array
    x: Array
    y: Array

    @cached_property
    def hull(self) -> Rows:
        """The corners of the upper hull, from left to right."""
        x, y = self.x, self.y
        corners = list[int]()
        for index in np.lexsort((-y, x)).tolist():
            if corners and x[index] == x[corners[-1]]:
                continue
            while len(corners) > 1:
                first, middle = corners[-2:]
                if (y[middle] - y[first]) * (x[index] - x[first]) > (y[index] - y[first]) * (x[middle] - x[first]):
                    break
                corners.pop()  # it lies on or below the line from the corner before it
            corners.append(index)
        return np.array(corners)

    def best_at(self, rates: Array) -> Array:
        """The highest y at some rates; NaN beyond those that are reached."""
        return np.interp(rates, self.x[self.hull], self.y[self.hull], left=np.nan, right=np.nan)

    def lots_at(self, rate: float, lowered: float | None = None) -> Lots:
        """The lots that reach a rate; with ``lowered`` y is brought down to it by a coin of that rate."""
        hull = self.hull
        corner = min(max(int(np.searchsorted(self.x[hull], rate)), 1), len(hull) - 1)
        left, right = hull[corner - 1], hull[corner]
        width = self.x[right] - self.x[left]
        share = float((self.x[right] - rate) / width) if width > 0 else 1.0
        best = float(share * self.y[left] + (1 - share) * self.y[right])
        blind = 0.0
        if lowered is not None and best > rate:
            blind = min(max((best - lowered) / (best - rate), 0.0), 1.0)
        return Lots(float(self.thresholds[left]), float(self.thresholds[right]), share, blind, rate)


def equal_rates(groups: Sequence[RateCurve]) -> tuple[tuple[float, ...], list[Lots]]:
    """The rate at which all groups together reach most, and the lots that bring each to it."""
    grid = np.linspace(0.0, 1.0, 1001)
    total = np.sum([group.best_at(grid) for group in groups], axis=0)
    rate = float(grid[np.nanargmax(total)])
    return (rate,), [group.lots_at(rate) for group in groups]


def equalised_odds(
    groups: Sequence[RateCurve], positives: float, negatives: float
) -> tuple[tuple[float, ...], list[Lots]]:
    """The same for x and y, the false and the true positive rate, which are both to be the same."""
    grid = np.linspace(0.0, 1.0, 1001)
    lowest = np.min([group.best_at(grid) for group in groups], axis=0)
    index = int(np.nanargmax(positives * lowest - negatives * grid))
    fpr, tpr = float(grid[index]), float(lowest[index])
    return (tpr, fpr), [group.lots_at(fpr, tpr) for group in groups]
