"""Supervised detector: a row is odd when a classifier of known and artificial anomalies says so.

Formula:
    s(x) = P(anomaly | x) of the nested classifier, which learns from good rows (label 0) and anomalies (label 1):
    those that are known, and artificial ones drawn evenly from the box of the good rows, widened by ``margin``.
    ``balance``: the rows of both classes weigh the same in sum, or anomalies are repeated until there are as many.
    Its own threshold is the highest score that finds the share ``recall`` of the anomalies out of fold. If more
    than half of the good rows reach it, the score at which recall less the share of good rows flagged is largest.

Assumes:
    Anomalies to come are like the known ones, or lie where no good rows do. Artificial ones fill a box: in many
    columns they are far from good rows everywhere, and say less of the border.

Cost:
    folds + 1 fits of the classifier on the good rows and as many artificial ones.

Choices:
    Artificial anomalies are drawn where no anomaly is known, one for each good row, unless ``artificial`` says
    how many. Rows whose label is not known count as good, being mostly so. Missing an anomaly costs more than a
    false alarm, so that the threshold is by recall; ``decide`` says otherwise. With the protocol good-only no
    anomaly is learned from; `stratified-k-fold` deals known ones, too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from mlcli.core import CLOSE, CLOSE_DECIMALS, findings
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.inner_validation import inner_folds, parts_of_folds
from mlcli.tasks.anomaly import ANOMALY, Detector, ScreenedRows
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows


@dataclass(kw_only=True, eq=False)
class LabelledDetector(Detector):
    """Learns from good rows and anomalies; where none is known, from artificial ones."""

    learns_labels = True

    artificial: float | None = param(
        None, "artificial anomalies for each good row; none: 1 where no anomaly is known, else 0", ge=0, le=100
    )
    margin: float = param(0.1, "how far they lie beyond the good rows at most, as a share of their range", ge=0)

    recall: float = param(0.9, "the share of anomalies that its own threshold finds", gt=0, le=1)

    limit_: float = learned()
    """The score from which on a row is flagged."""
    recall_: float = learned()
    """The share of the anomalies that reach it."""

    def own_limit(self) -> tuple[float, str]:
        """The threshold that finds enough anomalies, or as many as good rows allow."""
        finds = f"{100 * self.recall:g} % of the anomalies that were learned from"
        words = f"it finds {finds}"
        if self.recall_ < self.recall * (1 - CLOSE):
            words = f"it finds fewer than {finds}, since more would flag most good rows"
        return float(np.nextafter(self.limit_, -np.inf)), words

    def learn_limit(self, scores: Array, y: Codes) -> None:
        """The threshold with the requested recall, or the best one if that would flag most good rows."""
        good, odd = np.sort(scores[y == 0]), np.sort(scores[y == 1])
        by_recall = float(odd[int((1 - self.recall) * len(odd) + CLOSE)])
        self.limit_ = by_recall
        if np.mean(good >= by_recall) > 0.5:
            thresholds = np.append(odd, np.nextafter(scores.max(), np.inf))[::-1]  # of equals the highest
            below_good, below_odd = (np.searchsorted(part, thresholds) / len(part) for part in (good, odd))
            best = np.argmax(np.round(below_good - below_odd, CLOSE_DECIMALS))
            self.limit_ = float(thresholds[best])
            finds = f"finds {100 * self.recall:g} % of the anomalies"
            if self.limit_ > by_recall:
                text = (
                    f"a threshold that {finds} would flag most good rows; recall less the share of good rows "
                    "flagged is largest at the one taken"
                )
            else:
                text = f"the threshold {finds} and flags most good rows; no higher one separates them better"
            warnings.warn(f"{text}; 'decide' chooses another", MlcliWarning, stacklevel=3)
        self.recall_ = float(np.mean(odd >= self.limit_))

    def labelled(self, data: ScreenedRows, rng: np.random.Generator) -> tuple[ScreenedRows, Codes]:
        """Rows with the artificial ones behind them, and which are anomalies; unlabelled rows count as good."""
        y = (data.labels == ANOMALY).astype(np.int32)
        share = (0.0 if y.any() else 1.0) if self.artificial is None else self.artificial
        good = data.table.take(np.flatnonzero(y == 0))
        if not len(good):
            raise FitError(f"{self.id} needs rows that are no anomalies")
        table = artificial_rows(good, max(1, round(share * len(good))) if share else 0, self.margin, rng)
        if not y.any() and not len(table):
            raise FitError(f"{self.id}: no row is known to be an anomaly", hint="artificial: 1 draws some")
        y = np.concatenate([y, np.ones(len(table), np.int32)])
        weight = None if data.weight is None else np.concatenate([data.weight, np.ones(len(table))])
        joined = replace(
            data,
            table=data.table.joined(table),
            rows=np.concatenate([data.rows, np.arange(len(table)) + data.rows.max() + 1]),
            labels=y,
            weight=weight,
            groups=None,
            context=None,
            order=None,
            part=None,
            sequence=None,
        )
        return joined, y


def artificial_rows(good: Table, count: int, margin: float, rng: np.random.Generator) -> Table:
    """Rows drawn evenly from the box of the good rows, widened on each side; levels drawn evenly."""
    present = np.isfinite(good.numbers)
    low = np.where(present, good.numbers, np.inf).min(axis=0, initial=np.inf)
    high = np.where(present, good.numbers, -np.inf).max(axis=0, initial=-np.inf)
    empty = low > high
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    beyond = margin * (high - low)
    numbers = rng.uniform(low - beyond, high + beyond, (count, good.numbers.shape[1]))
    levels = [rng.integers(0, max(1, len(column.levels)), count) for column in good.code_columns]
    codes = np.column_stack(levels).astype(np.int32) if levels else np.empty((count, 0), np.int32)
    return Table(good.columns, numbers, codes)


class PlainFields(TypedDict):
    """What rows of any kind have in common."""

    table: Table
    rows: Rows
    target: str
    weight: Array | None


def plain_fields(data: ScreenedRows) -> PlainFields:
    """The table, row numbers and weights of rows, for rows of another kind."""
    return {"table": data.table, "rows": data.rows, "target": "anomaly", "weight": data.weight}


@register(
    "supervised-detector",
    reference="Hempstalk, Frank & Witten 2008, One-class classification by combining",
    revision=2,
)
class SupervisedDetector(LabelledDetector, Detector):
    """The probability of being an anomaly."""

    base: Model = model_param("random-forest", "the classifier", of=(Classifier,))
    balance: str = param(
        "repeat", "how the classes are made to count alike", choices=("none", "repeat", "weights")
    )
    folds: int = param(5, "how many folds the rows are split into to find that threshold", ge=2)

    base_: Model = learned(model="base")
    counts_: Array = learned(3)
    """Good rows, known anomalies, and artificial ones."""

    @property
    def accepts(self) -> Accepts:
        """Anything: the classifier stands behind the steps that it needs."""
        return Accepts(nominal=True, missing=True)

    def conflicts(self) -> list[str]:
        """Weights for a classifier that takes none."""
        if self.balance == "weights" and not self.base.accepts.weights:
            return [f"balance: weights, and {self.base.final.id} takes every row alike; 'repeat' repeats rows"]
        return []

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Draw anomalies, let the classifier learn, and find the threshold out of fold."""
        rows, y = self.labelled(data, rng)
        labelled_count = int((data.labels == ANOMALY).sum())
        self.counts_ = np.array([(y == 0).sum(), labelled_count, y.sum() - labelled_count])
        labelled = LabelledRows(**plain_fields(rows), y=y, classes=("good", "anomaly"))
        base = with_steps(self.base, self.columns_)
        probabilities = np.zeros((len(y), 2))
        for train, test in parts_of_folds(inner_folds(labelled, self.folds, rng)):
            if len(np.unique(y[train])) == 2:
                member = fitted(base, self._balanced(labelled.take(train)), rng.spawn(1)[0])
                probabilities[test] = outputs(member, labelled.table.take(test), CLASSIFICATION)
        self.learn_limit(probabilities[:, 1], y)
        self.base_ = fitted(base, self._balanced(labelled), rng.spawn(1)[0])

    def _balanced(self, data: LabelledRows) -> LabelledRows:
        """Rows of both classes that count alike."""
        totals = data.class_totals
        if self.balance == "none" or not totals.all():
            return data
        if self.balance == "weights":
            return replace(data, weight=data.weights * (totals.sum() / (2 * totals))[data.y])
        times = np.maximum(1, np.rint(totals.max() / totals)).astype(np.intp)[data.y]
        return data.take(np.repeat(np.arange(len(data)), times))

    def score_rows(self, table: Table) -> Array:
        """The probability of an anomaly."""
        return np.asarray(outputs(self.base_, table, CLASSIFICATION)[:, 1])

    def explain(self) -> findings.Explanation:
        """What was learned from, then the classifier."""
        names = ("good rows", "known anomalies", "artificial anomalies")
        rows = tuple(zip(names, self.counts_.tolist(), strict=True))
        return (findings.Table("Training rows", ("rows", "count"), rows), *self.base_.explain())
