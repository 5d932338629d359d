"""Confusion matrices, rates of classes, and curves of probabilities: ROC, precision and recall, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.findings import Confusions, Points
from mlcli.core.tables import Array
from mlcli.report.document import (
    UNIT_DECIMALS,
    Content,
    Element,
    Grid,
    GridCell,
    Heading,
    Style,
    fixed,
    grid,
    grid_of_numbers,
    notes,
    rate_text,
    share,
    short,
    strong,
)
from mlcli.scoring.model_results import Group

if TYPE_CHECKING:
    from mlcli.metrics.confusion import Confusion
    from mlcli.metrics.scores.labels import ClassRates
    from mlcli.scoring.class_curves import ClassCurves, Line

MOST_CLASSES = 12
"""Of more classes, a matrix would be cut into pieces."""


def confusion_elements(group: Group, *, every_class: bool, with_rates: bool) -> Iterator[Element]:
    """The confusion matrix of each model that predicts classes, with the rates of each class if requested."""
    matrices = {result: result.confusion for result in group if result.confusion is not None}
    for result, matrix in matrices.items():
        counted_as = "weight" if result.cell.dataset.schema.the("weight") else "rows"
        yield from confusion_of(group[result], matrix, result.classes, counted_as, every_class)
        if with_rates:
            yield _rates_grid(result.classes, counted_as)
    if matrices:
        legend = (
            "rows: true class; columns: predicted class; counts with their share of the row (on the diagonal: "
            "recall)"
        )
        repeats = "; a row counts each time it is predicted"
        rates_legend = (
            "each class against the rest: rows: of the class; predicted: as the class; lean: share of the "
            "predictions minus share of the rows; 0/0: there is no such row"
        )
        is_repeated = any(result.repeated for result in matrices)
        yield notes(legend + repeats * is_repeated, *[rates_legend] * with_rates)
    elif with_rates:
        yield notes("no rates of classes: no model here predicts classes")


def confusion_of(
    title: str,
    matrix: Confusion,
    rates: Sequence[ClassRates],
    counted_as: str = "rows",
    every_class: bool = True,
) -> tuple[Element, ...]:
    """One matrix under its title; of many classes the largest confusions, and a list of every class."""
    labels, counts = matrix.labels, matrix.counts.tolist()
    if len(labels) <= MOST_CLASSES:
        return Heading(title), _matrix(labels, counts, rates, counted_as)
    errors = [
        (-count, true, predicted)
        for true, row in enumerate(counts)
        for predicted, count in enumerate(row)
        if predicted != true and count
    ]
    rows: list[list[Content]] = [
        [strong(labels[true]), labels[predicted], short(-count), share(-count, sum(counts[true]))]
        for count, true, predicted in sorted(errors)[:10]
    ]
    elements: list[Element] = [Heading(title)]
    if rows:
        elements.append(grid(["true class", "taken for", "rows", "share"], rows, right=(2, 3), keys=2))
    if every_class or not rows:
        elements.append(Confusions("", labels, tuple(map(tuple, counts))))
    return tuple(elements)


def _matrix(
    labels: Sequence[str], counts: Sequence[Sequence[float]], rates: Sequence[ClassRates], counted_as: str
) -> Grid:
    """Counts with their shares, the classes of long names numbered in the header."""
    row_names, titles = list(labels), list(labels)
    if sum(map(len, labels)) > 100:  # the names would cut the matrix into pieces
        titles = [str(number) for number in range(1, len(labels) + 1)]
        row_names = [f"{number} {label}" for number, label in zip(titles, labels, strict=True)]
    rows: list[list[Content]] = []
    for true, (name, row, of_class) in enumerate(zip(row_names, counts, rates, strict=True)):
        total = sum(row)
        cells: list[Content] = []
        for predicted, count in enumerate(row):
            style: Style = "best" if predicted == true else "bad" if count else "weak"
            percent = f"({share(count, total)})" if count else ""  # as wide as the widest, "(100 %)"
            cells.append(GridCell(f"{short(count)} {percent:>7}", style, shade=count / total if total else 0.0))
        rows.append([name, *cells, short(total), rate_text(of_class.precision), rate_text(of_class.f1)])
    return grid_of_numbers(["true \\ predicted", *titles, counted_as, "precision", "f1"], rows)


def _rates_grid(classes: Sequence[ClassRates], counted_as: str) -> Grid:
    """Every class against the rest."""
    titles = ("precision", "recall", "f1", "specificity", "fpr", "fnr")
    header = ["class", *titles, counted_as, "predicted", "TP", "FP", "FN", "TN", "lean"]
    rows: list[list[Content]] = []
    for row in classes:
        rates = (row.precision, row.recall, row.f1, row.specificity, row.fpr, row.fnr)
        counts = (row.true_positives, row.false_positives, row.false_negatives, row.true_negatives)
        counts_text = map(short, (row.support, row.predicted, *counts))
        rows.append([row.label, *map(rate_text, rates), *counts_text, f"{row.lean:+.{UNIT_DECIMALS}f}"])
    return grid_of_numbers(header, rows)


def probability_pictures(group: Group) -> Iterator[Element]:
    """The curves of all models together, or of each where there are several classes."""
    from mlcli.scoring.class_curves import curves_of

    curves_by_model = [curves for result, name in group.items() if (curves := curves_of(result, name))]
    if curves_by_model and all(len(curves) == 1 for curves in curves_by_model):
        label = curves_by_model[0][0].label
        yield from _curve_elements(f"class {label}", {curves[0].name: curves[0] for curves in curves_by_model})
        return
    for curves in curves_by_model:
        yield from _curve_elements(curves[0].name, {curve.label: curve for curve in curves})


def _curve_elements(title: str, curves: Mapping[str, ClassCurves]) -> Iterator[Element]:
    ends = np.array([0.0, 1.0])
    yield Heading(f"ROC, {title}")
    lines = {"chance": (ends, ends), **{name: curve.roc for name, curve in curves.items()}}
    operating = [curve.operating_point for curve in curves.values()]
    yield _plane(
        "false positive rate", "true positive rate", lines, [(fpr, recall) for fpr, recall, _ in operating]
    )
    yield notes(
        "the threshold falls from the lower left to the upper right; the farther above 'chance', the better the "
        "model separates the classes"
    )
    counts = next(iter(curves.values())).counts
    base_rate = counts.positives / (counts.positives + counts.negatives)
    yield Heading(f"Precision and recall, {title}")
    lines = {
        "chance": (ends, np.full(2, base_rate)),
        **{name: curve.precision_recall for name, curve in curves.items()},
    }
    yield _plane("recall", "precision", lines, [(recall, precision) for _, recall, precision in operating])
    yield notes("the threshold falls from left to right; precision: of the rows predicted as the class")
    yield Heading(f"Calibration, {title}")
    bins = {name: (curve.calibration.predicted, curve.calibration.observed) for name, curve in curves.items()}
    yield _plane("probability", "share of rows", {"perfect calibration": (ends, ends)}, bins=bins)
    errors = ([name, fixed(curve.calibration.expected_error, 3)] for name, curve in curves.items())
    yield grid_of_numbers(["", "expected calibration error"], errors)
    yield notes(
        "rows in ten bins of the predicted probability: its mean, and the share of the rows that are of the class"
    )


def _plane(
    across: str,
    upwards: str,
    lines: Mapping[str, Line],
    operating: Sequence[tuple[float, float]] = (),
    bins: Mapping[str, Line] | None = None,
) -> Points:
    """Lines as points that lie close together, then points alone."""

    def pairs(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
        return tuple(zip(x.tolist(), y.tolist(), strict=True))

    groups: list[tuple[str, tuple[tuple[float, float], ...]]] = []
    for name, (x, y) in lines.items():
        # 120 points at equal distances along the line
        distance = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        at = np.linspace(0.0, distance[-1], 120)
        groups.append((name, pairs(np.interp(at, distance, x), np.interp(at, distance, y))))
    groups += [(name, pairs(x, y)) for name, (x, y) in (bins or {}).items()]
    if operating:
        groups.append(("operating point", tuple(operating)))
    return Points("", across, upwards, tuple(groups), tuple(lines))
