"""Answers: predictions about rows beside their true values; metrics are functions of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.serialise import Json
from mlcli.core.tables import Array, Codes, Rows, Table

NamedArrays = dict[str, NDArray[Any]]
HEADER = "header."
"""The prefix of the arrays of a header among those of answers."""


@dataclass(frozen=True)
class Coordinate:
    """A point of a sweep: what is varied, and its value."""

    name: str
    value: float
    line: str = field(default="", repr=False)
    """The curve that the point lies on, if a protocol draws several."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Header:
    """The rows of answers with their weights, groups and context, so that scores need no data."""

    rows: Rows
    """Their numbers in the file."""
    weight: Array | None = None
    group: Codes | None = None
    """Which rows belong together, if a column tells it."""
    fold: Codes | None = None
    """The number of the split in which each row was scored."""
    columns: tuple[Column, ...] = ()
    """The sensitive and context columns."""
    numbers: Array | None = None
    codes: Codes | None = None

    @property
    def context(self) -> Table | None:
        """The sensitive and context columns as a table; None if there are none."""
        if self.numbers is None or self.codes is None:
            return None
        return Table(self.columns, self.numbers, self.codes)

    def with_arrays(self, arrays: NamedArrays) -> Header:
        """A header of the same columns with other arrays."""
        return Header(columns=self.columns, **arrays)

    @staticmethod
    def pooled(parts: Sequence[Header]) -> Header:
        """The rows of several splits, one after another."""
        return parts[0].with_arrays(_joined(parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Answers about the rows of a header; each array has one entry per row."""

    header: Header

    def __len__(self) -> int:
        return len(self.header.rows)

    @property
    def rows(self) -> Rows:
        """The numbers of the rows in the file."""
        return self.header.rows

    @property
    def weight(self) -> Array | None:
        """The weight of each row; None if there are no weights."""
        return self.header.weight

    @property
    def weights(self) -> Array:
        """The weight of each row, 1 if there are no weights."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def units(self) -> Codes | None:
        """Which rows depend on each other, as codes; None if rows are independent."""
        return None

    @property
    def crossed(self) -> Mapping[str, Codes]:
        """Crossed dependencies between rows by name, such as the users and the items of ratings."""
        return {}

    def with_header(self, **changes: object) -> Self:
        """The same answers with a changed header, such as other weights."""
        return replace(self, header=replace(self.header, **changes))  # type: ignore[arg-type]

    def judged_in(self, fold: int | Codes) -> Self:
        """The same answers with the number of the split in which each row was scored."""
        return self.with_header(fold=np.broadcast_to(np.asarray(fold, np.int32), len(self)))

    def arrays(self) -> NamedArrays:
        """Every array by name, including those of the header: what the store keeps."""
        return {HEADER + name: array for name, array in _arrays_of(self.header).items()} | _arrays_of(self)

    def facts(self) -> dict[str, object]:
        """All fields that are not arrays, as plain JSON values."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "header"}
        facts = {name: value for name, value in named.items() if not isinstance(value, np.ndarray | None)}
        if self.header.columns:
            facts[HEADER + "columns"] = [asdict(column) for column in self.header.columns]
        return facts

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], facts: Json) -> Self:
        """Answers from the results of ``arrays`` and ``facts``."""
        plain = _without_lists(facts)
        columns = tuple(Column(**_without_lists(column)) for column in plain.pop(HEADER + "columns", ()))
        in_header = {name.removeprefix(HEADER): array for name, array in arrays.items() if name.startswith(HEADER)}
        own = {name: array for name, array in arrays.items() if not name.startswith(HEADER)}
        return cls(header=Header(columns=columns, **in_header), **plain, **own)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the answers, in the given order."""
        return next(self.parted([rows]))

    def parted(self, parts: Iterable[Rows | slice]) -> Iterator[Self]:
        """The answers of each part; for thousands of parts much faster than ``take``."""
        arrays, in_header = _arrays_of(self), _arrays_of(self.header)
        names = [field.name for field in fields(self) if field.name != "header"]
        plain = {name: getattr(self, name) for name in names if name not in arrays}
        for rows in parts:
            header = self.header.with_arrays({name: array[rows] for name, array in in_header.items()})
            yield type(self)(header=header, **plain, **{name: array[rows] for name, array in arrays.items()})

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The answers of several splits as one."""
        header = Header.pooled([part.header for part in parts])
        return replace(parts[0], header=header, **_joined(parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassAnswers(Answers):
    """Answers about rows of known classes; a score may need rows of every class."""

    truth: Codes
    """The class of each row as a code into ``classes``, -1 if unknown."""
    classes: tuple[str, ...]


def _arrays_of(described: Header | Answers) -> NamedArrays:
    named = {field.name: getattr(described, field.name) for field in fields(described)}
    return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def _without_lists(facts: Json) -> Json:
    """The values with tuples for lists, since JSON has no tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}


def _joined(parts: Sequence[Header] | Sequence[Answers]) -> NamedArrays:
    """The arrays of all parts, concatenated by name."""
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in _arrays_of(parts[0])}
