"""ROC, precision and recall, and calibration of each class, from the probabilities that a model gave it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mlcli.core.findings import Curve
from mlcli.core.tables import Array
from mlcli.metrics.threshold_curves import Calibration, ThresholdCounts, calibration, counts_by_threshold
from mlcli.scoring.model_results import ModelResult
from mlcli.tasks.classification import LabelAnswers

Line = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """One class against the rest, by the probabilities that a model gave it in all splits."""

    name: str
    label: str
    counts: ThresholdCounts
    calibration: Calibration
    answered: tuple[float, float, float]
    """The false positive rate, recall and precision of the answers as they were decided."""

    @property
    def roc(self) -> Line:
        """False and true positive rates."""
        return self.counts.fpr, self.counts.recall

    @property
    def precision_recall(self) -> Line:
        """Recalls and precisions."""
        return self.counts.recall, self.counts.precision


def curves_of(model_result: ModelResult, name: str) -> list[ClassCurves]:
    """The curves of the class that is looked for, or of every class where there are more than two."""
    answers = model_result.answers if model_result.done else None
    if not isinstance(answers, LabelAnswers) or answers.probabilities is None:
        return []
    codes = [1] if len(answers.classes) == 2 else range(len(answers.classes))
    counting = answers.truth[answers.weights > 0]
    known = (code for code in codes if 0 < (counting == code).sum() < len(counting))
    return [_curves_of_class(answers, code, name) for code in known]


def curves_as_findings(model_result: ModelResult) -> list[Curve]:
    """The curves of a cell as data, at every threshold."""
    return [curve for of_class in curves_of(model_result, "") for curve in _as_findings(of_class)]


def _curves_of_class(answers: LabelAnswers, code: int, name: str) -> ClassCurves:
    assert answers.probabilities is not None
    scores, positive, weights = answers.probabilities[:, code], answers.truth == code, answers.weights
    counts = counts_by_threshold(scores, positive, weights)
    said = answers.predicted == code
    hits, wrong = float(weights[said & positive].sum()), float(weights[said & ~positive].sum())
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    decided = (wrong / counts.negatives, hits / counts.positives, precision)
    return ClassCurves(name, answers.classes[code], counts, calibration(scores, positive, weights), decided)


def _as_findings(class_curves: ClassCurves) -> Iterator[Curve]:
    thresholds = tuple(
        value if math.isfinite(value) else None for value in class_curves.counts.thresholds.tolist()
    )
    for title, over, upwards, (x, y) in (
        ("ROC", "false positive rate", "true positive rate", class_curves.roc),
        ("precision and recall", "recall", "precision", class_curves.precision_recall),
    ):
        series = ((upwards, tuple(y.tolist())), ("threshold", thresholds))
        yield Curve(f"{title} of {class_curves.label}", over, tuple(x.tolist()), series)
    bins = class_curves.calibration
    series = (("share of rows", tuple(bins.observed.tolist())), ("weight", tuple(bins.weight.tolist())))
    yield Curve(f"calibration of {class_curves.label}", "probability", tuple(bins.predicted.tolist()), series)
