"""A dataset's columns as a model knows them: by name, with the levels that it has learned, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import ModelFileError, Problem, raise_all
from mlcli.core.names import listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Table
from mlcli.data.dataset import Dataset
from mlcli.data.number_text import as_numbers

SHOWN_LEVELS = 3


def aligned(dataset: Dataset, columns: Sequence[Column]) -> Table:
    """The cells of known columns; a level that was never learned is -1, what does not fit a ModelFileError."""
    raise_all(ModelFileError, _absent(dataset, columns))
    theirs = {described.column.name: described.column for described in dataset.schema}
    parts: list[tuple[Column, NDArray[Any]]] = []
    problems = []
    for column in columns:
        try:
            parts.append((column, _known_cells(column, theirs[column.name], dataset.table.cells(column.name))))
        except ValueError as problem:
            problems.append(Problem(f"column '{column.name}' {problem}", where=dataset.name))
    raise_all(ModelFileError, problems)
    return Table.of(parts, len(dataset))


def unknown_levels(dataset: Dataset, column: Column, known: NDArray[Any]) -> Flags:
    """The rows of an aligned column that held something, but no level that was learned."""
    there = is_missing(dataset.table.cells(column.name))
    return is_missing(known) & ~there


def is_missing(cells: NDArray[Any]) -> Flags:
    """The empty cells of a column."""
    missing: Flags = np.isnan(cells) if cells.dtype.kind == "f" else cells == MISSING_CODE
    return missing


def _absent(dataset: Dataset, columns: Sequence[Column]) -> Iterator[Problem]:
    """One problem for all columns that are not there, with those that may be meant."""
    names = dataset.schema.names()
    absent = [column.name for column in columns if column.name not in names]
    if absent:
        lacking = f"lacks {len(absent)} of the {len(columns)} columns that the model needs: {listed(absent)}"
        meant = [f"'{close}' for '{name}'" for name in absent if (close := nearest(name, names))]
        hint = f"did you mean {listed(meant)}?" if meant else f"it has {listed(names)}"
        yield Problem(lacking, where=dataset.name, hint=hint)


def _known_cells(ours: Column, theirs: Column, cells: NDArray[Any]) -> NDArray[Any]:
    if ours.coded:
        return _codes_from_text(ours, theirs, cells) if theirs.coded else _codes_from_numbers(ours, cells)
    return _numbers_from_text(theirs, cells) if theirs.coded else cells


def _codes_from_text(ours: Column, theirs: Column, cells: NDArray[Any]) -> Codes:
    code_of = {level: code for code, level in enumerate(ours.levels)}
    ours_of = [code_of.get(level, MISSING_CODE) for level in theirs.levels]
    recoded: Codes = np.array([*ours_of, MISSING_CODE], np.int32)[cells]
    return recoded


def _codes_from_numbers(ours: Column, cells: NDArray[Any]) -> Codes:
    """A few rows of levels such as 1, 2, 3 may look like a numeric column; they are known by their value."""
    values = [as_numbers([level]) for level in ours.levels]
    codes = np.full(len(cells), MISSING_CODE, np.int32)
    for code, value in enumerate(values):
        if value is not None:
            codes[cells == value[0]] = code
    return codes


def _numbers_from_text(theirs: Column, cells: NDArray[Any]) -> Array:
    """A numeric column that was declared, or guessed, to be levels here."""
    values = as_numbers(theirs.levels)
    if values is None:
        some = ", ".join(repr(level) for level in theirs.levels[:SHOWN_LEVELS])
        raise ValueError(f"holds text such as {some}; the model has learned numbers")
    numbers: Array = np.append(values, np.nan)[cells]
    return numbers
