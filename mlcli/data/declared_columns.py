"""Columns typed as their sidecar says, and every cell that does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import Problem
from mlcli.core.names import listed, nearest
from mlcli.core.tables import Flags
from mlcli.data.columns import (
    SEEMS_MISSING,
    SHOWN_VALUES,
    TypedColumn,
    as_levels,
    as_typed_numbers,
    boolean_levels,
    of_plain,
    plain_numbers,
    present,
    read_as_numbers,
    sorted_levels,
)
from mlcli.data.number_text import GROUPING, NUMBER, is_number
from mlcli.data.records import Records, TextColumn
from mlcli.data.sidecar import DISCRETE, Declaration

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
    if plain is not None and not any(some.any() for some in _misfits(plain.cells, declaration)):
        return of_plain(text.name, plain, True, AS_DECLARED), []
    values = present(text, declaration)
    found = read_as_numbers(values, records.delimiter)
    if found is None:
        wrong = not_numbers(values, records.delimiter)
        problems = _cell_problems(text, records, wrong, "is not a number", _number_hint)
        return as_typed_numbers(text, values, np.full(len(values), np.nan), True, ""), problems
    numbers, decimal = found
    low, high = declaration.range or (-np.inf, np.inf)
    outside, broken = (
        [values[place] for place in np.flatnonzero(some)] for some in _misfits(numbers, declaration)
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
    place_of = {value: place for place, value in enumerate(text.values)}
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
