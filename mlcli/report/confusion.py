"""Confusion matrices: rows are the true classes, columns the predicted ones, in counts and in shares of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlcli.core.findings import Confusions
from mlcli.report.document import Content, Element, Field, Grid, Heading, Style, grid
from mlcli.report.numbers import fixed, share, short

if TYPE_CHECKING:
    from mlcli.metrics.confusion import Confusion
    from mlcli.metrics.one_against_rest import ClassRates

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
    shown: list[Element] = [largest] if largest.rows else []
    return (
        Heading(title),
        *shown,
        *([Confusions("", labels, tuple(map(tuple, counts)))] if every or not shown else []),
    )


def rates_of(rates: Sequence[ClassRates], counted_as: str = "rows") -> Grid:
    """Every class against the rest."""
    titles = ["class", *RATES, counted_as, "answered", *COUNTS, "lean"]
    rows: list[list[Content]] = [
        [
            Field(one.label, "strong"),
            *(_rate(getattr(one, name)) for name in RATES),
            short(one.support),
            short(one.predicted),
            *(short(getattr(one, name)) for name in COUNTS.values()),
            f"{one.lean:+.{RATE_DECIMALS}f}",
        ]
        for one in rates
    ]
    return grid(titles, rows, right=range(1, len(titles)))


def _matrix(
    labels: Sequence[str], counts: Sequence[Sequence[float]], rates: Sequence[ClassRates], counted_as: str
) -> Grid:
    names, titles = _titled(labels)
    rows: list[list[Content]] = [
        [
            Field(label, "strong"),
            *_shares(counts[place], place),
            short(sum(counts[place])),
            _rate(rates[place].precision),
            _rate(rates[place].f1),
        ]
        for place, label in enumerate(names)
    ]
    header = ["true \\ predicted", *titles, counted_as, "precision", "f1"]
    return grid(header, rows, right=range(1, len(header)))


def _titled(labels: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of rows and columns; columns of long names are numbered, and the rows say the numbers."""
    if sum(map(len, labels)) <= LONGEST_TITLES:
        return labels, labels
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    return [f"{number} {label}" for number, label in zip(numbers, labels, strict=True)], numbers


def _shares(row: Sequence[float], true: int) -> Iterator[Field]:
    total = sum(row)
    for place, count in enumerate(row):
        style: Style = "best" if place == true else "bad" if count else "weak"
        yield Field(f"{short(count)} {_share(count, total)}", style, shade=count / total if total else 0.0)


def _share(count: float, total: float) -> str:
    """The share in brackets, as wide as the widest; none for a count of zero, which says enough."""
    return (f"({share(count, total)})" if count else "").rjust(len("(100 %)"))


def _largest(labels: Sequence[str], counts: Sequence[Sequence[float]]) -> Grid:
    """The confusions of most rows, with their share of the rows of the true class."""
    found = [
        (count, true, place)
        for true, row in enumerate(counts)
        for place, count in enumerate(row)
        if count and place != true
    ]
    rows: list[list[Content]] = [
        [Field(labels[true], "strong"), labels[place], short(count), share(count, sum(counts[true]))]
        for count, true, place in sorted(found, key=lambda one: (-one[0], *one[1:]))[:MOST_CONFUSIONS]
    ]
    return grid(["true class", "taken for", "rows", "share"], rows, right=(2, 3), keys=2)


def confusions_drawn(picture: Confusions, width: int | None) -> Grid:
    """One line per class: how many are right, and every class that others were taken for."""
    answered = [sum(column) for column in zip(*picture.counts, strict=True)]
    rows = [_class_row(picture.labels, row, true, answered[true]) for true, row in enumerate(picture.counts)]
    return grid(["true class", "right", "recall", "precision", "taken for"], rows, right=(1, 2, 3))


def _class_row(labels: Sequence[str], row: Sequence[float], true: int, answered: float) -> list[Content]:
    wrong = sorted((-count, place) for place, count in enumerate(row) if count and place != true)
    taken = ", ".join(f"{labels[place]} {short(-count)}" for count, place in wrong)
    right, rows = row[true], sum(row)
    rates = (_rate(right / of if of else None) for of in (rows, answered))
    return [Field(labels[true], "strong"), f"{short(right)}/{short(rows)}", *rates, taken]


def _rate(rate: float | None) -> str:
    return "0/0" if rate is None else fixed(rate, RATE_DECIMALS)
