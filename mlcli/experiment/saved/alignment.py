"""Rows as a saved model knows them: its columns with their levels, and fingerprints to know rows again by."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import ModelFileError, Problem, raise_all
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Table
from mlcli.data.columns import absent_cells
from mlcli.data.dataset import Dataset
from mlcli.data.new_rows import absent_features
from mlcli.data.number_text import as_numbers, is_number

Fingerprints = NDArray[np.uint64]
SHOWN_LEVELS = 3
NO_WORDS: Mapping[str, Sequence[str]] = MappingProxyType({})


def aligned(
    dataset: Dataset,
    columns: Sequence[Column],
    missing: Mapping[str, Sequence[str]] = NO_WORDS,
    optional: Collection[str] = (),
) -> Table:
    """The cells of known columns; a level that was never learned is -1, what does not fit a ModelFileError.

    ``missing`` are words that stand for an empty cell, by column; ``optional`` columns may lack.
    """
    theirs = {described.column.name: described.column for described in dataset.schema}
    names = [column.name for column in columns if column.name in theirs or column.name not in optional]
    raise_all(ModelFileError, absent_features(names, tuple(theirs), dataset.name))
    parts: list[tuple[Column, NDArray[Any]]] = []
    problems = []
    for column in columns:
        if column.name not in theirs:
            parts.append((column, absent_cells(column, len(dataset))))
            continue
        try:
            cells = dataset.table.cells(column.name)
            parts.append((column, _known_cells(column, theirs[column.name], cells, missing.get(column.name, ()))))
        except ValueError as problem:
            problems.append(Problem(f"column '{column.name}' {problem}", where=dataset.name))
    raise_all(ModelFileError, problems)
    return Table.of(parts, len(dataset))


def unknown_levels(
    dataset: Dataset, column: Column, known: NDArray[Any], missing: Mapping[str, Sequence[str]] = NO_WORDS
) -> Flags:
    """The rows of an aligned column that held something, but no level that was learned."""
    cells, words = dataset.table.cells(column.name), missing.get(column.name, ())
    levels = next(described.column for described in dataset.schema if described.column.name == column.name).levels
    absent = [code for code, level in enumerate(levels) if level in words]
    return is_missing(known) & ~is_missing(cells) & ~np.isin(cells, absent)


def is_missing(cells: NDArray[Any]) -> Flags:
    """The empty cells of a column."""
    missing: Flags = np.isnan(cells) if cells.dtype.kind == "f" else cells == MISSING_CODE
    return missing


def _known_cells(ours: Column, theirs: Column, cells: NDArray[Any], missing: Sequence[str]) -> NDArray[Any]:
    if ours.coded:
        return _codes_from_text(ours, theirs, cells) if theirs.coded else _codes_from_numbers(ours, cells)
    return _numbers_from_text(theirs, cells, missing) if theirs.coded else cells


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


def _numbers_from_text(theirs: Column, cells: NDArray[Any], missing: Sequence[str]) -> Array:
    """A numeric column that was declared, or guessed, to be levels here."""
    wrong = [level for level in theirs.levels if level not in missing and not is_number(level)]
    if wrong:
        some = ", ".join(f"'{level}'" for level in wrong[:SHOWN_LEVELS])
        raise ValueError(f"holds {some}, and the model has learned numbers; a sidecar can say what means missing")
    values = [np.nan if level in missing else float(level) for level in theirs.levels]
    numbers: Array = np.array([*values, np.nan])[cells]
    return numbers


UNEQUAL_BITS = 34
"""The last bits of a number, of 52 behind the first, in which rows may differ and be called equal."""


def fingerprints_of(table: Table) -> Fingerprints:
    """64 bits per row: equal rows have equal ones, whatever the order of columns and the codes of levels.

    So have rows whose numbers differ in the seventh digit only, but for few that lie where rounding goes both
    ways.
    """
    sums = np.zeros(len(table), np.uint64)
    for column, cells in table.parts():
        sums += _mixed(_of_cells(column, cells) + _of_text(column.name))
    return _mixed(sums)


def _of_cells(column: Column, cells: NDArray[Any]) -> Fingerprints:
    if not column.coded:
        one_nan_one_zero = np.where(np.isnan(cells), np.nan, cells + 0.0)
        return _mixed(_rounded(one_nan_one_zero))
    of_level = [_of_text(level) for level in (*column.levels, "\0 missing")]
    found: Fingerprints = np.array(of_level, np.uint64)[cells]
    return found


def _rounded(numbers: Array) -> Fingerprints:
    """The bits of numbers to about five digits; whole numbers, which may be dates or keys, as they are."""
    bits = numbers.view(np.uint64)
    half = np.uint64(1 << (UNEQUAL_BITS - 1))
    few = ((bits + half) >> np.uint64(UNEQUAL_BITS)) << np.uint64(UNEQUAL_BITS)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(numbers == np.round(numbers), bits, few), np.uint64)


def _of_text(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def _mixed(values: Fingerprints) -> Fingerprints:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014): every bit of the input moves half of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
