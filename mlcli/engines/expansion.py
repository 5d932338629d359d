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
from mlcli.engines.sums_before import Sums

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


def without_first_levels(recipe: Recipe, columns: Array) -> Recipe:
    """The indicators of all levels add up to 1, so some methods answer the same without the first of each.

    A level that no row has, nor a gap that it could fill, is no column at all.
    """
    occurs: Flags = np.asarray(columns.any(axis=0), bool)
    absent = (recipe.whole != NONE) & ~occurs[recipe.main] & ~recipe.has_gap
    recipe = recipe.without(absent)
    whole = recipe.whole.tolist()
    first = [source != NONE and source not in whole[:place] for place, source in enumerate(whole)]
    return recipe.without(np.array(first, bool))


@dataclass(frozen=True, eq=False)
class Prepared:
    """The model's columns over some training rows: filled, and what a unit of each is."""

    shift: Array
    """What a gap of each column is filled with, beside what stands in for it."""
    mean: Array
    scatter: Array
    unit: Array
    constant: Flags


def prepared(recipe: Recipe, sums: Sums) -> Prepared | None:
    """What the steps learn from rows with such sums; None where only the rows themselves can tell."""
    shift = _shifts(recipe, sums)
    if shift is None:
        return None
    mean = sums.mean[recipe.main] + shift * sums.mean[recipe.gap]
    scatter = combined(recipe, shift, sums.scatter)
    spread = np.sqrt(np.maximum(scatter.diagonal(), 0.0) / sums.weight)
    constant = (sums.low == sums.high)[recipe.main] & (~recipe.has_gap | (sums.high[recipe.gap] == 0))
    uncertain = ~constant & (spread <= UNCERTAIN * np.hypot(mean, spread))
    freedom = sums.weight - np.maximum(recipe.ddof, 0)
    if uncertain.any() or (freedom <= 0).any():
        return None
    deviation = np.sqrt(np.maximum(scatter.diagonal(), 0.0) / freedom)
    unit = np.where((recipe.ddof == UNSCALED) | constant, 1.0, deviation)
    return Prepared(shift, mean, scatter, unit, constant)


def combined(recipe: Recipe, shift: Array, scatter: Array) -> Array:
    """The scatter of the filled columns."""
    made: Array = scatter[recipe.main[:, None], recipe.main]
    if recipe.has_gap.any():
        beside = shift[:, None] * scatter[np.ix_(recipe.gap, recipe.main)]
        made = made + beside + beside.T + np.outer(shift, shift) * scatter[np.ix_(recipe.gap, recipe.gap)]
    return made


def _shifts(recipe: Recipe, sums: Sums) -> Array | None:
    """What fills the gap of each column; None where a column is empty in all rows."""
    shift = np.zeros(len(recipe.main))
    if not recipe.has_gap.any():
        return shift
    numeric = recipe.has_gap & (recipe.fills == NONE)
    known = 1 - sums.mean[recipe.gap]
    if (known[recipe.has_gap] <= UNCERTAIN).any():
        return None
    shift[numeric] = sums.mean[recipe.main[numeric]] / known[numeric]
    for source in np.unique(recipe.fills[recipe.has_gap & (recipe.fills != NONE)]):
        levels = np.array(recipe.sources[source])
        counts = sums.mean[levels]
        most = levels[np.argmax(counts >= counts.max() * (1 - FREQUENCY_ROUNDING))]
        shift[(recipe.fills == source) & (recipe.main == most)] = 1.0
    return shift


def of_expansion(recipe: Recipe, found: Prepared, slopes: Array, columns: int) -> Array:
    """Slopes of the model's columns (last axis) as slopes of the columns that never change."""
    inside = slopes / found.unit
    outside = np.zeros((columns, *slopes.shape[:-1]))
    for place, share in ((recipe.main, inside), (recipe.gap, inside * found.shift)):
        np.add.at(outside, place, share.T)
    return outside.T
