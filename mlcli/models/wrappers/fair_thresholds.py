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
from dataclasses import astuple, dataclass

import numpy as np

from mlcli.core.abilities import CountsParameters
from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.findings import Table as Finding
from mlcli.core.groups import Groups, groups_by, sensitive_groups, sensitive_names
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.pipeline import adjustable_parameters
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.content_seeds import draws, in_content_order
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.metrics.fairness import CRITERIA, FEW
from mlcli.metrics.threshold_curves import ThresholdCounts, between, counts_by_threshold
from mlcli.tasks.classification import CLASSIFICATION, Classifier, LabelledRows

# Thresholds by group: the rates that each reaches, and randomising between two of them (Hardt, Price & Srebro
# 2016).
#
# A group that randomises reaches every point between those of its thresholds; only the upper hull of rates and
# accuracy is worth reaching. If two rates must be equal, a group that could do better predicts some rows at
# random.


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """One group: its thresholds with the rates that they give, and the weight of right answers."""

    thresholds: Array
    rates: Array
    """Rates of the criterion × thresholds."""
    right: Array

    @classmethod
    def of(cls, counts: ThresholdCounts, criterion: str) -> GroupThresholds:
        """What the thresholds of a group give."""
        total = counts.positives + counts.negatives
        known = {
            "selected": (counts.true_positives + counts.false_positives) / total,
            "tpr": counts.recall,
            "fpr": counts.fpr,
            "precision": counts.precision,
        }
        rates = np.array([known[name] for name in CRITERIA[criterion]])
        return cls(between(counts.thresholds), rates, counts.accuracy * total)

    def best_near(self, wanted: Array, reach: float) -> tuple[int, float]:
        """The place of the best threshold with rates within reach, else of the nearest; how far it is off."""
        away = np.abs(self.rates - wanted[:, None]).max(axis=0)
        within = away <= max(reach, float(away.min())) + 1e-12
        index = int(np.flatnonzero(within)[self.right[within].argmax()])
        return index, float(away[index])


@dataclass(frozen=True)
class Lots:
    """``first`` is drawn with probability ``share``, else ``second``; of each row, or of all alike."""

    first: float | Array
    second: float | Array
    share: float | Array
    blind: float | Array = 0.0
    """The share of rows answered by the coin, whatever is known of them."""
    coin: float | Array = 0.0

    def answer(self, scores: Array, draw: Array, other_draw: Array) -> Flags:
        """Which rows are answered yes, by two draws for each."""
        by_score = scores >= np.where(draw < self.share, self.first, self.second)
        return np.asarray(np.where(other_draw < self.blind, draw < self.coin, by_score))


@dataclass(frozen=True, eq=False)
class RateCurve:
    """What the thresholds of a group reach: a rate ``x``, and ``y``, the higher the better."""

    thresholds: Array
    x: Array
    y: Array

    def hull(self) -> Rows:
        """The corners of the upper hull, from left to right."""
        order = np.lexsort((-self.y, self.x))
        corners = list[int]()
        for place in order.tolist():
            if corners and self.x[place] == self.x[corners[-1]]:
                continue
            while len(corners) > 1 and not self._bends_down(corners[-2], corners[-1], place):
                corners.pop()
            corners.append(place)
        return np.array(corners)

    def _bends_down(self, index: int, middle: int, other: int) -> bool:
        rise = (self.y[middle] - self.y[index]) * (self.x[other] - self.x[index])
        return bool(rise > (self.y[other] - self.y[index]) * (self.x[middle] - self.x[index]))

    def best_at(self, wanted: Array) -> Array:
        """The highest y at some rates; not a number beyond those that are reached."""
        hull = self.hull()
        return np.interp(wanted, self.x[hull], self.y[hull], left=np.nan, right=np.nan)

    def lots_at(self, wanted: float, lowered: float | None = None) -> Lots:
        """The lots that reach a rate; with ``lowered`` y is brought down to it by a coin of that rate."""
        hull = self.hull()
        right = min(max(int(np.searchsorted(self.x[hull], wanted)), 1), len(hull) - 1)
        left, right = hull[right - 1], hull[min(right, len(hull) - 1)]
        width = self.x[right] - self.x[left]
        share = float((self.x[right] - wanted) / width) if width > 0 else 1.0
        best = float(share * self.y[left] + (1 - share) * self.y[right])
        spare = best - wanted
        blind = 0.0 if lowered is None or spare <= 0 else min(max((best - lowered) / spare, 0.0), 1.0)
        return Lots(float(self.thresholds[left]), float(self.thresholds[right]), share, blind, wanted)


def equal_rates(groups: Sequence[RateCurve], grid: Array) -> tuple[tuple[float, ...], list[Lots]]:
    """The rate at which all groups together reach most, and the lots that bring each to it."""
    total = np.sum([group.best_at(grid) for group in groups], axis=0)
    wanted = float(grid[np.nanargmax(total)])
    return (wanted,), [group.lots_at(wanted) for group in groups]


def equalised_odds(
    groups: Sequence[RateCurve], positives: float, negatives: float, grid: Array
) -> tuple[tuple[float, ...], list[Lots]]:
    """The same where x and y are the false and the true positive rate, and both are to be the same."""
    lowest = np.min([group.best_at(grid) for group in groups], axis=0)
    index = int(np.nanargmax(positives * lowest - negatives * grid))
    x, y = float(grid[index]), float(lowest[index])
    return (y, x), [group.lots_at(x, y) for group in groups]


HALF = 0.5
BELOW_HALF = np.nextafter(HALF, 0.0)
GRID, FINE = np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 1001)
ODDS = "equalised-odds"
NO_LOTS = astuple(Lots(HALF, HALF, 1.0))


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
    """Of each group two thresholds, the share of the first, the share that a coin answers, and the coin's."""
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
        """Fit the base to all rows, and choose thresholds by what it says of rows that were held out."""
        data = in_content_order(data)
        base, (own, inner, dealing, lots) = with_steps(self.base, self.columns_), rng.spawn(4)
        self.model_ = fitted(base, data, own)
        groups = sensitive_groups((data.table,), self.groups, len(data))
        self._refuse_changed(groups, data)
        self.by_columns_, self.labels_ = groups.columns, groups.labels
        self.thresholds_ = np.full(len(groups.labels), HALF)
        self.rates_ = np.full((len(groups.labels), len(CRITERIA[self.by])), np.nan)
        self.lots_ = np.tile(NO_LOTS, (len(groups.labels) if self.lots else 0, 1))
        self.seed_ = int(lots.integers(2**31))
        folds = inner_folds(data, self.folds, dealing)
        if folds.any() and len(data.classes) > 1:
            self._choose(held_out_outputs(base, data, folds, inner)[:, -1], groups, data)

    def _refuse_changed(self, groups: Groups, data: LabelledRows) -> None:
        """Numbers that a step has changed would lie in other bands."""
        if data.context is None or not set(groups.columns) <= set(sensitive_names(data.context)):
            return
        as_they_were = groups_by(data.context, groups.columns)
        if any(not column.coded for column in data.context.columns) and as_they_were.labels != groups.labels:
            what = f"fair-thresholds: a step before it changes what is sensitive: {groups.name}"
            raise FitError(what, hint="say with 'columns' which columns the step is for")

    def _choose(self, shares: Array, groups: Groups, data: LabelledRows) -> None:
        """The thresholds with the most right answers among those that meet a rate."""
        positive = data.y == len(data.classes) - 1
        large = [index for index in range(len(groups.labels)) if _enough(groups.codes == index, positive)]
        choices = []
        for place in large:
            rows = groups.codes == place
            counts = counts_by_threshold(shares[rows], positive[rows], data.weights[rows])
            choices.append(GroupThresholds.of(counts, self.by))
        if not choices:
            return
        if self.lots:
            self._draw_lots(large, choices, data.weights @ positive, data.weights @ ~positive)
            return
        tried = [self._meeting(wanted, choices) for wanted in self._grid()]
        apart = np.array([one[1] for one in tried])
        right = np.array([one[2] for one in tried])
        fair = apart <= max(self.slack / 2, float(apart.min())) + 1e-12
        indices = tried[int(np.flatnonzero(fair)[right[fair].argmax()])][0]
        for group, choice, place in zip(large, choices, indices, strict=True):
            self.thresholds_[group], self.rates_[group] = choice.thresholds[place], choice.rates[:, place]

    def _draw_lots(
        self, large: list[int], choices: list[GroupThresholds], positives: float, others: float
    ) -> None:
        """The lots with the most right answers among those of the same rates."""
        if self.by == ODDS:
            reached = [RateCurve(choice.thresholds, choice.rates[1], choice.rates[0]) for choice in choices]
            rates, lots = equalised_odds(reached, positives, others, FINE)
        else:
            reached = [RateCurve(choice.thresholds, choice.rates[0], choice.right) for choice in choices]
            rates, lots = equal_rates(reached, FINE)
        for group, lot in zip(large, lots, strict=True):
            self.lots_[group], self.rates_[group], self.thresholds_[group] = astuple(lot), rates, lot.first

    def _meeting(self, wanted: Array, choices: list[GroupThresholds]) -> tuple[list[int], float, float]:
        """The places of thresholds near some rates, how far the worst is off, and the weight of right answers."""
        found = [choice.best_near(wanted, self.slack / 2) for choice in choices]
        right = sum(float(choice.right[place]) for choice, (place, _) in zip(choices, found, strict=True))
        return [place for place, _ in found], max(away for _, away in found), right

    def _grid(self) -> Array:
        """Rates to try; of two rates each with each, the true positive rate not below the false."""
        if len(CRITERIA[self.by]) == 1:
            return GRID[:, None]
        coarse = GRID[::4]
        return np.array([(true, false) for true in coarse for false in coarse if true >= false])

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
        t = self._of_groups(table, self.thresholds_, HALF)
        with np.errstate(invalid="ignore", divide="ignore"):
            below = HALF * p / np.where(t > 0, t, 1.0)
            above = HALF + HALF * np.where(t < 1, (p - t) / np.where(t < 1, 1 - t, 1.0), 1.0)
        return np.where(p >= t, np.clip(above, HALF, 1.0), np.clip(below, 0.0, BELOW_HALF))

    def _drawn(self, table: Table, p: Array) -> Array:
        """Probabilities from ½ on where the lots of a row say yes; a row is drawn alike each time."""
        of_groups = zip(self.lots_.T, NO_LOTS, strict=True)
        by_row = Lots(*(self._of_groups(table, values, default) for values, default in of_groups))
        yes = by_row.answer(p, draws(table, self.seed_), draws(table, self.seed_ + 1))
        return np.where(yes, HALF + HALF * p, np.minimum(HALF * p, BELOW_HALF))

    def decide(self, probabilities: Array) -> Codes:
        """The last class from ½ on, else the likeliest of the others."""
        if len(self.classes_) < 2:
            return super().decide(probabilities)
        others = probabilities[:, :-1].argmax(axis=1)
        return np.where(probabilities[:, -1] >= HALF, len(self.classes_) - 1, others).astype(np.int32)

    def _of_groups(self, table: Table, values: Array, default: float) -> Array:
        """What each row's group has; the default where that is unknown."""
        if not self.by_columns_:
            return np.full(len(table), values[0])
        here = groups_by(table, self.by_columns_)
        known = dict(zip(self.labels_, values.tolist(), strict=True))
        return np.array([known.get(label, default) for label in here.labels])[here.codes]

    def check_learned(self) -> None:
        """The base that was asked for, and groups by columns that are there."""
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
        rows = tuple(
            (label, threshold, *(None if rate != rate else rate for rate in rates))
            for label, threshold, rates in lines
        )
        header = ("group", "threshold", *CRITERIA[self.by])
        note = f"Rates on rows held out; none where a group has fewer than {FEW} rows of a class."
        table = Finding(f"Thresholds of {self.classes_[-1]}", header, rows, note=note)
        lots = tuple((label, *one) for label, one in zip(self.labels_, self.lots_.tolist(), strict=False))
        drawn = Finding(
            "Randomised thresholds",
            ("group", "first", "second", "share of the first", "by a coin", "of heads"),
            lots,
        )
        return (table, *((drawn,) if lots else ()), *self.model_.explain())


def _enough(rows: Flags, positive: Flags) -> bool:
    """Whether a group has rows enough of both classes."""
    return bool((rows & positive).sum() >= FEW and (rows & ~positive).sum() >= FEW)
