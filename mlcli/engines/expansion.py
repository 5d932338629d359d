"""Columns that are the same in every split, and how steps make the model's columns of them by adding and scaling.

What impute, standardise and one-hot learn follows from the weight, mean and scatter of these columns over the
training rows. So it is enough to know those, for any set of training rows, to know what the model would see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows, Table

NONE = -1
UNSCALED = -1
"""What stands for ``ddof`` where a column is not standardised."""
UNCERTAIN = 1e-10
"""A column that varies, but by less than this share of its size, is left to the plain loop."""
FREQUENCY_ROUNDING = 1e-12


@dataclass(frozen=True)
class Number:
    """A numeric column: ``main`` + t·``gap``, standardised or not; t is what fills a gap."""

    column: Column
    main: int
    gap: int = NONE
    """The column that is 1 where the cell is empty, if any is."""
    fills: int = NONE
    """Where a level fills gaps: the number of its source, so that the most frequent level of it is 1."""
    filled: bool = False
    ddof: int = UNSCALED
    whole: int = NONE
    """The number of the source all of whose levels have columns, of which this is one; else -1."""


@dataclass(frozen=True)
class Coded:
    """A coded column: an indicator for each level, and one for the gap, if any cell is empty."""

    column: Column
    levels: tuple[int, ...]
    source: int
    gap: int = NONE
    filled: bool = False


Made = Number | Coded


@dataclass(frozen=True, eq=False)
class Expansion:
    """``columns`` (n × P) never change; ``made`` says what the columns of the table have become."""

    columns: Array
    made: tuple[Made, ...]
    sources: tuple[tuple[int, ...], ...]
    """The indicators of the levels of each coded column."""

    def changed(self, made: Iterable[Made]) -> Expansion:
        """The same columns, made into others."""
        return replace(self, made=tuple(made))


def expanded(table: Table, steps: Sequence[Step]) -> Expansion | None:
    """A table taken through steps; None where some step does not follow from sums, or levels are left."""
    expansion = taken_through(table, steps)
    if expansion is None or not all(isinstance(one, Number) for one in expansion.made):
        return None
    return None if any(one.gap != NONE and not one.filled for one in expansion.made) else expansion


def taken_through(table: Table, steps: Sequence[Step]) -> Expansion | None:
    """The same, with the levels and gaps that steps leave; None where some step does not follow from sums."""
    expansion: Expansion | None = started(table)
    for step in steps:
        expansion = None if expansion is None else step.in_sums(expansion)
    return expansion


def started(table: Table) -> Expansion:
    """A table before any step."""
    if not table.code_columns and not np.isnan(table.numbers).any():
        return Expansion(table.numbers, tuple(Number(one, place) for place, one in enumerate(table.columns)), ())
    blocks: list[Array] = []
    made: list[Made] = []
    sources: list[tuple[int, ...]] = []
    for column, cells in table.parts():
        if column.coded:
            codes = cells.astype(np.int32)
            indicators = [np.asarray(codes == code, np.float64) for code in range(len(column.levels))]
            levels = tuple(range(len(blocks), len(blocks) + len(indicators)))
            blocks += indicators
            made.append(Coded(column, levels, len(sources), _gap(codes < 0, blocks)))
            sources.append(levels)
        else:
            numbers = cells.astype(np.float64)
            empty = np.isnan(numbers)
            blocks.append(np.where(empty, 0.0, numbers - _reference(numbers, empty)) if empty.any() else numbers)
            made.append(Number(column, len(blocks) - 1, _gap(empty, blocks)))
    return Expansion(np.column_stack(blocks) if blocks else np.empty((len(table), 0)), tuple(made), tuple(sources))


def _reference(cells: Array, empty: Flags) -> float:
    """What an empty cell stands in for until it is filled: close to what is there, to keep the digits."""
    return 0.0 if empty.all() else float(np.median(cells[~empty]))


def _gap(empty: Flags, blocks: list[Array]) -> int:
    if not empty.any():
        return NONE
    blocks.append(empty.astype(np.float64))
    return len(blocks) - 1


@dataclass(frozen=True, eq=False)
class Recipe:
    """The numbers of an expansion as arrays, in the order of the model's columns."""

    main: Rows
    gap: Rows
    """The gap of each column; where it has none, ``main`` again, times a t of 0."""
    has_gap: Flags
    fills: Rows
    ddof: Rows
    whole: Rows
    sources: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, expansion: Expansion) -> Recipe:
        """The recipe of an expansion without coded columns."""
        numbers = [one for one in expansion.made if isinstance(one, Number)]
        main, gap, fills, ddof, whole = (
            np.array([getattr(one, name) for one in numbers], np.intp)
            for name in ("main", "gap", "fills", "ddof", "whole")
        )
        return cls(main, np.where(gap == NONE, main, gap), gap != NONE, fills, ddof, whole, expansion.sources)

    def without(self, left_out: Flags) -> Recipe:
        """The recipe of the other columns."""
        kept = ~left_out
        arrays = {name: getattr(self, name)[kept] for name in ("main", "gap", "has_gap", "fills", "ddof", "whole")}
        return Recipe(**arrays, sources=self.sources)
