"""New rows for a model that is fitted: typed by the columns it learned from, whatever the rules would infer."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.columns import TypedColumn, absent_cells, coded_by
from mlcli.data.declared_columns import NO_NUMBER, declared
from mlcli.data.load import layout_of
from mlcli.data.long_form import wide_records
from mlcli.data.read_records import read_records
from mlcli.data.read_sidecar import read_sidecar
from mlcli.data.records import Records
from mlcli.data.sidecar import Declaration
from mlcli.data.source import InMemory, Source, source_of_file

STANDARD_INPUT = "-"
COMMAND_LINE = "the row on the command line"
LEARNED = "correct the cell: the model has learned numbers from this column"
NOTHING: Mapping[str, Any] = MappingProxyType({})
Ranges = Mapping[str, tuple[float, float]]
Reference = str | Mapping[str, str] | Source
"""A file, standard input (``-``), one row by its cells, or rows from elsewhere."""


@dataclass(frozen=True)
class UnseenLevel:
    """A value that is none of the levels that the model knows; its cells count as missing."""

    column: str
    value: str
    count: int


@dataclass(frozen=True)
class OutsideRange:
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
    unseen: tuple[UnseenLevel, ...]
    outside: tuple[OutsideRange, ...]
    letters: bool = False
    """Whether the model looks at the letters of values that were not there in training."""
    absent_features: tuple[str, ...] = ()
    """Columns that the model knows and the file lacks; what they stand for counts as not there."""

    def __len__(self) -> int:
        return len(self.records)

    def text(self, column: str) -> list[str]:
        """The cells of any column of the file, as text, to be written beside the predictions."""
        return self.records.column(column).cells()

    def texts(self, columns: Mapping[str, Column]) -> dict[str, list[str]]:
        """The cells of those of some columns that are there as text, by role.

        An order of declared levels is told by their places.
        """
        there = set(self.records.header)
        return {
            role: self._placed(column) if role == "order" else self.text(column.name)
            for role, column in columns.items()
            if column.name in there
        }

    def _placed(self, column: Column) -> list[str]:
        places = {level: str(place) for place, level in enumerate(column.levels)}
        return [places.get(cell, cell) for cell in self.text(column.name)]


def new_rows(
    reference: Reference,
    columns: Sequence[Column],
    *,
    ranges: Ranges = NOTHING,
    missing: Mapping[str, Sequence[str]] = NOTHING,
    beside: Mapping[str, Column] = NOTHING,
    optional: Collection[str] = (),
    long_form: Mapping[str, str] = NOTHING,
    letters: bool = False,
) -> NewRows:
    """The rows of a file, of standard input, one row by its cells, or rows from elsewhere, as a model needs them.

    Missing columns are refused, extra ones are kept as text. Of a sidecar beside the file only what says how cells
    are read counts: delimiter, header and missing cells. ``missing`` are words, by column, that stood for an empty
    cell when the model learned. ``beside`` are columns, by role, that must be there although the model does
    not see them. ``optional`` columns may lack, but for all of them. ``long_form`` are, by role, the names
    that the columns of units and things have where a row is a thing of a unit. ``letters``: values that are
    none of the levels are kept as further levels, for a model that looks at their letters.
    """
    records, declarations = _records(reference)
    records, unseen = _widened(records, columns, declarations, long_form)
    absent_columns = _absent_optional(columns, records.header, optional)
    needed = [column.name for column in (*columns, *beside.values()) if column.name not in absent_columns]
    absent = absent_features(needed, records.header, records.name)
    if long_form and not set(records.header).intersection(needed):
        absent = (replace(problem, hint=_hint_of_form(long_form)) for problem in absent)
    raise_all(DataError, absent)
    typed, unknown = _typed_columns(records, columns, declarations, missing, letters)
    cells = {name: one.cells for name, one in typed.items()}
    return NewRows(
        table=Table.of(((typed[one.name].column, typed[one.name].cells) for one in columns), len(records)),
        records=records,
        extra=tuple(name for name in records.header if name not in cells),
        unseen=(*unseen, *unknown),
        outside=tuple(_outside(cells, ranges)),
        letters=letters,
        absent_features=absent_columns,
    )


def _typed_columns(
    records: Records,
    columns: Sequence[Column],
    declarations: Mapping[str, Declaration],
    missing: Mapping[str, Sequence[str]],
    letters: bool,
) -> tuple[dict[str, TypedColumn], list[UnseenLevel]]:
    """Columns as the model knows them, absent ones included, and levels that it does not know."""
    typed, unseen, problems = dict[str, TypedColumn](), list[UnseenLevel](), list[Problem]()
    for column in columns:
        if column.name not in records.header:
            typed[column.name] = TypedColumn(column, absent_cells(column, len(records)), declared=False, why="")
            continue
        text, declaration = records.column(column.name), declarations.get(column.name, Declaration())
        words = (*declaration.missing, *missing.get(column.name, ()))
        declaration = replace(declaration, missing=words)
        if column.coded:
            one, unknown_levels = coded_by(text, column, declaration, keep_new=letters)
            unseen += [UnseenLevel(column.name, value, count) for value, count in unknown_levels.items()]
        else:
            known, found = declared(text, replace(declaration, kind=column.kind, range=None), records)
            one = replace(known, column=column)
            problems += (replace(wrong, hint=LEARNED) if wrong.hint == NO_NUMBER else wrong for wrong in found)
        typed[column.name] = one
    raise_all(DataError, problems)
    return typed, unseen


def _hint_of_form(long_form: Mapping[str, str]) -> str:
    """How a file says that each of its rows is one thing of a unit."""
    unit, thing = long_form
    roles = ", ".join(f"{role}: [COLUMN]" for role in long_form)
    return f"if each row is one {thing} of a {unit}, say so in a sidecar beside the file: roles: {{{roles}}}"


def _absent_optional(
    columns: Sequence[Column], header: Sequence[str], optional: Collection[str]
) -> tuple[str, ...]:
    """The optional columns that a file lacks; a file that lacks all columns is another file."""
    absent = {column.name for column in columns}.difference(header).intersection(optional)
    absent_columns = tuple(column.name for column in columns if column.name in absent)
    return absent_columns if len(absent_columns) < len(columns) else ()


def _widened(
    records: Records,
    columns: Sequence[Column],
    declarations: Mapping[str, Declaration],
    long_form: Mapping[str, str],
) -> tuple[Records, list[UnseenLevel]]:
    """Rows in long form as one row for each unit; others as they are."""
    roles = {declaration.role: name for name, declaration in declarations.items()}
    names = [roles.get(role, name) for role, name in long_form.items()]
    if not names or not set(names) <= set(records.header):
        return records, []
    unit, thing = names
    wide, unknown_levels = wide_records(records, unit, thing, columns)
    return wide, [UnseenLevel(thing, value, count) for value, count in unknown_levels.items()]


def _records(reference: Reference) -> tuple[Records, dict[str, Declaration]]:
    source = _source(reference)
    records = read_records(source.content, source.name, layout_of(source.document))
    sidecar = read_sidecar(source.document, records.header)
    return records, {name: sidecar.of(name) for name in records.header}


def _source(reference: Reference) -> Source:
    if isinstance(reference, Source):
        return reference
    if not isinstance(reference, str):
        return Source(COMMAND_LINE, InMemory(_one_line(reference)))
    if reference == STANDARD_INPUT:
        return Source("standard input", InMemory(sys.stdin.buffer.read()))
    return source_of_file(reference)


def records_of(reference: str) -> Records:
    """The text of a file, or of standard input (``-``), as its sidecar says that it is laid out."""
    return _records(reference)[0]


def _one_line(cells: Mapping[str, str]) -> bytes:
    """A CSV file of one row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([list(cells), list(cells.values())])
    return text.getvalue().encode()


def _outside(cells: Mapping[str, NDArray[Any]], ranges: Ranges) -> Iterator[OutsideRange]:
    for name, (low, high) in ranges.items():
        numbers = cells.get(name, np.empty(0))
        beyond = numbers[(numbers < low) | (numbers > high)]
        if len(beyond):
            yield OutsideRange(name, len(beyond), low, high, float(beyond.min()), float(beyond.max()))


def absent_features(needed: Sequence[str], names: Sequence[str], where: str) -> Iterator[Problem]:
    """One problem for all columns that are not there, with those that may be meant; none where all are."""
    absent = [name for name in needed if name not in names]
    if absent:
        what = f"lacks {len(absent)} of the {len(needed)} needed columns: {listed(absent)}"
        meant = [f"'{close}' for '{name}'" for name in absent if (close := nearest(name, names))]
        hint = f"did you mean {listed(meant)}?" if meant else f"it has {listed(names)}"
        yield Problem(what, where=where, hint=hint)
