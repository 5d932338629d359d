"""Turns cells of text into a typed column: its kind, declared in the sidecar or inferred, and numbers or codes.

Inference looks at the distinct cells, in this order: a column of empty cells is left out; all numbers make it
numeric; two words that mean no and yes make it boolean; anything else is nominal, its levels sorted. Every cell
that does not fit a declared kind is reported with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.names import counted, listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags
from mlcli.data.records import Numbers, Records, TextColumn
from mlcli.data.sidecar import DISCRETE, Declaration
from mlcli.data.source import (
    GROUPING,
    LEADING_ZERO,
    NUMBER,
    as_numbers,
    code_among,
    decorated_among,
    is_number,
    maybe_grouped,
    rounded_among,
)

Cells = Array | Codes
"""Numbers, or codes of levels."""
SEEMS_MISSING = {
    *("?", "na", "n/a", "n.a.", "n.a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", ".", "missing"),
    *("unknown", "not available", "#value!", "#div/0!", "#ref!"),
}
"""Words that often mean a missing cell; they are read as they are, with a note."""
NO_SYNONYMS: Mapping[str, str] = MappingProxyType({})
SHOWN_VALUES = 5
NO_NUMBER = "correct the cell, or declare the column nominal"
WRITE_PLAINLY = "write numbers plainly, such as 1234.5, to have them as numbers"


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column with its cells: numbers, or codes of levels."""

    column: Column
    cells: Cells
    declared: bool
    why: str
    notes: tuple[str, ...] = ()
    numbers: Numbers | None = None
    """How its cells were written, if they are numbers."""


def inferred(text: TextColumn, declaration: Declaration, records: Records) -> TypedColumn:
    """A column typed by its cells alone."""
    why = "every cell is a number"
    if (plain := _plain_numbers(text, declaration)) is not None:
        return _typed_numbers(text.name, plain, False, why)
    values = present(text, declaration)
    if not values:
        empty = np.full(len(text.which), np.nan)
        return TypedColumn(Column(text.name, missing=True), empty, False, "every cell is empty")
    parsed = None if text.in_words else _parsed(text, values, records.delimiter)
    if parsed is None:
        return _inferred_levels(text, values, records)
    code = code_among(values, parsed.distinct)
    if code is not None:
        why = f"'{code}' is a code: as a number it would lose digits"
        return replace(as_levels(text, "nominal", sorted_levels(values), False), why=why)
    return _typed_numbers(
        text.name, parsed.numbers, False, why, _rounding_notes(text.name, values, parsed.distinct)
    )


def coded_by(
    text: TextColumn, column: Column, declaration: Declaration, *, keep_new: bool
) -> tuple[TypedColumn, dict[str, int]]:
    """Cells as codes of the levels of a column, and the counts of values that are no level.

    Numbers are compared by value. With ``keep_new``, new values become further levels after the known ones.
    """
    synonyms = _levels_of_numbers(present(text, declaration), column.levels)
    old = {"", *declaration.missing, *column.levels, *synonyms}
    new = {value: count for value, count in text.count_of.items() if value not in old}
    levels = (*column.levels, *(sorted(new) if keep_new else ()))
    empty = declaration.empty if declaration.empty in column.levels else None
    typed = as_levels(text, column.kind, levels, True, empty, synonyms)
    return replace(typed, column=replace(column, levels=levels)), new


def _levels_of_numbers(values: list[str], levels: Sequence[str]) -> dict[str, str]:
    """The level that is the same number (1 for 1.0) by value, if all values are numbers and none is a code."""
    numbers = as_numbers(values)
    if numbers is None or code_among(values, numbers):
        return {}
    spellings: dict[Decimal, list[str]] = {}
    for level in filter(is_number, levels):
        spellings.setdefault(Decimal(level), []).append(level)
    matches = {value: spellings.get(Decimal(value), []) for value in set(values).difference(levels)}
    return {value: same[0] for value, same in matches.items() if len(same) == 1}


def sorted_levels(values: Sequence[str]) -> tuple[str, ...]:
    """Levels in an order that does not depend on rows: by number if all are numbers, else by text."""
    if all(is_number(value) for value in values):
        return tuple(sorted(values, key=lambda value: (float(value), value)))
    return tuple(sorted(values))


def present(text: TextColumn, declaration: Declaration) -> list[str]:
    """The distinct cells that are not empty; a missing word that is a number stands for -999.0 as well as -999."""
    absent = {"", *declaration.missing}
    numbers = {float(word) for word in declaration.missing if is_number(word)}
    if numbers:
        plain = {value: value.replace(",", ".") for value in text.values if not LEADING_ZERO.match("\n" + value)}
        absent |= {value for value, number in plain.items() if is_number(number) and float(number) in numbers}
    if absent.isdisjoint(text.values):
        return text.values
    return [value for value in text.values if value not in absent]


def _plain_numbers(text: TextColumn, declaration: Declaration) -> Numbers | None:
    """The numbers as which a column was read, unless a word for a missing cell may be one of them."""
    if text.numbers is not None and declaration.missing:
        words = [float(word) for word in declaration.missing if is_number(word)]
        return None if np.isin(text.numbers.cells, words).any() else text.numbers
    return text.numbers


@dataclass(frozen=True, eq=False)
class _Parsed:
    """The numbers that a text column holds, of its distinct values and of its rows."""

    distinct: Array
    numbers: Numbers


def _parsed(text: TextColumn, values: list[str], delimiter: str) -> _Parsed | None:
    """The present values as numbers, or None; a decimal comma only if it is not the delimiter."""
    for decimal in (".",) if delimiter == "," else (".", ","):
        distinct = as_numbers(values, decimal)
        if distinct is None:
            continue
        numbers, missing = distinct, len(values) < len(text.values)
        if missing:
            present_values = set(values)
            numbers = np.full(len(text.values), np.nan)
            numbers[[value in present_values for value in text.values]] = distinct
        with_comma = next((value for value in values if "," in value), "") if decimal == "," else ""
        with_point = maybe_grouped(values) if decimal == "." else ""
        return _Parsed(distinct, Numbers(numbers[text.which], missing, with_comma, with_point))
    return None


def _typed_numbers(
    name: str, numbers: Numbers, declared: bool, why: str, notes: tuple[str, ...] = ()
) -> TypedColumn:
    if numbers.with_comma and not declared:
        notes = (f"column '{name}' was read with a decimal comma, as in '{numbers.with_comma}'", *notes)
    return TypedColumn(Column(name, "numeric", (), numbers.missing), numbers.cells, declared, why, notes, numbers)


def _rounding_notes(name: str, values: Sequence[str], numbers: Array) -> tuple[str, ...]:
    """A note on a number that was rounded when it was read."""
    rounded = rounded_among(values, numbers)
    if rounded is None:
        return ()
    text, number = rounded
    return (
        f"column '{name}' holds numbers that cannot be held exactly: '{text[:40]}' was read as {number:.17g}; "
        f"declare it nominal to keep them as text",
    )


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
    notes = _doubts(text, values, others, records)
    if (example := decorated_among(values)) is not None:
        what = f"column '{text.name}' holds numbers such as '{example[:40]}', which were read as text"
        notes = (f"{what}: {WRITE_PLAINLY}", *notes)
    why = f"{len(others)} of {len(values)} distinct values are not numbers, such as '{others[0][:40]}'"
    return replace(typed, why=why, notes=notes)


def boolean_levels(values: Sequence[str]) -> tuple[str, str] | None:
    """The value that means no, then the one that means yes, or None if these are not two such words."""
    original = {value.lower(): value for value in values}
    for no, yes in (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y")):
        if len(values) == 2 and original.keys() == {no, yes}:
            return original[no], original[yes]
    return None


def _doubts(text: TextColumn, values: Sequence[str], others: Sequence[str], records: Records) -> tuple[str, ...]:
    """A note on what a nominal column might be: numbers but for a few cells, or levels with a word for missing.

    ``others`` are the values that are not numbers.
    """
    mostly_numbers = len(others) < len(values) and len(others) <= SHOWN_VALUES
    if mostly_numbers and all(value.lower() in SEEMS_MISSING for value in others):
        return (_missing_note(text, others, ", and then it is numeric"),)
    never_levels = SEEMS_MISSING - {"none", "nil", "unknown", "missing"}
    doubtful = [value for value in others if value.lower() in never_levels][:SHOWN_VALUES]
    if doubtful:
        return (_missing_note(text, doubtful, ""),)
    if mostly_numbers:
        rows = [text.first_row(text.values.index(value)) for value in others]
        shown = listed([f"'{value[:40]}' in {records.line(row)}" for value, row in zip(others, rows, strict=True)])
        return (f"column '{text.name}' would be numeric but for {shown}",)
    return ()


def _missing_note(text: TextColumn, words: Sequence[str], then: str) -> str:
    """One note on all words: a list of one of them would leave the others as they are."""
    cells = listed([f"'{word}' in {counted(text.count_of[word], 'cell')}" for word in words])
    quoted = ", ".join(f'"{word}"' for word in words)
    read, means = "was read as it stands", "it means"
    if len(words) > 1:
        read, means = "were read as they stand", "they mean"
    return (
        f"{cells} of column '{text.name}' {read}: if {means} missing, say missing: [{quoted}] in the sidecar{then}"
    )


def notes_of_columns(columns: Iterable[TypedColumn]) -> Iterator[str]:
    """The notes on each column, and on points that may group thousands, since others have decimal commas."""
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
    synonyms: Mapping[str, str] = NO_SYNONYMS,
) -> TypedColumn:
    """Cells as codes of levels, or of the level that they are a synonym of; all others are missing."""
    code_of = {level: code for code, level in enumerate(levels)}
    code_of |= {value: code_of[level] for value, level in synonyms.items()}
    if empty is not None:
        code_of[""] = code_of[empty]
    codes = np.array([code_of.get(value, MISSING_CODE) for value in text.values], dtype=np.int32)
    cells = codes[text.which] if len(codes) else np.empty(0, np.int32)
    missing = bool((codes == MISSING_CODE).any())
    # if many cells are missing, that may be a level of its own; with fewer rows it is not worth a parameter
    often = missing and len(cells) >= 100 and float((cells == MISSING_CODE).mean()) >= 0.2
    return TypedColumn(Column(text.name, kind, levels, missing, often), cells, declared, "")


Checked = tuple[TypedColumn, list[Problem]]
"""A column, and every cell that does not fit."""


def declared(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    """A column typed as its sidecar says, and every cell that does not fit."""
    if declaration.kind == "numeric":
        return _declared_numbers(text, declaration, records)
    if declaration.kind == "boolean" and not declaration.levels and declaration.empty is None:
        values = present(text, declaration)
        levels = boolean_levels(values) or sorted_levels(values)
        if len(levels) != 2:
            what = f"column '{text.name}' is declared boolean but holds {len(levels)} values: {listed(levels)}"
            hint = "declare it nominal, or give it two levels"
            return as_levels(text, "boolean", levels, True), [Problem(what, where=records.name, hint=hint)]
        declaration = replace(declaration, levels=levels)
    values = present(text, declaration)
    empty_level = [declaration.empty] if declaration.empty is not None else []
    levels = declaration.levels or sorted_levels(list({*values, *empty_level}))

    def hint_for(value: str) -> str:
        close = nearest(value, levels)
        return f"did you mean '{close}'?" if close else f"levels: {listed(levels)}"

    level_set = set(levels)
    unknown = [value for value in values if value not in level_set]
    problems = _cell_problems(text, records, unknown, "is not a level of it", hint_for)
    typed = as_levels(text, declaration.kind or "nominal", levels, True, declaration.empty)
    return replace(typed, why="in the sidecar"), problems


def retyped(text: TextColumn, declaration: Declaration, kind: str, records: Records) -> Checked:
    """A column typed as the kind that a task needs, which is not declared."""
    typed, problems = declared(text, replace(declaration, kind=kind, levels=(), range=None), records)
    return replace(typed, declared=False), [
        replace(problem, hint="correct the cell") if problem.hint == NO_NUMBER else problem for problem in problems
    ]


def _declared_numbers(text: TextColumn, declaration: Declaration, records: Records) -> Checked:
    why = "in the sidecar"
    low, high = declaration.range or (-np.inf, np.inf)

    def misfits(numbers: Array) -> tuple[Flags, Flags]:
        """Which numbers are out of range, and which are not whole although they must be."""
        outside = (numbers < low) | (numbers > high)
        broken = (numbers != np.floor(numbers)) & ~np.isnan(numbers)
        return outside, broken & (declaration.numbers == DISCRETE)

    plain = _plain_numbers(text, declaration)
    if plain is not None and not any(misfit.any() for misfit in misfits(plain.cells)):
        return _typed_numbers(text.name, plain, True, why), []
    values = present(text, declaration)
    parsed = _parsed(text, values, records.delimiter)
    if parsed is None:
        wrong = not_numbers(values, records.delimiter)
        gaps = Numbers(np.full(len(text.which), np.nan), missing=True)
        problems = _cell_problems(text, records, wrong, "is not a number", _number_hint)
        return _typed_numbers(text.name, gaps, True, ""), problems
    outside, broken = ([values[index] for index in np.flatnonzero(misfit)] for misfit in misfits(parsed.distinct))
    what = f"is outside the range {low:g} to {high:g}"
    problems = _cell_problems(text, records, outside, what, lambda _: "correct the cell, or the range")
    hint = "correct the cell, or declare the column continuous"
    problems += _cell_problems(text, records, broken, "is not a whole number", lambda _: hint)
    notes = _rounding_notes(text.name, values, parsed.distinct)
    return _typed_numbers(text.name, parsed.numbers, True, why, notes), problems


def not_numbers(values: Sequence[str], delimiter: str) -> list[str]:
    """The values that are not numbers; with decimal commas allowed, those that are not even that, if any."""
    wrong = [value for value in values if not is_number(value)]
    with_comma = [value for value in wrong if not is_number(value.replace(",", "."))]
    return with_comma if with_comma and delimiter != "," else wrong


def _number_hint(value: str) -> str:
    if value.lower() in SEEMS_MISSING:
        return f'if it means missing, say missing: ["{value}"] in the sidecar'
    if NUMBER.fullmatch(value):
        return "the number is too large"
    if NUMBER.fullmatch(re.sub(f"[,{GROUPING}]", "", value)):
        return "numbers are written without thousands separators, with a decimal point"
    return NO_NUMBER


def _cell_problems(
    text: TextColumn, records: Records, wrong: Sequence[str], what: str, hint: Callable[[str], str]
) -> list[Problem]:
    """A problem for each of the first wrong values, with its first row, and one for the rest."""
    index_of = {value: index for index, value in enumerate(text.values)}
    problems = []
    for value in wrong[:SHOWN_VALUES]:
        first, count = text.first_row(index_of[value]), int(text.counts[index_of[value]])
        more = f" (in {count} rows)" if count > 1 else ""
        where = records.place(first, text.name)
        problems.append(Problem(f"'{value[:60]}' {what}{more}", where=where, hint=hint(value)))
    if len(wrong) > SHOWN_VALUES:
        rest = f"{len(wrong) - SHOWN_VALUES} more values of column '{text.name}' like these"
        problems.append(Problem(rest, where=records.name))
    return problems
