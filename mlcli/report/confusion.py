"""Confusion matrices: rows are the true classes, columns the predicted ones, in counts and in shares of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.metrics.confusion import Confusion
from mlcli.report.document import Block, Cell, Content, Grid, Heading, Style, grid
from mlcli.report.numbers import share, short

MOST_CLASSES = 12
READING = "rows: the true class; columns: the predicted one; counts with their share of the row"


def confusion_of(title: str, matrix: Confusion) -> tuple[Block, ...]:
    """One matrix under its title; with many classes it is a list, since nobody reads forty columns."""
    drawn = _matrix if len(matrix.labels) <= MOST_CLASSES else _list
    return Heading(title), drawn(matrix.labels, matrix.counts.tolist())


def _matrix(labels: Sequence[str], counts: Sequence[Sequence[float]]) -> Grid:
    rows: list[list[Content]] = [
        [Cell(label, "strong"), *_row(counts[place], place), short(sum(counts[place]))]
        for place, label in enumerate(labels)
    ]
    return grid(["true \\ predicted", *labels, "rows"], rows, right=range(1, len(labels) + 2))


def _row(row: Sequence[float], true: int) -> Iterator[Cell]:
    total = sum(row)
    for place, count in enumerate(row):
        style: Style = "best" if place == true else "bad" if count else "weak"
        yield Cell(f"{short(count)} {_share(count, total)}", style)


def _share(count: float, total: float) -> str:
    """The share in brackets, as wide as the widest; none for a count of zero, which says enough."""
    return (f"({share(count, total)})" if count else "").rjust(len("(100 %)"))


def _list(labels: Sequence[str], counts: Sequence[Sequence[float]]) -> Grid:
    """One line per class: how many are right, and every class that others were taken for."""
    return grid(
        ["true class", "rows", "right", "share", "taken for"],
        [_class_row(labels, row, true) for true, row in enumerate(counts)],
        right=(1, 2, 3),
    )


def _class_row(labels: Sequence[str], row: Sequence[float], true: int) -> list[Content]:
    wrong = sorted((-count, place) for place, count in enumerate(row) if count and place != true)
    taken = ", ".join(f"{labels[place]} {short(-count)}" for count, place in wrong)
    return [Cell(labels[true], "strong"), short(sum(row)), short(row[true]), share(row[true], sum(row)), taken]
