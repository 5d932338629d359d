"""ROC, precision and recall, and calibration of each class, from the probabilities that a model gave it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlcli.core.findings import Curve
from mlcli.core.tables import Array
from mlcli.metrics.confusion import Calibration, ThresholdCounts, calibration, counts_by_threshold
from mlcli.scoring.model_results import ModelResult
from mlcli.tasks.supervised import LabelAnswers

Line = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """One class against the rest, by the probabilities that a model gave it in all splits."""

    name: str
    label: str
    counts: ThresholdCounts
    calibration: Calibration
    operating_point: tuple[float, float, float]
    """The false positive rate, recall and precision of the predicted classes."""

    @property
    def roc(self) -> Line:
        """False and true positive rates."""
        return self.counts.fpr, self.counts.recall

    @property
    def precision_recall(self) -> Line:
        """Recalls and precisions."""
        return self.counts.recall, self.counts.precision


def curves_of(result: ModelResult, name: str) -> list[ClassCurves]:
    """The curves of the positive class, or of every class where there are more than two."""
    answers = result.answers if result.done else None
    if not isinstance(answers, LabelAnswers) or answers.probabilities is None:
        return []
    curves: list[ClassCurves] = []
    counting = answers.truth[answers.weights > 0]
    for code in [1] if len(answers.classes) == 2 else range(len(answers.classes)):
        if not 0 < (counting == code).sum() < len(counting):
            continue
        scores, positive, weights = answers.probabilities[:, code], answers.truth == code, answers.weights
        counts = counts_by_threshold(scores, positive, weights)
        predicted = answers.predicted == code
        hits, wrong = float(weights[predicted & positive].sum()), float(weights[predicted & ~positive].sum())
        precision = hits / (hits + wrong) if hits + wrong else 1.0
        operating_point = (wrong / counts.negatives, hits / counts.positives, precision)
        bins = calibration(scores, positive, weights)
        curves.append(ClassCurves(name, answers.classes[code], counts, bins, operating_point))
    return curves


def curves_as_findings(result: ModelResult) -> list[Curve]:
    """The curves of a model as data, at every threshold."""
    findings: list[Curve] = []
    for curves in curves_of(result, ""):
        thresholds = tuple(value if math.isfinite(value) else None for value in curves.counts.thresholds.tolist())
        for title, over, upwards, (x, y) in (
            ("ROC", "false positive rate", "true positive rate", curves.roc),
            ("precision and recall", "recall", "precision", curves.precision_recall),
        ):
            series = ((upwards, tuple(y.tolist())), ("threshold", thresholds))
            findings.append(Curve(f"{title} of {curves.label}", over, tuple(x.tolist()), series))
        bins = curves.calibration
        series = (("share of rows", tuple(bins.observed.tolist())), ("weight", tuple(bins.weight.tolist())))
        findings.append(
            Curve(f"calibration of {curves.label}", "probability", tuple(bins.predicted.tolist()), series)
        )
    return findings
