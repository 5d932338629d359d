"""Which columns a step is for, by names, kinds and patterns, and where what it makes of them stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import COLUMN_KINDS, Column

Part = tuple[Column, Any]
"""A column with its cells."""


def chosen(columns: Sequence[Column], wanted: Sequence[str]) -> tuple[Column, ...]:
    """The columns that some words mean, in the order of the table."""
    names = {column.name for word in wanted for column in _meant_by(word, columns)}
    return tuple(column for column in columns if column.name in names)


def _meant_by(word: str, columns: Sequence[Column]) -> list[Column]:
    """A name, or what one-hot has made of it; else all of a kind; else all that a pattern fits."""
    named = [column for column in columns if column.name == word or column.name.startswith(f"{word}=")]
    if named or word in COLUMN_KINDS:
        return named or [column for column in columns if column.kind == word]
    return [column for column in columns if fnmatchcase(column.name, word)]


def refuse_unknown(whose: str, columns: Sequence[Column], wanted: Sequence[str]) -> None:
    """Refuse names and patterns that mean no column; a kind may be absent."""
    names = [column.name for column in columns]
    unknown = [word for word in wanted if word not in COLUMN_KINDS and not _meant_by(word, columns)]
    if unknown:
        hints = (did_you_mean(word, (*names, *COLUMN_KINDS), "columns and kinds") for word in unknown)
        what = f"{whose}: there is no column '{{}}' before it"
        raise UsageError(
            *(Problem(what.format(word), hint=hint) for word, hint in zip(unknown, hints, strict=True))
        )


def put_back(parts: Iterable[Part], seen: Sequence[Column], made: Iterable[Part]) -> Iterator[Part]:
    """All columns after a step has seen some and made others of them.

    A column that is not seen stays as it is; one that keeps its name keeps its place; a new one follows what the
    step put before it, or stands where the first column that it has seen stood.
    """
    parts, names = list(parts), {column.name for column in seen}
    taken = {column.name for column, _ in parts} - names
    runs: dict[str | None, list[Part]] = {None: []}
    last: str | None = None
    for column, cells in made:
        if column.name in names:
            last = column.name
        runs.setdefault(last, []).append((_with_free_name(column, taken), cells))
    for column, cells in parts:
        if column.name in names:
            yield from (*runs.pop(None, ()), *runs.pop(column.name, ()))
        else:
            yield column, cells


def _with_free_name(column: Column, taken: set[str]) -> Column:
    """A new column under a name that no column outside has, such as "component 1 (2)"."""
    name, count = column.name, 2
    while name in taken:
        name, count = f"{column.name} ({count})", count + 1
    return replace(column, name=name)
