"""Supervised detector: a row is odd when a classifier of known and artificial anomalies says so.

Formula:
    s(x) = P(anomaly | x) of the nested classifier, which learns from good rows (label 0) and anomalies (label 1):
    those that are known, and artificial ones drawn evenly from the box of the good rows, widened by ``margin``.
    ``balance``: the rows of both classes weigh the same in sum, or anomalies are repeated until there are as many.
    Its own threshold is the highest score that finds the share ``recall`` of the anomalies out of fold.

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

from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.configuration import behind_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import fitted, outputs, refuse_other_method
from mlcli.engines.inner_splits import inner_folds
from mlcli.models.anomaly._labelled import CLASSES, LabelledDetector, plain_fields
from mlcli.tasks.anomaly import Detector, ScreenedRows
from mlcli.tasks.classification import Classifier, LabelledRows

BALANCES = ("none", "repeat", "weights")


@register("supervised-detector", reference="Hempstalk, Frank & Witten 2008, One-class classification by combining")
class SupervisedDetector(LabelledDetector, Detector):
    """The probability of being an anomaly."""

    base: Model = model_param("random-forest", "the classifier", of=(Classifier,))
    balance: str = param("repeat", "how the classes are made to count alike", choices=BALANCES)
    folds: int = param(5, "into how many folds rows are dealt to find that threshold", ge=2)

    base_: Any = learned()
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
        known = int((data.labels == 1).sum())
        self.counts_ = np.array([(y == 0).sum(), known, y.sum() - known])
        labelled = LabelledRows(**plain_fields(rows), y=y, classes=CLASSES)
        base = behind_steps(self.base, self.columns_)
        folds = inner_folds(labelled, self.folds, rng)
        said = np.zeros((len(y), 2))
        for fold in np.unique(folds):
            inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if len(inside) and len(np.unique(y[inside])) == 2:
                member = fitted(base, self._balanced(labelled.take(inside)), rng.spawn(1)[0])
                said[outside] = outputs(member, labelled.table.take(outside), Classifier)
        self.limit_ = self.score_reached(said[y == 1, 1])
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
        return np.asarray(outputs(self.base_, table, Classifier)[:, 1])

    def explain(self) -> findings.Explanation:
        """What was learned from, then the classifier."""
        names = ("good rows", "known anomalies", "artificial anomalies")
        rows = tuple(zip(names, self.counts_.tolist(), strict=True))
        return (findings.Table("Learned from", ("rows", "count"), rows), *self.base_.explain())

    def check_learned(self) -> None:
        """A classifier of the kind that was asked for."""
        super().check_learned()
        refuse_other_method(self.base_, self.base)
