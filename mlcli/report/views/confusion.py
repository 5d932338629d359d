"""Confusion matrices: rows are the true classes, columns the predicted ones, in counts and in shares of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlcli.core.findings import Confusions
from mlcli.report.document import Content, Element, Grid, GridCell, Heading, Style, grid, grid_of_numbers, strong
from mlcli.report.numbers import UNIT_DECIMALS, rate_text, share, short

if TYPE_CHECKING:
    from mlcli.metrics.confusion import Confusion
    from mlcli.metrics.scores.labels import ClassRates

Counts = Sequence[Sequence[float]]
MOST_CLASSES = 12
MOST_CONFUSIONS = 10
LONGEST_TITLES = 100
"""Names of classes that are longer together than this would cut the matrix into pieces."""
READING = (
    "rows: the true class; columns: the predicted one; counts with their share of the row, "
    "which on the diagonal is the recall of the class"
)
READING_REPEATS = "; a row counts once for each time that it was judged"
RATES = ("precision", "recall", "f1", "specificity", "fpr", "fnr")
COUNTS = {"TP": "true_positives", "FP": "false_positives", "FN": "false_negatives", "TN": "true_negatives"}
READING_RATES = (
    "each class against the rest: rows: of the class; answered: with the class; lean: the share of the answers "
    "minus the share of the rows; 0/0: there is no such row"
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
    titles = ["class", *RATES, counted_as, "answered", *COUNTS, "lean"]
    rows = []
    for one in rates:
        shares = (rate_text(getattr(one, name)) for name in RATES)
        counts = (short(getattr(one, name)) for name in ("support", "predicted", *COUNTS.values()))
        rows.append([one.label, *shares, *counts, f"{one.lean:+.{UNIT_DECIMALS}f}"])
    return grid_of_numbers(titles, rows)


def _matrix(labels: Sequence[str], counts: Counts, rates: Sequence[ClassRates], counted_as: str) -> Grid:
    names, titles = _row_and_column_names(labels)
    rows: list[list[Content]] = [
        [name, *_count_cells(row, place), short(sum(row)), rate_text(of_class.precision), rate_text(of_class.f1)]
        for place, (name, row, of_class) in enumerate(zip(names, counts, rates, strict=True))
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
    for place, count in enumerate(row):
        style: Style = "best" if place == true else "bad" if count else "weak"
        percent = f"({share(count, total)})" if count else ""
        yield GridCell(f"{short(count)} {percent:>7}", style, shade=count / total if total else 0.0)


def _largest_confusions(labels: Sequence[str], counts: Counts) -> Grid:
    found = [(-count, true, at) for true, row in enumerate(counts) for at, count in enumerate(row) if at != true]
    rows: list[list[Content]] = [
        [strong(labels[true]), labels[place], short(-count), share(-count, sum(counts[true]))]
        for count, true, place in sorted(found)[:MOST_CONFUSIONS]
        if count
    ]
    return grid(["true class", "taken for", "rows", "share"], rows, right=(2, 3), keys=2)
