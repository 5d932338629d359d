"""Joins two files by keys, as text, and reports which keys are missing, empty or repeated.

Every row of A is kept, or only those with a match, or those of B without one as well. A key that B has twice would
multiply rows of A: that is refused unless it is requested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlcli.core.errors import DataError, UsageError
from mlcli.core.names import did_you_mean, free_name, listed
from mlcli.data.records import Records

Key = tuple[str, ...]
KEEPS = ("left", "inner", "outer")
"""Every row of A; those with a match; every row of A and B."""


@dataclass(frozen=True)
class JoinKeys:
    """The keys of one file."""

    rows: int
    empty: int
    """Rows with an empty part in their key: they match nothing."""
    doubled: Mapping[Key, int]
    """Keys that occur several times, with their counts."""
    unmatched: int
    """Rows with a key that the other file lacks."""
    examples: tuple[Key, ...]
    """The first of these keys."""


@dataclass(frozen=True)
class JoinedTable:
    """The joined columns, and how the keys matched."""

    columns: Mapping[str, list[str]]
    a: JoinKeys
    b: JoinKeys
    matched: int
    """Rows of A with a match."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Columns of B whose names A has, with their new names."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def pairs_of_names(on: Sequence[str]) -> list[tuple[str, str]]:
    """The columns of the key in A and in B: ``id``, or ``id=customer`` if B has another name for it."""
    pairs = [(name.partition("=")[0], name.partition("=")[2] or name.partition("=")[0]) for name in on]
    if not pairs or not all(all(pair) for pair in pairs):
        raise UsageError("no key to join on", hint="name its column: --on id, or --on id=customer_id")
    return pairs


def join(
    a: Records, b: Records, on: Sequence[tuple[str, str]], keep: str = "left", many: bool = False
) -> JoinedTable:
    """The rows of A, each with the cells of B for its key."""
    keys_a, keys_b = _keys(a, [name for name, _ in on]), _keys(b, [name for _, name in on])
    rows_of_a, rows_of_b = _rows_by_key(keys_a), _rows_by_key(keys_b)
    matches = [rows_of_b.get(key, []) for key in keys_a]
    described_b = _describe(keys_b, rows_of_b, rows_of_a)
    if not many and any(len(rows) > 1 for rows in matches):
        joined_rows = sum(max(1, len(rows)) for rows in matches)
        shown = listed([f"{' '.join(key)} ({count} times)" for key, count in described_b.doubled.items()], 5)
        what = f"keys stand more than once, so that {len(a)} rows of {a.name} would become {joined_rows}: {shown}"
        raise DataError(what, where=b.name, hint="--many if that is meant; else leave one row for each key")
    no_match = [-1] if keep != "inner" else []
    rows_a = [row for row, rows in enumerate(matches) for _ in rows or no_match]
    rows_b = [row for rows in matches for row in rows or no_match]
    if keep == "outer":
        matched = {row for rows in matches for row in rows}
        alone = [row for row in range(len(b)) if row not in matched]
        rows_a, rows_b = rows_a + [-1] * len(alone), rows_b + alone
    columns, renamed = _joined_columns(a, b, on, rows_a, rows_b)
    return JoinedTable(
        columns=columns,
        a=_describe(keys_a, rows_of_a, rows_of_b),
        b=described_b,
        matched=sum(map(bool, matches)),
        renamed=renamed,
    )


def _keys(records: Records, names: Sequence[str]) -> list[Key]:
    """The key of each row; () if a part of it is empty."""
    for name in names:
        if name not in records.header:
            hint = did_you_mean(name, records.header, "columns")
            raise DataError(f"there is no column '{name}' to join on", where=records.name, hint=hint)
    parts = zip(*(records.column(name).cells() for name in names), strict=True)
    return [key if all(key) else () for key in parts]


def _rows_by_key(keys: Sequence[Key]) -> dict[Key, list[int]]:
    """The rows of each key that is not empty."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        if key:
            rows.setdefault(key, []).append(row)
    return rows


def _describe(keys: Sequence[Key], rows: Mapping[Key, list[int]], others: Mapping[Key, list[int]]) -> JoinKeys:
    unmatched = [key for key in keys if key and key not in others]
    return JoinKeys(
        rows=len(keys),
        empty=sum(not key for key in keys),
        doubled={key: len(rows_of_key) for key, rows_of_key in rows.items() if len(rows_of_key) > 1},
        unmatched=len(unmatched),
        examples=tuple(dict.fromkeys(unmatched))[:5],
    )


def _joined_columns(
    a: Records, b: Records, on: Sequence[tuple[str, str]], rows_a: Sequence[int], rows_b: Sequence[int]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The columns of A, then those of B but for its key; a row without a match has empty cells."""
    key_of = dict(on)
    columns: dict[str, list[str]] = {}
    for column in a.columns:
        cells = column.cells()
        others = b.column(key_of[column.name]).cells() if column.name in key_of else None
        columns[column.name] = [
            cells[row] if row >= 0 else others[other] if others else ""
            for row, other in zip(rows_a, rows_b, strict=True)
        ]
    renamed: dict[str, str] = {}
    for column in b.columns:
        if column.name in key_of.values():
            continue
        others_of_b = (other for other in b.header if other != column.name)
        name, cells = free_name(column.name, {*columns, *others_of_b}), column.cells()
        if name != column.name:
            renamed[column.name] = name
        columns[name] = [cells[row] if row >= 0 else "" for row in rows_b]
    return columns, renamed
