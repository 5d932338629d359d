"""Curves of probabilities: ROC, precision and recall, calibration, of each class that is looked for.

In text they are planes of points, one for all models where there are two classes, else one for each model with all
classes; for scripts they are curves at every threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.findings import Curve, Points
from mlcli.core.tables import Array
from mlcli.metrics.threshold_curves import Calibration, ThresholdCounts, calibration, counts_by_threshold
from mlcli.report.document import Element, Heading, grid_of_numbers, notes
from mlcli.report.numbers import fixed
from mlcli.report.scoring.scored import Group, Scored
from mlcli.tasks.classification import LabelAnswers

DENSE = 120
"""Points by which a line is drawn."""
CHANCE, RIGHT, DECIDED = "chance", "perfect calibration", "operating point"
READING = {
    "roc": (
        "from below left to above right the threshold falls; the farther above 'chance', the better are "
        "classes told apart"
    ),
    "recall": "from the left to the right the threshold falls; precision: of the rows answered with the class",
    "calibration": "rows in ten bins of the probability: its mean, and how many of them are of the class",
}
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


def curves_of(one: Scored, name: str) -> list[ClassCurves]:
    """The curves of the class that is looked for, or of every class where there are more than two."""
    answers = one.answers if one.done else None
    if not isinstance(answers, LabelAnswers) or answers.probabilities is None:
        return []
    codes = [1] if len(answers.classes) == 2 else range(len(answers.classes))
    counting = answers.truth[answers.weights > 0]
    known = (code for code in codes if 0 < (counting == code).sum() < len(counting))
    return [_curves_of_class(answers, code, name) for code in known]


def probability_pictures(group: Group) -> Iterator[Element]:
    """The planes of all models together, or of each where there are several classes."""
    found = [curves for one, name in group.items() if (curves := curves_of(one, name))]
    if found and all(len(curves) == 1 for curves in found):
        yield from _curve_elements(f"class {found[0][0].label}", {curves[0].name: curves[0] for curves in found})
        return
    for several in found:
        yield from _curve_elements(several[0].name, {one.label: one for one in several})


def curves_as_findings(one: Scored) -> list[Curve]:
    """The curves of a cell as data, at every threshold."""
    return [curve for of_class in curves_of(one, "") for curve in _as_findings(of_class)]


def _curves_of_class(answers: LabelAnswers, code: int, name: str) -> ClassCurves:
    assert answers.probabilities is not None
    scores, positive, weights = answers.probabilities[:, code], answers.truth == code, answers.weights
    counts = counts_by_threshold(scores, positive, weights)
    said = answers.predicted == code
    hits, wrong = float(weights[said & positive].sum()), float(weights[said & ~positive].sum())
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    decided = (wrong / counts.negatives, hits / counts.positives, precision)
    return ClassCurves(name, answers.classes[code], counts, calibration(scores, positive, weights), decided)


def _curve_elements(title: str, lines: Mapping[str, ClassCurves]) -> Iterator[Element]:
    ends = np.array([0.0, 1.0])
    yield Heading(f"ROC, {title}")
    roc = {name: one.roc for name, one in lines.items()}
    operating = [one.answered[:2] for one in lines.values()]
    yield _curve_points("false positive rate", "true positive rate", {CHANCE: (ends, ends), **roc}, operating)
    yield notes(READING["roc"])
    share = [one.counts.positives / (one.counts.positives + one.counts.negatives) for one in lines.values()]
    yield Heading(f"Precision and recall, {title}")
    found = {name: one.precision_recall for name, one in lines.items()}
    operating = [one.answered[1:] for one in lines.values()]
    yield _curve_points("recall", "precision", {CHANCE: (ends, np.full(2, share[0])), **found}, operating)
    yield notes(READING["recall"])
    yield Heading(f"Calibration, {title}")
    bins = {name: (one.calibration.predicted, one.calibration.observed) for name, one in lines.items()}
    yield _curve_points("probability", "share of rows", {RIGHT: (ends, ends)}, points=bins)
    errors = ([name, fixed(one.calibration.expected_error, 3)] for name, one in lines.items())
    yield grid_of_numbers(["", "expected calibration error"], errors)
    yield notes(READING["calibration"])


def _curve_points(
    across: str,
    upwards: str,
    lines: Mapping[str, Line],
    decided: Sequence[tuple[float, ...]] = (),
    points: Mapping[str, Line] | None = None,
) -> Points:
    """Lines as points that lie close together, then points alone."""
    groups = {name: _interpolated(*line) for name, line in lines.items()} | dict(points or {})
    found = [(name, tuple(zip(x.tolist(), y.tolist(), strict=True))) for name, (x, y) in groups.items()]
    if decided:
        found.append((DECIDED, tuple((one[0], one[1]) for one in decided)))
    return Points("", across, upwards, tuple(found), tuple(lines))


def _interpolated(x: Array, y: Array) -> Line:
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0.0, along[-1], DENSE)
    return np.interp(at, along, x), np.interp(at, along, y)


def _as_findings(one: ClassCurves) -> Iterator[Curve]:
    thresholds = tuple(value if math.isfinite(value) else None for value in one.counts.thresholds.tolist())
    for title, over, upwards, (x, y) in (
        ("ROC", "false positive rate", "true positive rate", one.roc),
        ("precision and recall", "recall", "precision", one.precision_recall),
    ):
        series = ((upwards, tuple(y.tolist())), ("threshold", thresholds))
        yield Curve(f"{title} of {one.label}", over, tuple(x.tolist()), series)
    bins = one.calibration
    series = (("share of rows", tuple(bins.observed.tolist())), ("weight", tuple(bins.weight.tolist())))
    yield Curve(f"calibration of {one.label}", "probability", tuple(bins.predicted.tolist()), series)
