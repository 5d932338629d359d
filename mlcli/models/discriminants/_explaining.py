"""What discriminants say of themselves in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.explanation import Cell, Section
from mlcli.core.tables import Array

NARROW = (
    "Directions left out, since classes do not vary there (constant columns, columns that follow from others): {}."
)


def prior_section(target: str, classes: Sequence[str], priors: Array) -> Section:
    """The probability of each class before a row is looked at."""
    return Section("Priors", (target, "prior"), tuple(zip(classes, map(float, priors), strict=True)))


def rows_of(names: Sequence[str], by_class: Array) -> Iterator[tuple[Cell, ...]]:
    """A row for each column, with what each class has (classes × columns)."""
    for name, values in zip(names, by_class.T.tolist(), strict=True):
        yield (name, *values)
