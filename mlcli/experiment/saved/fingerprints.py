"""Fingerprints of rows, by which a model knows again those that it has learned from."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table

Fingerprints = NDArray[np.uint64]
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
