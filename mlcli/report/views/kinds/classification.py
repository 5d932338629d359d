"""Confusion matrices, rates of classes, and curves of probabilities: ROC, precision and recall, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.findings import Confusions, Points
from mlcli.core.tables import Array
from mlcli.report.document import (
    Content,
    Element,
    Grid,
    GridCell,
    Heading,
    Style,
    grid,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import UNIT_DECIMALS, fixed, rate_text, share, short
from mlcli.scoring.class_curves import ClassCurves, Line, curves_of
from mlcli.scoring.model_results import Group

if TYPE_CHECKING:
    from mlcli.metrics.confusion import Confusion
    from mlcli.metrics.scores.labels import ClassRates

Counts = Sequence[Sequence[float]]
MOST_CLASSES = 12
MOST_CONFUSIONS = 10
LONGEST_TITLES = 100
"""Names of classes that are longer together than this would cut the matrix into pieces."""
MATRIX_LEGEND = (
    "rows: true class; columns: predicted class; counts with their share of the row (on the diagonal: recall)"
)
REPEATS_LEGEND = "; a row counts each time it is predicted"
RATES = ("precision", "recall", "f1", "specificity", "fpr", "fnr")
COUNTS = {"TP": "true_positives", "FP": "false_positives", "FN": "false_negatives", "TN": "true_negatives"}
RATES_LEGEND = (
    "each class against the rest: rows: of the class; predicted: as the class; lean: share of the predictions "
    "minus share of the rows; 0/0: there is no such row"
)


def confusion_of(
    title: str, matrix: Confusion, rates: Sequence[ClassRates], counted_as: str = "rows", every: bool = True
) -> tuple[Element, ...]:
    """One matrix under its title; of many classes the largest confusions, and a list of ``every`` class."""
    labels, counts = matrix.labels, matrix.counts.tolist()
    if len(labels) <= MOST_CLASSES:
        return Heading(title), _matrix(labels, counts, rates, counted_as)
    largest = _largest_confusions(labels, counts)
    shown = [largest] if largest.rows else []
    whole = [Confusions("", labels, tuple(map(tuple, counts)))] if every or not shown else []
    return Heading(title), *shown, *whole


def rates_of(rates: Sequence[ClassRates], counted_as: str = "rows") -> Grid:
    """Every class against the rest."""
    titles = ["class", *RATES, counted_as, "predicted", *COUNTS, "lean"]
    rows = []
    for rate in rates:
        shares = (rate_text(getattr(rate, name)) for name in RATES)
        counts = (short(getattr(rate, name)) for name in ("support", "predicted", *COUNTS.values()))
        rows.append([rate.label, *shares, *counts, f"{rate.lean:+.{UNIT_DECIMALS}f}"])
    return grid_of_numbers(titles, rows)


def _matrix(labels: Sequence[str], counts: Counts, rates: Sequence[ClassRates], counted_as: str) -> Grid:
    names, titles = _row_and_column_names(labels)
    rows: list[list[Content]] = [
        [name, *_count_cells(row, index), short(sum(row)), rate_text(of_class.precision), rate_text(of_class.f1)]
        for index, (name, row, of_class) in enumerate(zip(names, counts, rates, strict=True))
    ]
    return grid_of_numbers(["true \\ predicted", *titles, counted_as, "precision", "f1"], rows)


def _row_and_column_names(labels: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of rows and columns; columns of long names are numbered, and the rows say the numbers."""
    if sum(map(len, labels)) <= LONGEST_TITLES:
        return labels, labels
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    return [f"{number} {label}" for number, label in zip(numbers, labels, strict=True)], numbers


def _count_cells(row: Sequence[float], true: int) -> Iterator[GridCell]:
    """Each count with its share, as wide as the widest; none beside a count of zero, which says enough."""
    total = sum(row)
    for index, count in enumerate(row):
        style: Style = "best" if index == true else "bad" if count else "weak"
        percent = f"({share(count, total)})" if count else ""
        yield GridCell(f"{short(count)} {percent:>7}", style, shade=count / total if total else 0.0)


def _largest_confusions(labels: Sequence[str], counts: Counts) -> Grid:
    results = [(-count, true, at) for true, row in enumerate(counts) for at, count in enumerate(row) if at != true]
    rows: list[list[Content]] = [
        [strong(labels[true]), labels[index], short(-count), share(-count, sum(counts[true]))]
        for count, true, index in sorted(results)[:MOST_CONFUSIONS]
        if count
    ]
    return grid(["true class", "taken for", "rows", "share"], rows, right=(2, 3), keys=2)


DENSE = 120
"""Points by which a line is drawn."""
CHANCE, RIGHT, DECIDED = "chance", "perfect calibration", "operating point"
CURVE_LEGENDS = {
    "roc": (
        "the threshold falls from the lower left to the upper right; the farther above 'chance', the better the "
        "model separates the classes"
    ),
    "recall": "the threshold falls from left to right; precision: of the rows predicted as the class",
    "calibration": (
        "rows in ten bins of the predicted probability: its mean, and the share of the rows that are of the class"
    ),
}


def probability_pictures(group: Group) -> Iterator[Element]:
    """The planes of all models together, or of each where there are several classes."""
    class_curveses = [curves for result, name in group.items() if (curves := curves_of(result, name))]
    if class_curveses and all(len(curves) == 1 for curves in class_curveses):
        yield from _curve_elements(
            f"class {class_curveses[0][0].label}", {curves[0].name: curves[0] for curves in class_curveses}
        )
        return
    for several in class_curveses:
        yield from _curve_elements(several[0].name, {curves.label: curves for curves in several})


def _curve_elements(title: str, lines: Mapping[str, ClassCurves]) -> Iterator[Element]:
    ends = np.array([0.0, 1.0])
    yield Heading(f"ROC, {title}")
    roc = {name: line.roc for name, line in lines.items()}
    operating = [line.answered[:2] for line in lines.values()]
    yield _curve_points("false positive rate", "true positive rate", {CHANCE: (ends, ends), **roc}, operating)
    yield notes(CURVE_LEGENDS["roc"])
    share = [line.counts.positives / (line.counts.positives + line.counts.negatives) for line in lines.values()]
    yield Heading(f"Precision and recall, {title}")
    results = {name: line.precision_recall for name, line in lines.items()}
    operating = [line.answered[1:] for line in lines.values()]
    yield _curve_points("recall", "precision", {CHANCE: (ends, np.full(2, share[0])), **results}, operating)
    yield notes(CURVE_LEGENDS["recall"])
    yield Heading(f"Calibration, {title}")
    bins = {name: (line.calibration.predicted, line.calibration.observed) for name, line in lines.items()}
    yield _curve_points("probability", "share of rows", {RIGHT: (ends, ends)}, points=bins)
    errors = ([name, fixed(line.calibration.expected_error, 3)] for name, line in lines.items())
    yield grid_of_numbers(["", "expected calibration error"], errors)
    yield notes(CURVE_LEGENDS["calibration"])


def _curve_points(
    across: str,
    upwards: str,
    lines: Mapping[str, Line],
    decided: Sequence[tuple[float, ...]] = (),
    points: Mapping[str, Line] | None = None,
) -> Points:
    """Lines as points that lie close together, then points alone."""
    groups = {name: _interpolated(*line) for name, line in lines.items()} | dict(points or {})
    results = [(name, tuple(zip(x.tolist(), y.tolist(), strict=True))) for name, (x, y) in groups.items()]
    if decided:
        results.append((DECIDED, tuple((one[0], one[1]) for one in decided)))
    return Points("", across, upwards, tuple(results), tuple(lines))


def _interpolated(x: Array, y: Array) -> Line:
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0.0, along[-1], DENSE)
    return np.interp(at, along, x), np.interp(at, along, y)
