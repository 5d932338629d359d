"""What a model said about rows it was asked, with the truth beside it; metrics are functions of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table

Named = dict[str, np.ndarray[Any, Any]]
"""Arrays by name."""
HEADER = "header."
"""How the names of a header's arrays begin among those of answers."""


@dataclass(frozen=True)
class Coordinate:
    """Where in a sweep answers were given: what is swept over, and its value there."""

    name: str
    value: float
    line: str = field(default="", repr=False)
    """Which of several curves it lies on, where a protocol draws some beside each other."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Header:
    """What is known of the rows that were asked about, so that who judges the answers needs no data."""

    rows: Rows
    """Their numbers in the file."""
    weight: Array | None = None
    group: Codes | None = None
    """Which rows belong together, where a column says so."""
    fold: Codes | None = None
    """The number of the split that judged each row."""
    columns: tuple[Column, ...] = ()
    """The columns that are sensitive or context."""
    numbers: Array | None = None
    codes: Codes | None = None

    @property
    def context(self) -> Table | None:
        """The cells of the columns that are sensitive or context, if there are any."""
        if self.numbers is None or self.codes is None:
            return None
        return Table(self.columns, self.numbers, self.codes)

    def arrays(self) -> Named:
        """Every array, by name; each has an entry per row."""
        return _arrays_of(self)

    def with_arrays(self, arrays: Named) -> Header:
        """A header of the same columns with other arrays."""
        return Header(columns=self.columns, **arrays)

    @staticmethod
    def pooled(parts: Sequence[Header]) -> Header:
        """The rows of several splits, one after another."""
        return parts[0].with_arrays(_joined(parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Answers to the rows of a header: each array has one entry per row."""

    header: Header

    def __len__(self) -> int:
        return len(self.header.rows)

    @property
    def rows(self) -> Rows:
        """The numbers of the rows in the file."""
        return self.header.rows

    @property
    def weight(self) -> Array | None:
        """The weight of each row, where one is given."""
        return self.header.weight

    @property
    def weights(self) -> Array:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def units(self) -> Codes | None:
        """Which rows hang together, as one thing; None where each row stands alone."""
        return None

    @property
    def crossed(self) -> Mapping[str, Codes]:
        """By name, ways in which rows hang together that cross each other: the users and the items of ratings."""
        return {}

    def with_header(self, **changes: Any) -> Self:
        """The same answers with something else in their header, such as other weights."""
        return replace(self, header=replace(self.header, **changes))

    def judged_in(self, fold: int | Codes) -> Self:
        """The same answers with the number of the split that each row was judged in."""
        return self.with_header(fold=np.broadcast_to(np.asarray(fold, np.int32), len(self)))

    def arrays(self) -> Named:
        """Every array, by name, those of the header included: what the store keeps."""
        return {HEADER + name: array for name, array in self.header.arrays().items()} | _arrays_of(self)

    def facts(self) -> dict[str, Any]:
        """What is not an array, as plain JSON values."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "header"}
        columns = [asdict(column) for column in self.header.columns]
        own = {name: value for name, value in named.items() if not isinstance(value, np.ndarray | None)}
        return {**own, **({HEADER + "columns": columns} if columns else {})}

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray[Any, Any]], facts: Mapping[str, Any]) -> Self:
        """Answers from what ``arrays`` and ``facts`` gave."""
        plain = _without_lists(facts)
        columns = tuple(Column(**_without_lists(one)) for one in plain.pop(HEADER + "columns", ()))
        of_header = {name.removeprefix(HEADER): array for name, array in arrays.items() if name.startswith(HEADER)}
        own = {name: array for name, array in arrays.items() if not name.startswith(HEADER)}
        return cls(header=Header(columns=columns, **of_header), **plain, **own)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the answers, in the order given."""
        return next(self.parted([rows]))

    def parted(self, parts: Iterable[Rows | slice]) -> Iterator[Self]:
        """Some of the answers for each part; for thousands of parts much faster than taking one by one."""
        arrays, known = _arrays_of(self), self.header.arrays()
        names = [field.name for field in fields(self) if field.name != "header"]
        plain = {name: getattr(self, name) for name in names if name not in arrays}
        for rows in parts:
            header = self.header.with_arrays({name: array[rows] for name, array in known.items()})
            yield type(self)(header=header, **plain, **{name: array[rows] for name, array in arrays.items()})

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The answers of several splits as one."""
        header = Header.pooled([part.header for part in parts])
        return replace(parts[0], header=header, **_joined(parts))


def _arrays_of(described: Any) -> Named:
    named = {field.name: getattr(described, field.name) for field in fields(described)}
    return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def _without_lists(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name as they were: JSON has no tuples, answers and columns have no lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}


def _joined(parts: Sequence[Any]) -> Named:
    """The arrays of the first, each with those of the others behind it."""
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in _arrays_of(parts[0])}
