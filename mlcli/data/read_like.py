"""New rows for a model that is fitted: typed by the columns it learned from, whatever the rules would infer."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.data.columns import Typed, coded_by, declared
from mlcli.data.find import find
from mlcli.data.lacking import lacking
from mlcli.data.load import content_of, layout_of
from mlcli.data.records import Records, read_records
from mlcli.data.sidecar import Declaration, read_sidecar, sidecar_document

STANDARD_INPUT = "-"
Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Unseen:
    """A value that is none of the levels that the model knows; its cells count as missing."""

    column: str
    value: str
    count: int


@dataclass(frozen=True)
class Outside:
    """Numbers beyond those that the model has met."""

    column: str
    count: int
    low: float
    high: float
    lowest: float
    highest: float


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows to be asked about, what is unusual in them, and their text as it was given."""

    table: Table
    records: Records
    extra: tuple[str, ...]
    """Columns that the model does not look at."""
    unseen: tuple[Unseen, ...]
    outside: tuple[Outside, ...]

    def __len__(self) -> int:
        return len(self.records)

    def text(self, column: str) -> list[str]:
        """The cells of any column of the file, as text, to be written beside the predictions."""
        return self.records.column(column).cells()

    def texts(self, columns: Mapping[str, Column]) -> dict[str, list[str]]:
        """The cells of some columns as text, by role; an order of declared levels is told by their places."""
        return {
            role: self._placed(column) if role == "order" else self.text(column.name)
            for role, column in columns.items()
        }

    def _placed(self, column: Column) -> list[str]:
        places = {level: str(place) for place, level in enumerate(column.levels)}
        return [places.get(cell, cell) for cell in self.text(column.name)]


def read_like(
    reference: str,
    columns: Sequence[Column],
    *,
    base: Path | None = None,
    ranges: Ranges | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    beside: Mapping[str, Column] | None = None,
) -> NewRows:
    """The rows of a file, or of standard input (``-``), as a model with these columns needs them.

    Missing columns are refused, extra ones are kept as text. Of a sidecar beside the file only what says how cells
    are read counts: delimiter, header and missing cells. ``missing`` are words, by column, that stood for an empty
    cell when the model learned. ``beside`` are columns, by role, that must be there although the model does
    not see them.
    """
    records, said = _records(reference, base)
    needed = [column.name for column in (*columns, *(beside or {}).values())]
    raise_all(DataError, lacking(needed, records.header, records.name))
    typed: dict[str, Typed] = {}
    unseen: list[Unseen] = []
    problems: list[Problem] = []
    for column in columns:
        text, declaration = records.column(column.name), said.get(column.name, Declaration())
        words = (missing or {}).get(column.name, ())
        declaration = replace(declaration, missing=(*declaration.missing, *words))
        if column.coded:
            typed[column.name], strange = coded_by(text, column, declaration)
            unseen += [Unseen(column.name, value, count) for value, count in strange.items()]
        else:
            plain = replace(declaration, kind=column.kind, range=None)
            typed[column.name], found = declared(text, plain, records)
            problems += found
    raise_all(DataError, problems)
    return NewRows(
        table=Table.of(((column, typed[column.name].cells) for column in columns), len(records)),
        records=records,
        extra=tuple(name for name in records.header if name not in typed),
        unseen=tuple(unseen),
        outside=_outside(typed, ranges or {}),
    )


def _records(reference: str, base: Path | None) -> tuple[Records, dict[str, Declaration]]:
    if reference == STANDARD_INPUT:
        return read_records(sys.stdin.buffer.read(), "standard input"), {}
    path = find(reference, base)
    document = sidecar_document(path)
    records = read_records(content_of(path), str(path), layout_of(document))
    sidecar = read_sidecar(document, records.header)
    return records, {name: sidecar.of(name) for name in records.header}


def _outside(typed: Mapping[str, Typed], ranges: Ranges) -> tuple[Outside, ...]:
    found = (_beyond(name, typed[name].cells, *ends) for name, ends in ranges.items() if name in typed)
    return tuple(outside for outside in found if outside is not None)


def _beyond(name: str, cells: Array, low: float, high: float) -> Outside | None:
    beyond = cells[(cells < low) | (cells > high)]
    if not len(beyond):
        return None
    return Outside(name, len(beyond), low, high, float(np.min(beyond)), float(np.max(beyond)))
