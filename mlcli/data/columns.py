"""From cells as text to a typed column: its kind, declared in the sidecar or inferred, and its numbers or codes.

Inference looks at the distinct cells, in this order: a column of empty cells is left out; all numbers make it
numeric; two words that mean no and yes make it boolean; anything else is nominal, its levels sorted. Every cell
that does not fit a declared kind is named with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import Problem
from mlcli.core.names import counted, listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Flags, empty_cells
from mlcli.data.number_text import (
    CODE,
    GROUPING,
    NUMBER,
    as_numbers,
    code_among,
    decorated_among,
    is_number,
    maybe_grouped,
    rounded_among,
)
from mlcli.data.records import Numbers, Records, TextColumn
from mlcli.data.sidecar import DISCRETE, Declaration

BOOLEAN_PAIRS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))
SEEMS_MISSING = {
    *("?", "na", "n/a", "n.a.", "n.a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", ".", "missing"),
    *("unknown", "not available", "#value!", "#div/0!", "#ref!"),
}
"""Words that often stand for an empty cell; they are read as they are, and asked about."""
NEVER_A_LEVEL = SEEMS_MISSING - {"none", "nil", "unknown", "missing"}
NO_OTHERS: Mapping[str, str] = MappingProxyType({})
SHOWN_VALUES = 5
OFTEN = 0.2
"""The share of empty cells from which on being empty may be a level of its own."""
ROWS_FOR_A_LEVEL = 100
"""Fewer rows do not repay one more number to learn per column."""
ALL_NUMBERS = "every cell is a number"
WRITE_PLAINLY = "write numbers plainly, such as 1234.5, to have them as numbers"


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column with its cells: numbers, or codes of levels."""

    column: Column
    cells: NDArray[Any]
    declared: bool
    why: str
    notes: tuple[str, ...] = ()
    numbers: Numbers | None = None
    """How its cells were written, if they are numbers."""


def inferred(text: TextColumn, declaration: Declaration, records: Records) -> TypedColumn:
    """A column typed by its cells alone."""
    if (plain := plain_numbers(text, declaration)) is not None:
        return of_plain(text.name, plain, False, ALL_NUMBERS)
    values = present(text, declaration)
    if not values:
        nothing = np.full(len(text.which), np.nan)
        return TypedColumn(Column(text.name, missing=True), nothing, False, "every cell is empty")
    matches = None if text.in_words else read_as_numbers(values, records.delimiter)
    if matches is None:
        return _inferred_levels(text, values, records)
    numbers, decimal = matches
    code = code_among(values, numbers)
    if code is not None:
        why = f"'{code}' is a code: as a number it would lose digits"
        return replace(as_levels(text, "nominal", sorted_levels(values), False), why=why)
    return as_typed_numbers(text, values, numbers, False, ALL_NUMBERS, decimal)


def coded_by(
    text: TextColumn, column: Column, declaration: Declaration, *, keep_new: bool
) -> tuple[TypedColumn, dict[str, int]]:
    """Cells as codes of levels that are settled already, and how often each value stands that is none of them.

    Numbers are known by their value; values that are new may be kept, as further levels behind the settled ones.
    """
    same = _levels_of_numbers(present(text, declaration), column.levels)
    settled = {"", *declaration.missing, *column.levels, *same}
    counts = zip(text.values, text.counts.tolist(), strict=True)
    new = {value: count for value, count in counts if value not in settled}
    levels = (*column.levels, *(sorted(new) if keep_new else ()))
    empty = declaration.empty if declaration.empty in column.levels else None
    typed = as_levels(text, column.kind, levels, True, empty, same)
    return replace(typed, column=replace(column, levels=levels)), new


def _levels_of_numbers(values: list[str], levels: Sequence[str]) -> dict[str, str]:
    """Which level each value is, written otherwise (1.0 for 1), where all are numbers and none is a code."""
    numbers = as_numbers(values)
    if numbers is None or code_among(values, numbers):
        return {}
    written: dict[Decimal, list[str]] = {}
    for level in filter(is_number, levels):
        written.setdefault(Decimal(level), []).append(level)
    matches = {value: written.get(Decimal(value), []) for value in set(values).difference(levels)}
    return {value: same[0] for value, same in matches.items() if len(same) == 1}


def absent_cells(column: Column, rows: int) -> NDArray[Any]:
    """The cells of a column that a file lacks, and that says by this: no, or nothing where it is not boolean."""
    return np.zeros(rows, np.int32) if column.kind == "boolean" else empty_cells(column, rows)


def sorted_levels(values: Sequence[str]) -> tuple[str, ...]:
    """Levels in an order that does not depend on rows: by number where all are numbers, else by text."""
    if all(is_number(value) for value in values):
        return tuple(sorted(values, key=lambda value: (float(value), value)))
    return tuple(sorted(values))


def present(text: TextColumn, declaration: Declaration) -> list[str]:
    """The distinct cells that are not empty; a word that is a number stands for -999.0 as well as -999."""
    absent = {"", *declaration.missing}
    numbers = {float(word) for word in declaration.missing if is_number(word)}
    if numbers:
        plain = {value: value.replace(",", ".") for value in text.values if not CODE.match("\n" + value)}
        absent |= {value for value, number in plain.items() if is_number(number) and float(number) in numbers}
    if absent.isdisjoint(text.values):
        return text.values
    return [value for value in text.values if value not in absent]


def plain_numbers(text: TextColumn, declaration: Declaration) -> Numbers | None:
    """The numbers that a column was read as, unless a word for a missing cell may be one of them."""
    numbers = text.numbers
    if numbers is None or not declaration.missing:
        return numbers
    words = [float(word) for word in declaration.missing if is_number(word)]
    return None if np.isin(numbers.cells, words).any() else numbers


def of_plain(name: str, numbers: Numbers, declared: bool, why: str, notes: tuple[str, ...] = ()) -> TypedColumn:
    """A column of numbers that are read already."""
    if numbers.with_comma and not declared:
        notes = (f"column '{name}' was read with a decimal comma, as in '{numbers.with_comma}'", *notes)
    return TypedColumn(Column(name, "numeric", (), numbers.missing), numbers.cells, declared, why, notes, numbers)


def read_as_numbers(values: list[str], delimiter: str) -> tuple[NDArray[np.float64], str] | None:
    """The numbers that all texts are, and their decimal sign: a comma only where it is not the delimiter."""
    for decimal in (".",) if delimiter == "," else (".", ","):
        numbers = as_numbers(values, decimal)
        if numbers is not None:
            return numbers, decimal
    return None


def _inferred_levels(text: TextColumn, values: list[str], records: Records) -> TypedColumn:
    pair = boolean_levels(values)
    if pair is not None:
        return replace(as_levels(text, "boolean", pair, False), why=f"two values: {pair[0]} and {pair[1]}")
    typed = as_levels(text, "nominal", sorted_levels(values), False)
    if text.in_words:
        return replace(
            typed, why="the file says that it holds words", notes=_doubts(text, values, values, records)
        )
    others = [value for value in values if not is_number(value)]
    if records.delimiter != ",":
        others = [value for value in others if not is_number(value.replace(",", ".", 1))] or others
    why = f"{len(others)} of {len(values)} distinct values are not numbers, such as '{others[0][:40]}'"
    return replace(typed, why=why, notes=(*_decorated(text, values), *_doubts(text, values, others, records)))


def boolean_levels(values: Sequence[str]) -> tuple[str, str] | None:
    """The value that means no, then the one that means yes, or None when these are not two such words."""
    lower = {value.lower(): value for value in values}
    if len(values) != 2:
        return None
    return next(((lower[no], lower[yes]) for no, yes in BOOLEAN_PAIRS if {no, yes} == lower.keys()), None)


def _decorated(text: TextColumn, values: Sequence[str]) -> tuple[str, ...]:
    """A word on a column that people would read as numbers."""
    if (example := decorated_among(values)) is None:
        return ()
    what = f"column '{text.name}' holds numbers such as '{example[:40]}', which were read as text"
    return (f"{what}: {WRITE_PLAINLY}",)


def _doubts(text: TextColumn, values: Sequence[str], others: Sequence[str], records: Records) -> tuple[str, ...]:
    """What a column of levels might have been: numbers but for a few cells, or levels with a word for missing."""
    counts = dict(zip(text.values, text.counts.tolist(), strict=True))
    mostly_numbers = len(others) < len(values) and len(others) <= SHOWN_VALUES
    if mostly_numbers and all(value.lower() in SEEMS_MISSING for value in others):
        return (_asks_missing(text.name, {value: counts[value] for value in others}, ", and then it is numeric"),)
    asked = [value for value in others if value.lower() in NEVER_A_LEVEL][:SHOWN_VALUES]
    if asked:
        return (_asks_missing(text.name, {value: counts[value] for value in asked}, ""),)
    if mostly_numbers:
        rows = [text.first_row(text.values.index(value)) for value in others]
        shown = listed([f"'{value[:40]}' in {records.line(row)}" for value, row in zip(others, rows, strict=True)])
        return (f"column '{text.name}' would be numeric but for {shown}",)
    return ()


def _asks_missing(name: str, counts: Mapping[str, int], then: str) -> str:
    """All words in one: a list of one of them would leave the others as they are."""
    cells = listed([f"'{value}' in {counted(count, 'cell')}" for value, count in counts.items()])
    words = ", ".join(f'"{value}"' for value in counts)
    one = len(counts) == 1
    read, means = ("was read as it stands", "it means") if one else ("were read as they stand", "they mean")
    return f"{cells} of column '{name}' {read}: if {means} missing, say missing: [{words}] in the sidecar{then}"


def as_typed_numbers(
    text: TextColumn,
    values: Sequence[str],
    numbers: NDArray[np.float64],
    declared: bool,
    why: str,
    decimal: str = ".",
) -> TypedColumn:
    """A column of numbers, with what is to be said of how they are written."""
    notes = _rounded(text.name, values, numbers)
    missing = len(values) < len(text.values)
    if missing:
        present = set(values)
        held = np.array([value in present for value in text.values])
        every = np.full(len(text.values), np.nan)
        every[held] = numbers
        numbers = every
    with_comma = next((value for value in values if "," in value), "") if decimal == "," else ""
    with_point = maybe_grouped(values) if decimal == "." else ""
    return of_plain(text.name, Numbers(numbers[text.which], missing, with_comma, with_point), declared, why, notes)


def _rounded(name: str, values: Sequence[str], numbers: NDArray[np.float64]) -> tuple[str, ...]:
    """A word on numbers that are not what was written."""
    results = rounded_among(values, numbers)
    if results is None:
        return ()
    text, held = results
    return (
        f"column '{name}' holds numbers that cannot be held exactly: '{text[:40]}' was read as {held:.17g}; "
        f"declare it nominal to keep them as text",
    )


def notes_of_columns(columns: Iterable[TypedColumn]) -> Iterator[str]:
    """What is said of each column, and of points that may group thousands, since others have decimal commas."""
    columns = list(columns)
    yield from (note for column in columns for note in column.notes)
    numeric = [(typed.column.name, typed.numbers) for typed in columns if typed.numbers is not None]
    with_comma = next((name for name, numbers in numeric if numbers.with_comma), None)
    for name, numbers in numeric:
        if with_comma is not None and numbers.with_point:
            read = float(numbers.with_point)
            yield (
                f"'{numbers.with_point}' in column '{name}' was read as {read:g} with a decimal point, though "
                f"'{with_comma}' has decimal commas: if the point groups thousands, write it without"
            )


def as_levels(
    text: TextColumn,
    kind: str,
    levels: tuple[str, ...],
    declared: bool,
    empty: str | None = None,
    same: Mapping[str, str] = NO_OTHERS,
) -> TypedColumn:
    """Cells as codes of levels, or of what is the ``same`` as a level; those that are none of them are missing."""
    code_of = {level: code for code, level in enumerate(levels)}
    code_of |= {value: code_of[level] for value, level in same.items()}
    if empty is not None:
        code_of[""] = code_of[empty]
    codes = np.array([code_of.get(value, MISSING_CODE) for value in text.values], dtype=np.int32)
    cells = codes[text.which] if len(codes) else np.empty(0, np.int32)
    missing = bool((codes == MISSING_CODE).any())
    often = missing and len(cells) >= ROWS_FOR_A_LEVEL and float((cells == MISSING_CODE).mean()) >= OFTEN
    return TypedColumn(Column(text.name, kind, levels, missing, often), cells, declared, "")


Checked = tuple[TypedColumn, list[Problem]]
"""A column, and every cell that does not fit."""
AS_DECLARED = "in the sidecar"
SEPARATORS = re.compile(f"[,{GROUPING}]")
NO_NUMBER = "correct the cell, or declare the column nominal"


def declared(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    """A column typed as its sidecar says, and every cell that does not fit."""
    return DECLARED[declaration.kind or "nominal"](text, declaration, records)


def retyped(text: TextColumn, declaration: Declaration, kind: str, records: Records) -> Checked:
    """A column typed as a kind that nobody declared but a task needs."""
    typed, problems = declared(text, replace(declaration, kind=kind, levels=(), range=None), records)
    return replace(typed, declared=False), [
        replace(problem, hint="correct the cell") if problem.hint == NO_NUMBER else problem for problem in problems
    ]


def _declared_numbers(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    plain = plain_numbers(text, declaration)
    if plain is not None and not any(misfit.any() for misfit in _misfits(plain.cells, declaration)):
        return of_plain(text.name, plain, True, AS_DECLARED), []
    values = present(text, declaration)
    matches = read_as_numbers(values, records.delimiter)
    if matches is None:
        wrong = not_numbers(values, records.delimiter)
        problems = _cell_problems(text, records, wrong, "is not a number", _number_hint)
        return as_typed_numbers(text, values, np.full(len(values), np.nan), True, ""), problems
    numbers, decimal = matches
    low, high = declaration.range or (-np.inf, np.inf)
    outside, broken = (
        [values[place] for place in np.flatnonzero(misfit)] for misfit in _misfits(numbers, declaration)
    )
    what = f"is outside the range {low:g} to {high:g}"
    problems = _cell_problems(text, records, outside, what, lambda value: "correct the cell, or the range")
    hint = "correct the cell, or declare the column continuous"
    problems += _cell_problems(text, records, broken, "is not a whole number", lambda value: hint)
    return as_typed_numbers(text, values, numbers, True, AS_DECLARED, decimal), problems


def _misfits(numbers: NDArray[np.float64], declaration: Declaration) -> tuple[Flags, Flags]:
    """Which numbers are outside their range, and which are not whole, though they must be."""
    low, high = declaration.range or (-np.inf, np.inf)
    outside = (numbers < low) | (numbers > high)
    if declaration.numbers != DISCRETE:
        return outside, np.zeros(len(numbers), bool)
    return outside, (numbers != np.floor(numbers)) & ~np.isnan(numbers)


def not_numbers(values: Sequence[str], delimiter: str) -> list[str]:
    """The values that are no numbers; where decimal commas are allowed, those that are not even that, if any."""
    wrong = [value for value in values if not is_number(value)]
    with_comma = [value for value in wrong if not is_number(value.replace(",", "."))]
    return with_comma if with_comma and delimiter != "," else wrong


def _number_hint(value: str) -> str:
    if value.lower() in SEEMS_MISSING:
        return f'if it means missing, say missing: ["{value}"] in the sidecar'
    if NUMBER.fullmatch(value):
        return "the number is too large"
    if NUMBER.fullmatch(SEPARATORS.sub("", value)):
        return "numbers are written without thousands separators, with a decimal point"
    return NO_NUMBER


def _declared_levels(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    values = present(text, declaration)
    meant = [declaration.empty] if declaration.empty is not None else []
    levels = declaration.levels or sorted_levels(list({*values, *meant}))
    known = set(levels)
    unknown_levels = [value for value in values if value not in known]
    hint = partial(_level_hint, levels)
    problems = _cell_problems(text, records, unknown_levels, "is not a level of it", hint)
    typed = as_levels(text, declaration.kind or "nominal", levels, True, declaration.empty)
    return replace(typed, why=AS_DECLARED), problems


def _level_hint(levels: Sequence[str], value: str) -> str:
    close = nearest(value, levels)
    return f"did you mean '{close}'?" if close else f"levels: {listed(levels)}"


def _declared_boolean(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    values = present(text, declaration)
    if declaration.levels or declaration.empty is not None:
        return _declared_levels(text, declaration, records)
    levels = boolean_levels(values) or sorted_levels(values)
    if len(levels) != 2:
        what = f"column '{text.name}' is declared boolean but holds {len(levels)} values: {listed(levels)}"
        hint = "declare it nominal, or give it two levels"
        return as_levels(text, "boolean", levels, True), [Problem(what, where=records.name, hint=hint)]
    return _declared_levels(text, replace(declaration, levels=levels), records)


def _cell_problems(
    text: TextColumn, records: Records, wrong: Sequence[str], what: str, hint: Callable[[str], str]
) -> list[Problem]:
    place_of = {value: index for index, value in enumerate(text.values)}
    problems = []
    for value in wrong[:SHOWN_VALUES]:
        first, count = text.first_row(place_of[value]), int(text.counts[place_of[value]])
        more = f" (in {count} rows)" if count > 1 else ""
        where = records.place(first, text.name)
        problems.append(Problem(f"'{value[:60]}' {what}{more}", where=where, hint=hint(value)))
    if len(wrong) > SHOWN_VALUES:
        more = f"{len(wrong) - SHOWN_VALUES} more values of column '{text.name}' like these"
        problems.append(Problem(more, where=records.name))
    return problems


DECLARED = {
    "numeric": _declared_numbers,
    "nominal": _declared_levels,
    "ordinal": _declared_levels,
    "boolean": _declared_boolean,
}
