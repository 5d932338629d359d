"""What a dataset looks like: its columns with small histograms, the balance of its classes, what seems odd."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlcli.core.findings import Bars, Finding
from mlcli.data.profile import ColumnProfile, LevelCount, LevelSummary, Profile
from mlcli.report.document import (
    Content,
    Document,
    Element,
    Field,
    Heading,
    Sentence,
    explained,
    grid,
    notes,
    strong,
)
from mlcli.report.numbers import counted, lined_up, share, short

LEVELS_SHOWN = 4
LONGEST_LEVEL = 40
"""So many letters of a level are shown, so that cells of whole texts leave the table readable."""


def profile_of(profile: Profile, tables: Sequence[Finding] = ()) -> Document:
    """The whole profile, with tables that say more of the warnings."""
    return tuple(_elements(profile, tables))


def datasets_of(shipped: Mapping[str, str]) -> Document:
    """The shipped datasets, one line each."""
    table = grid(["", ""], ([strong(name), summary] for name, summary in shipped.items()))
    return table, notes("mlcli data NAME shows the columns of one; any CSV file works as well: mlcli data my.csv")


def _elements(profile: Profile, tables: Sequence[Finding]) -> Iterator[Element]:
    task = " of ".join(part for part in (profile.task, profile.target) if part) or "no target"
    yield Heading(profile.name, 1)
    yield Sentence(f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}; {task}")
    rows = ([*_described(column), *_content(column)] for column in profile.columns)
    yield grid(["column", "role", "kind", "missing", "values", "distribution"], rows, right=[3])
    if profile.classes:
        yield from explained([_classes(str(profile.target), profile.classes)])
    yield from _listed("How kinds and roles were found", _found(profile.columns))
    yield from _listed("Guessed or odd while reading", profile.notes)
    yield from _listed("Warnings", profile.warnings)
    yield from explained(tables)
    yield from _about(profile.about)


def _described(column: ColumnProfile) -> list[Content]:
    missing = f"{column.missing} ({100 * column.missing_share:.1f} %)" if column.missing else "0"
    role: Field | str = Field(column.role, "best") if column.role == "target" else column.role
    return [strong(column.name), role, column.kind, missing]


def _content(column: ColumnProfile) -> list[Content]:
    if (numbers := column.numbers) is not None:
        kind = "whole numbers, " if numbers.discrete else ""
        values = f"{kind}{short(numbers.low)} to {short(numbers.high)}, mean {short(numbers.mean)}"
        return [values, _histogram(numbers.counts)]
    return _levels(column.levels) if column.levels is not None and column.levels.used else ["none", ""]


def _levels(levels: LevelSummary) -> list[Content]:
    shown = ", ".join(f"{_shortened(top.level)} {top.count}" for top in levels.top[:LEVELS_SHOWN])
    more = levels.used - LEVELS_SHOWN
    unused = levels.levels - levels.used
    text = shown + (f" and {counted(more, 'more level')}" if more > 0 else "")
    return [text + (f" ({unused} unused)" if unused else ""), _histogram([top.count for top in levels.top])]


def _shortened(level: str) -> str:
    return level if len(level) <= LONGEST_LEVEL else f"{level[: LONGEST_LEVEL - 1]}…"


def _histogram(counts: Sequence[int]) -> Field:
    highest = max(counts, default=0)
    return Field("", heights=tuple(count / highest if count else math.nan for count in counts))


def _found(columns: Sequence[ColumnProfile]) -> list[str]:
    """How kinds and roles were found, columns of one reason together."""
    reasons: dict[str, list[str]] = {}
    for column in columns:
        reason = f"{column.source}, {column.why}" if column.why else column.source
        reasons.setdefault(reason, []).append(column.name)
    if len(reasons) == 1:
        return [f"all columns: {reason}" for reason in reasons]
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _classes(target: str, classes: Sequence[LevelCount]) -> Bars:
    total = sum(one.count for one in classes)
    labels, counts = zip(*((one.level, one.count) for one in classes), strict=True)
    shares = tuple(share(count, total) for count in counts)
    return Bars(f"Classes of {target}", ("class", "rows", "share"), labels, counts, (shares,))


def _listed(title: str, sentences: Sequence[str]) -> Iterator[Element]:
    if sentences:
        yield Heading(title)
        yield notes(*sentences, mark="-")


def _about(about: Mapping[str, Any]) -> Iterator[Element]:
    """Source, licence and the like; what is itself a table stands below."""
    facts = [[key, _words(value)] for key, value in about.items() if value and not _is_table(value)]
    if facts:
        yield grid(["", ""], facts)
    for key, value in about.items():
        if _is_table(value):
            yield Heading(key.capitalize())
            yield from _table(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[Element]:
    """Rows by their keys; what is the same in all of several rows is said once."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    shared = [key for key in keys if len(rows) > 1 and len({_words(row.get(key)) for row in rows}) == 1]
    shown = [key for key in keys if key not in shared]
    numbers = [at for at, key in enumerate(shown) if all(isinstance(row.get(key), int | float) for row in rows)]
    columns = [
        lined_up([row[key] for row in rows]) if place in numbers else [_words(row.get(key)) for row in rows]
        for place, key in enumerate(shown)
    ]
    yield grid(shown, zip(*columns, strict=True), right=numbers)
    yield notes(*(f"{key}: {_words(rows[0][key])}" for key in shared))


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)
