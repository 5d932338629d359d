"""Compiled splitting of a block of text into rows and cells, and reading of cells that are plainly numbers.

A block ends with a line end, which stops every loop. Nothing is decided here about text: a cell that is not
plainly a number, or not surely held as it is written, makes its column one of text, to be read by the rules in
Python. The twin that says the same is ``mlcli.data.split_text`` with ``mlcli.data.number_text``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.kernels.text.decimals import NO_FLOAT, bits_of
from mlcli.kernels.without_counting import compiled, inlined

TAB, NEWLINE, RETURN, SPACE, QUOTE = 9, 10, 13, 32, 34
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


@compiled
def read_rows(
    block: Any, delimiter: int, offset: int, cursor: Any, bits: Any, starts: Any, lines: Any, firsts: Any
) -> int:
    """Read rows from a block, which begins at an offset of its file; the cursor is place, row and line.

    Each cell gets the bits of its number; each row, where it starts, and on which line.
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
        if row == room:
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
            cell = past_cell(block, cell, closing, delimiter, quoted, row, column, bits, firsts)
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


@inlined
def past_cell(
    block: Any, cell: int, closing: int, delimiter: int, quoted: Any, row: int, column: int, bits: Any, firsts: Any
) -> int:
    """Where a cell ends, with its number read; a column of text is not looked at any more."""
    if firsts[IS_TEXT, column] < 0:
        begin = cell + 1 if quoted else cell
        stop = read_number(block, begin, delimiter, quoted, row, column, bits, firsts)
        plain = stop == closing if quoted else ends_cell(block[stop], delimiter)
        if not plain:
            note_first(firsts, IS_TEXT, row, column)
        if plain and not quoted:
            return stop
    if quoted:
        return closing + 1
    while not ends_cell(block[cell], delimiter):
        cell += 1
    return cell


@inlined
def read_number(
    block: Any, place: int, delimiter: int, quoted: Any, row: int, column: int, bits: Any, firsts: Any
) -> int:
    """Where the number, or nothing, that begins at a place ends with the blanks around it; its bits are kept."""
    begin = past_blanks(block, place, delimiter)
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
    if begin > place or stop > i:
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


@inlined
def read_exponent(block: Any, i: int) -> Any:
    """Where an exponent ends, and what it is: beyond all bounds where there is none."""
    negative = block[i] == MINUS
    if negative or block[i] == PLUS:
        i += 1
    power: Any = 0 if ZERO <= block[i] <= NINE else 2 * MOST_EXPONENT
    while ZERO <= block[i] <= NINE:
        power = min(power * 10 + (np.int64(block[i]) - ZERO), MOST_EXPONENT)
        i += 1
    return i, -power if negative and power <= MOST_EXPONENT else power


@inlined
def note_first(firsts: Any, trait: int, row: int, column: int) -> None:
    """Keep the first row in which a column has a trait."""
    if firsts[trait, column] < 0:
        firsts[trait, column] = row


@inlined
def ends_cell(sign: Any, delimiter: int) -> Any:
    """Whether a sign stands after a cell that is not quoted."""
    return sign in (delimiter, NEWLINE, RETURN)


@inlined
def past_blanks(block: Any, place: int, delimiter: int) -> int:
    """The first place from here on that is no blank; a tab that is the delimiter is none."""
    while block[place] == SPACE or (block[place] == TAB and delimiter != TAB):
        place += 1
    return place


@inlined
def past_line_end(block: Any, place: int) -> int:
    """Where the next line begins, or -1 where no line ends."""
    if block[place] == NEWLINE:
        return place + 1
    if block[place] == RETURN and block[place + 1] == NEWLINE:
        return place + 2
    return -1


@inlined
def closing_quote(block: Any, place: int, end: int) -> Any:
    """Where a quoted cell is closed, -1 if it is not, and how many lines end in it; doubled quotes are letters."""
    breaks = 0
    while place < end:
        sign = block[place]
        if sign == QUOTE:
            if place + 1 == end or block[place + 1] != QUOTE:
                return place, breaks
            place += 1
        elif sign == NEWLINE or (sign == RETURN and place + 1 < end and block[place + 1] != NEWLINE):
            breaks += 1
        place += 1
    return -1, breaks


@compiled
def locate(block: Any, rows: Any, delimiter: int, wanted: Any, begins: Any, ends: Any) -> None:
    """Where the cells of the wanted columns begin and end; the end is negative where quotes are doubled."""
    end = len(block)
    for r in range(len(rows)):
        place, found = rows[r], 0
        for column in range(wanted[-1] + 1):
            doubled = False
            if block[place] == QUOTE:
                begin = place + 1
                stop = closing_quote(block, begin, end)[0]
                place = stop + 1
                for i in range(begin, stop):
                    doubled |= block[i] == QUOTE
            else:
                begin = place
                while not ends_cell(block[place], delimiter):
                    place += 1
                stop = place
            if wanted[found] == column:
                begins[found, r], ends[found, r] = begin, -stop if doubled else stop
                found += 1
            place += 1


@compiled
def number_distinct(block: Any, begins: Any, ends: Any, table: Any, which: Any, firsts: Any) -> int:
    """Number the distinct cells in order of appearance, and list the first of each; the table holds -1 everywhere.

    Its length is a power of two and larger than the number of cells.
    """
    known, mask = 0, len(table) - 1
    for r in range(len(begins)):
        begin, stop = begins[r], abs(ends[r])
        hashed = np.uint64(14695981039346656037)
        for i in range(begin, stop):
            hashed = (hashed ^ np.uint64(block[i])) * np.uint64(1099511628211)
        place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(mask))
        while table[place] >= 0 and not same(block, begins, ends, r, firsts[table[place]]):
            place = (place + 1) & mask
        if table[place] < 0:
            table[place] = known
            firsts[known] = r
            known += 1
        which[r] = table[place]
    return known


@inlined
def same(block: Any, begins: Any, ends: Any, one: int, other: int) -> bool:
    """Whether two cells hold the same text."""
    length = abs(ends[one]) - begins[one]
    if (ends[one] < 0) != (ends[other] < 0) or abs(ends[other]) - begins[other] != length:
        return False
    for i in range(length):  # noqa: SIM110
        if block[begins[one] + i] != block[begins[other] + i]:
            return False
    return True
