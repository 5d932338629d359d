"""Confusion matrices: rows are the true classes, columns the predicted ones, in counts and in shares of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlcli.core.findings import Confusions
from mlcli.report.document import Content, Element, Field, Grid, Heading, Style, grid, grid_of_numbers, strong
from mlcli.report.numbers import fixed, share, short

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
RATE_DECIMALS = 3
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
    largest = _largest(labels, counts)
    shown = [largest] if largest.rows else []
    whole = [Confusions("", labels, tuple(map(tuple, counts)))] if every or not shown else []
    return Heading(title), *shown, *whole


def rates_of(rates: Sequence[ClassRates], counted_as: str = "rows") -> Grid:
    """Every class against the rest."""
    titles = ["class", *RATES, counted_as, "answered", *COUNTS, "lean"]
    rows = []
    for one in rates:
        shares = (_rate(getattr(one, name)) for name in RATES)
        counts = (short(getattr(one, name)) for name in ("support", "predicted", *COUNTS.values()))
        rows.append([one.label, *shares, *counts, f"{one.lean:+.{RATE_DECIMALS}f}"])
    return grid_of_numbers(titles, rows)


def _matrix(labels: Sequence[str], counts: Counts, rates: Sequence[ClassRates], counted_as: str) -> Grid:
    names, titles = _titled(labels)
    rows: list[list[Content]] = [
        [name, *_shares(row, place), short(sum(row)), _rate(of_class.precision), _rate(of_class.f1)]
        for place, (name, row, of_class) in enumerate(zip(names, counts, rates, strict=True))
    ]
    return grid_of_numbers(["true \\ predicted", *titles, counted_as, "precision", "f1"], rows)


def _titled(labels: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of rows and columns; columns of long names are numbered, and the rows say the numbers."""
    if sum(map(len, labels)) <= LONGEST_TITLES:
        return labels, labels
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    return [f"{number} {label}" for number, label in zip(numbers, labels, strict=True)], numbers


def _shares(row: Sequence[float], true: int) -> Iterator[Field]:
    """Each count with its share, as wide as the widest; none beside a count of zero, which says enough."""
    total = sum(row)
    for place, count in enumerate(row):
        style: Style = "best" if place == true else "bad" if count else "weak"
        percent = f"({share(count, total)})" if count else ""
        yield Field(f"{short(count)} {percent:>7}", style, shade=count / total if total else 0.0)


def _largest(labels: Sequence[str], counts: Counts) -> Grid:
    found = [(-count, true, at) for true, row in enumerate(counts) for at, count in enumerate(row) if at != true]
    rows: list[list[Content]] = [
        [strong(labels[true]), labels[place], short(-count), share(-count, sum(counts[true]))]
        for count, true, place in sorted(found)[:MOST_CONFUSIONS]
        if count
    ]
    return grid(["true class", "taken for", "rows", "share"], rows, right=(2, 3), keys=2)


def confusions_drawn(picture: Confusions, width: int | None) -> Grid:
    """One line per class: how many are right, and every class that others were taken for."""
    answered = [sum(column) for column in zip(*picture.counts, strict=True)]
    rows = [_class_row(picture.labels, row, true, answered[true]) for true, row in enumerate(picture.counts)]
    return grid(["true class", "right", "recall", "precision", "taken for"], rows, right=(1, 2, 3))


def _class_row(labels: Sequence[str], row: Sequence[float], true: int, answered: float) -> list[Content]:
    right, rows = row[true], sum(row)
    rates = (_rate(right / of if of else None) for of in (rows, answered))
    taken = ", ".join(taken_for(row, true, labels))
    return [strong(labels[true]), f"{short(right)}/{short(rows)}", *rates, taken]


def taken_for(row: Sequence[float], true: int, labels: Sequence[str]) -> list[str]:
    """What rows of a class were taken for, with how many, the most first."""
    wrong = sorted((-count, place) for place, count in enumerate(row) if count and place != true)
    return [f"{labels[place]} {short(-count)}" for count, place in wrong]


def _rate(rate: float | None) -> str:
    return "0/0" if rate is None else fixed(rate, RATE_DECIMALS)
