"""Compiled splitting of a block of text into rows and cells, and reading of cells that are plainly numbers.

A block ends with a line end, which stops every loop. Nothing is decided here about text: a cell that is not
plainly a number, or not surely held as it is written, makes its column one of text, to be read by the rules in
Python. The twin that says the same is ``mlcli.data.records`` with ``mlcli.data.source``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mlcli.core.tables import Codes, Rows
from mlcli.kernels.text.decimals import NO_FLOAT, Bits, Letters, bits_of
from mlcli.kernels.text.numbering import QUOTE, Texts, number_text

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
PLUS, COMMA, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E = 43, 44, 45, 46, 48, 57, 69, 101
DONE, FULL, CUT, IRREGULAR = 0, 1, 2, 3
"""How reading ends: at the end of the block, of the room, in an open quote, or at what needs another look."""
IS_NUMBER, IS_EMPTY, IS_TEXT, HAS_BLANKS, HAS_COMMA, HAS_POINT, IS_UNGROUPED = 0, 1, 2, 3, 4, 5, 6
TRAITS = 7
"""What a column may have; the first row that has it is kept."""
MOST_DIGITS, MOST_EXPONENT = 19, 100_000
MISSING = np.uint64(0x7FF8000000000000)
SIGN = np.uint64(1 << 63)
TEN = np.uint64(10)
TWO_TO_53 = np.uint64((1023 + 53) << 52)
"""From here on not every whole number is a float."""


@njit(cache=True, nogil=True, error_model="numpy")
def read_rows(
    block: Letters,
    delimiter: int,
    offset: int,
    cursor: Rows,
    bits: Bits,
    starts: Rows,
    lines: Rows,
    firsts: NDArray[np.int64],
    texts: Texts,
) -> int:
    """Read rows from a block, which begins at an offset of its file; the cursor is place, row and line.

    Each cell gets the bits of its number, or in columns of text from the first row on that of its text; each row,
    where it starts, and on which line.
    """
    width, room, end = bits.shape[1], len(bits), len(block)
    place, row, line = cursor[0], cursor[1], cursor[2]
    status = DONE
    while place < end and status == DONE:
        blank = past_blanks(block, place, delimiter)
        after = past_line_end(block, blank)
        if after >= 0:
            place, line = after, line + 1
            continue
        if row == room or texts.known[-1] + width > len(texts.hashes):
            status = FULL
            break
        cell, breaks, column = place, 0, 0
        while True:
            quoted = block[cell] == QUOTE
            closing = cell
            if quoted:
                closing, inside = closing_quote(block, cell + 1, end)
                breaks += inside
            if column == width or closing < 0:
                status = IRREGULAR if column == width else CUT
                break
            cell = past_cell(block, cell, closing, delimiter, quoted, row, column, bits, firsts, texts)
            if block[cell] == delimiter:
                cell, column = cell + 1, column + 1
                continue
            after = past_line_end(block, cell)
            if after < 0 or column != width - 1:
                status = IRREGULAR
            break
        if status == DONE:
            starts[row], lines[row] = offset + place, line
            place, row, line = after, row + 1, line + 1 + breaks
    cursor[0], cursor[1], cursor[2] = place, row, line
    return status


@njit(cache=True, nogil=True, error_model="numpy")
def past_cell(
    block: Letters,
    cell: int,
    closing: int,
    delimiter: int,
    quoted: bool,
    row: int,
    column: int,
    bits: Bits,
    firsts: NDArray[np.int64],
    texts: Texts,
) -> int:
    """Where a cell ends, with its number read; of a column of text, with its text numbered."""
    begin, stop = (cell + 1, closing) if quoted else (cell, cell)
    if firsts[IS_TEXT, column] < 0:
        after = read_number(block, begin, delimiter, quoted, row, column, bits, firsts)
        plain = after == closing if quoted else ends_cell(block[after], delimiter)
        if not plain:
            note_first(firsts, IS_TEXT, row, column)
        if plain and not quoted and firsts[IS_TEXT, column] < 0:
            return after
    while not quoted and not ends_cell(block[stop], delimiter):
        stop += 1
    if firsts[IS_TEXT, column] == 0:
        bits[row, column] = np.uint64(number_text(block, begin, stop, column, quoted, texts))
    return stop + 1 if quoted else stop


@njit(cache=True, nogil=True, error_model="numpy")
def read_number(
    block: Letters,
    index: int,
    delimiter: int,
    quoted: bool,
    row: int,
    column: int,
    bits: Bits,
    firsts: NDArray[np.int64],
) -> int:
    """Where the number, or nothing, that begins at a place ends with the blanks around it; its bits are kept."""
    begin = past_blanks(block, index, delimiter)
    negative = block[begin] == MINUS
    i = begin + 1 if negative or block[begin] == PLUS else begin
    first = i
    digits, known, exponent, inexact = np.uint64(0), 0, 0, False
    decimal = -1
    while True:
        sign = block[i]
        if ZERO <= sign <= NINE:
            if known < MOST_DIGITS:
                digits = digits * TEN + np.uint64(sign - ZERO)
                known += 1 if digits else 0
                exponent -= 1 if decimal >= 0 else 0
            else:
                inexact |= sign != ZERO
                exponent += 0 if decimal >= 0 else 1
        elif decimal < 0 and (sign == POINT or (sign == COMMA and delimiter != COMMA)):
            decimal = i
        else:
            break
        i += 1
    written = i - first - (1 if decimal >= 0 else 0)
    coded = block[first] == ZERO and ZERO <= block[first + 1] <= NINE
    plain = written > 0 and not coded
    whole_digits = (decimal if decimal >= 0 else i) - first
    grouped = decimal >= 0 and 1 <= whole_digits <= 3 and i - decimal == 4
    if plain and (block[i] == SMALL_E or block[i] == LARGE_E):
        grouped = False
        i, power = read_exponent(block, i + 1)
        plain = power <= MOST_EXPONENT
        exponent += power
    empty = i == begin and not written
    stop = past_blanks(block, i, delimiter)
    if begin > index or stop > i:
        note_first(firsts, HAS_BLANKS, row, column)
    if empty:
        note_first(firsts, IS_EMPTY, row, column)
        bits[row, column] = MISSING
        return stop
    value = bits_of(digits, exponent) if plain else NO_FLOAT
    if inexact and bits_of(digits + np.uint64(1), exponent) != value:
        value = NO_FLOAT
    if value >= TWO_TO_53:
        note_first(firsts, IS_TEXT, row, column)
        return stop
    bits[row, column] = value | SIGN if negative else value
    note_first(firsts, IS_NUMBER, row, column)
    if decimal >= 0:
        note_first(firsts, HAS_COMMA if block[decimal] == COMMA else HAS_POINT, row, column)
        if not grouped:
            note_first(firsts, IS_UNGROUPED, row, column)
    return stop


@njit(cache=True, nogil=True, error_model="numpy")
def read_exponent(block: Letters, i: int) -> tuple[int, int]:
    """Where an exponent ends, and what it is: beyond all bounds where there is none."""
    negative = block[i] == MINUS
    if negative or block[i] == PLUS:
        i += 1
    power = 0 if ZERO <= block[i] <= NINE else 2 * MOST_EXPONENT
    while ZERO <= block[i] <= NINE:
        power = int(power * 10 + (np.int64(block[i]) - ZERO))
        power = power if power < MOST_EXPONENT else MOST_EXPONENT
        i += 1
    return i, -power if negative and power <= MOST_EXPONENT else power


@njit(cache=True, nogil=True, error_model="numpy")
def note_first(firsts: NDArray[np.int64], trait: int, row: int, column: int) -> None:
    """Keep the first row in which a column has a trait."""
    if firsts[trait, column] < 0:
        firsts[trait, column] = row


@njit(cache=True, nogil=True, error_model="numpy")
def ends_cell(sign: np.uint8, delimiter: int) -> bool:
    """Whether a sign stands after a cell that is not quoted."""
    return sign in (delimiter, NEWLINE, RETURN)


@njit(cache=True, nogil=True, error_model="numpy")
def past_blanks(block: Letters, index: int, delimiter: int) -> int:
    """The first place from here on that is no blank; a tab that is the delimiter is none."""
    while block[index] == SPACE or (block[index] == TAB and delimiter != TAB):
        index += 1
    return index


@njit(cache=True, nogil=True, error_model="numpy")
def past_line_end(block: Letters, index: int) -> int:
    """Where the next line begins, or -1 where no line ends."""
    if block[index] == NEWLINE:
        return index + 1
    if block[index] == RETURN and block[index + 1] == NEWLINE:
        return index + 2
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def closing_quote(block: Letters, index: int, end: int) -> tuple[int, int]:
    """Where a quoted cell is closed, -1 if it is not, and how many lines end in it; doubled quotes are letters."""
    breaks = 0
    while index < end:
        sign = block[index]
        if sign == QUOTE:
            if index + 1 == end or block[index + 1] != QUOTE:
                return index, breaks
            index += 1
        elif sign == NEWLINE or (sign == RETURN and index + 1 < end and block[index + 1] != NEWLINE):
            breaks += 1
        index += 1
    return -1, breaks


@njit(cache=True, nogil=True, error_model="numpy")
def number_texts(
    block: Letters, rows: Rows, first: int, delimiter: int, columns: Rows, texts: Texts, which: Codes
) -> int:
    """Number the cells of some columns in rows from the first on; return the row for which there is no room."""
    end = len(block)
    for r in range(first, len(rows)):
        place, value = rows[r], 0
        if texts.known[-1] + len(columns) > len(texts.hashes):
            return r
        for column in range(columns[-1] + 1):
            quoted = block[place] == QUOTE
            begin = place + 1 if quoted else place
            if quoted:
                place = closing_quote(block, begin, end)[0] + 1
            else:
                while not ends_cell(block[place], delimiter):
                    place += 1
            if columns[value] == column:
                stop = place - 1 if quoted else place
                which[r, value] = number_text(block, begin, stop, column, quoted, texts)
                value += 1
            place += 1
    return len(rows)
