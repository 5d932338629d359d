"""Compiled numbering of texts: each distinct cell of a column gets a number where it is first seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from mlcli.core.tables import Codes, Rows
from mlcli.kernels.text.decimals import Bits, Letters

QUOTE = 34


class Texts(NamedTuple):
    """The distinct cells of some columns: their letters one after another, and how they are found."""

    letters: Letters
    ends: Rows
    """Where each begins in ``letters``, and the next."""
    hashes: Bits
    owners: Codes
    """Twice its column, and one more where quotes in it are doubled."""
    numbers: Codes
    """Which one of its column it is, in order of appearance."""
    table: Codes
    """The places of texts by their hashes, else -1; a power of two, and more than there is room for."""
    known: Rows
    """How many each column has; the last is how many there are."""


@njit(cache=True, nogil=True, error_model="numpy")
def number_text(block: Letters, begin: int, stop: int, column: int, quoted: bool, texts: Texts) -> int:
    """The number of a cell among those of its column; a new one is kept."""
    doubled, hashed = 0, np.uint64(14695981039346656037)
    for i in range(begin, stop if quoted else begin):
        doubled |= block[i] == QUOTE
    for i in range(begin, stop):
        hashed = (hashed ^ np.uint64(block[i])) * np.uint64(1099511628211)
    owner = 2 * column + doubled
    hashed = (hashed ^ np.uint64(owner)) * np.uint64(1099511628211)
    slot = slot_of(block, begin, stop, hashed, owner, texts)
    one = texts.table[slot]
    if one < 0:
        one, start = texts.known[-1], texts.ends[texts.known[-1]]
        for i in range(begin, stop):
            texts.letters[start + i - begin] = block[i]
        texts.table[slot], texts.ends[one + 1] = one, start + stop - begin
        texts.hashes[one], texts.owners[one], texts.numbers[one] = hashed, owner, texts.known[column]
        texts.known[column] += 1
        texts.known[-1] += 1
    return int(texts.numbers[one])


@njit(cache=True, nogil=True, error_model="numpy")
def slot_of(block: Letters, begin: int, stop: int, hashed: np.uint64, owner: int, texts: Texts) -> int:
    """Where a cell stands in the table, or would."""
    mask = len(texts.table) - 1
    slot = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(mask))
    while True:
        one = texts.table[slot]
        if one < 0:
            return int(slot)
        start = texts.ends[one]
        alike = texts.hashes[one] == hashed and texts.owners[one] == owner
        if alike and texts.ends[one + 1] - start == stop - begin:
            same = True
            for i in range(begin, stop):
                same &= texts.letters[start + i - begin] == block[i]
            if same:
                return int(slot)
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True, error_model="numpy")
def place_again(hashes: Bits, known: int, table: Codes) -> None:
    """Fill a larger table, which holds -1 everywhere."""
    mask = len(table) - 1
    for index in range(known):
        slot = np.int64((hashes[index] ^ (hashes[index] >> np.uint64(32))) & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = index
