"""New rows for a trained model, from a file, standard input, a data frame or single cells.

Columns are found by their names, and cells are typed as they were in the training data.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.limits import NUMBERS
from mlcli.core.names import counted, listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table, is_missing
from mlcli.data.columns import NO_NUMBER, SHOWN_VALUES, TypedColumn, absent_cells, coded_by, declared
from mlcli.data.dataset import Dataset
from mlcli.data.load import layout_of
from mlcli.data.long_form import wide_records
from mlcli.data.read_sidecar import read_sidecar
from mlcli.data.records import Distinct, Numbers, Records, TextColumn, read_records
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.data.source import InMemory, Source, source_of_file

LEARNED = "correct the cell: the model has learned numbers from this column"
MOST_LISTED = 8
"""Columns with unusual numbers of which each has a sentence of its own."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
Ranges = Mapping[str, tuple[float, float]]


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
class AlignedRows:
    """Rows as a model knows them, what is unusual in them, and their text as it was given."""

    table: Table
    records: Records
    unseen: tuple[UnseenLevel, ...]
    outside: tuple[OutsideRange, ...]
    letters: bool = False
    """Whether the model looks at the letters of values that were not there in training."""
    absent_features: tuple[str, ...] = ()
    """Columns that the model knows and the rows lack; what they stand for counts as not there."""

    def __len__(self) -> int:
        return len(self.records)

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that the model does not look at."""
        known = {column.name for column in self.table.columns}
        return tuple(name for name in self.records.header if name not in known)

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
        places = {level: str(index) for index, level in enumerate(column.levels)}
        return [places.get(cell, cell) for cell in self.text(column.name)]

    def unseen_cells(self, column: str) -> int:
        """How many cells of a column hold something that is none of the levels that the model knows."""
        return sum(one.count for one in self.unseen if one.column == column)

    def warnings(self) -> Iterator[str]:
        """A sentence on each column with cells unlike those of training."""
        yield from self._on_levels()
        yield from self._on_empty_cells()
        yield from self._on_numbers()

    def _on_levels(self) -> Iterator[str]:
        for column in dict.fromkeys(one.column for one in self.unseen):
            values = [f"'{one.value}'" for one in self.unseen if one.column == column]
            were, they = ("was", "it counts") if len(values) == 1 else ("were", "they count")
            counts = "features are made of letters alone" if self.letters else f"{they} as missing"
            new = f"{listed(values)} {were} not there in training"
            yield f"column '{column}': {new}; {counts} (cells: {self.unseen_cells(column)})"

    def _on_empty_cells(self) -> Iterator[str]:
        for column, cells in self.table.parts():
            if column.missing or column.name in self.absent_features:
                continue
            unseen = 0 if self.letters else self.unseen_cells(column.name)
            if empty := int(is_missing(cells).sum()) - unseen:
                yield f"column '{column.name}': {empty} of {len(self)} cells are empty; none was in training"

    def _on_numbers(self) -> Iterator[str]:
        beyond = "outside the training range"
        for one in self.outside[:MOST_LISTED]:
            cells = f"cells {beyond} of {one.low:g} to {one.high:g}"
            reach = f"reaching from {one.lowest:g} to {one.highest:g}"
            yield f"column '{one.column}': {cells}, {reach} (cells: {one.count})"
        if more := [one.column for one in self.outside[MOST_LISTED:]]:
            yield f"cells {beyond} in {counted(len(more), 'more column')}: {listed(more)}"


def aligned(
    records: Records,
    columns: Sequence[Column],
    *,
    declarations: Mapping[str, Declaration] = NOTHING,
    ranges: Ranges = NOTHING,
    beside: Sequence[Column] = (),
    optional: Collection[str] = (),
    letters: bool = False,
    hint_where_none: str = "",
) -> AlignedRows:
    """Rows as a model knows them; what does not fit is a DataError that names all of it.

    ``declarations`` say how cells are read. Columns ``beside`` must be there although the model does not see them;
    ``optional`` ones may lack, but for all of them; ``hint_where_none`` is the advice where no column is there.
    ``letters``: values that are none of the levels are kept as further levels, for a model that looks at their
    letters.
    """
    absent = _absent_optional(columns, records.header, optional)
    needed = [column.name for column in (*columns, *beside) if column.name not in absent]
    raise_all(DataError, _absent_features(needed, records, hint_where_none))
    typed, unseen = _typed_columns(records, columns, declarations, letters)
    parts = [(column.column, column.cells) for column in typed]
    outside = tuple(_outside(parts, ranges))
    return AlignedRows(Table.of(parts, len(records)), records, tuple(unseen), outside, letters, absent)


def _typed_columns(
    records: Records,
    columns: Sequence[Column],
    declarations: Mapping[str, Declaration],
    letters: bool,
) -> tuple[list[TypedColumn], list[UnseenLevel]]:
    """Columns as the model knows them, absent ones included, and levels that it does not know."""
    typed, unseen, problems = list[TypedColumn](), list[UnseenLevel](), list[Problem]()
    names = set(records.header)
    for column in columns:
        if column.name not in names:
            cells = absent_cells(column, len(records))
            typed.append(TypedColumn(column, cells, declared=False, why=""))
            continue
        text, declaration = records.column(column.name), declarations.get(column.name, Declaration())
        if column.coded:
            typed_column, unknown_levels = coded_by(text, column, declaration, keep_new=letters)
            unseen += [UnseenLevel(column.name, value, count) for value, count in unknown_levels.items()]
        else:
            known, results = declared(text, replace(declaration, kind=column.kind, range=None), records)
            typed_column = replace(known, column=column)
            problems += (replace(wrong, hint=LEARNED) if wrong.hint == NO_NUMBER else wrong for wrong in results)
        typed.append(typed_column)
    raise_all(DataError, problems)
    return typed, unseen


def _absent_optional(
    columns: Sequence[Column], header: Sequence[str], optional: Collection[str]
) -> tuple[str, ...]:
    """The optional columns that rows lack; those that lack all columns are rows of another file."""
    absent = {column.name for column in columns}.difference(header).intersection(optional)
    absent_columns = tuple(column.name for column in columns if column.name in absent)
    return absent_columns if len(absent_columns) < len(columns) else ()


def _absent_features(needed: Sequence[str], records: Records, hint_where_none: str) -> Iterator[Problem]:
    """One problem for all columns that are not there, with those that may be meant; none where all are."""
    names = set(records.header)
    absent = [name for name in needed if name not in names]
    if not absent:
        return
    requested = set(needed)
    unknown = [name for name in records.header if name not in requested]
    meant = [f"'{name}' by '{close}'" for name in absent[:MOST_LISTED] if (close := nearest(name, unknown))]
    hint = f"did you mean {listed(meant)}?" if meant else f"it has {listed(records.header)}"
    if hint_where_none and len(absent) == len(needed):
        hint = hint_where_none
    what = f"lacks {len(absent)} of the {len(needed)} needed columns: {listed(absent)}"
    yield Problem(what, where=records.name, hint=hint)


def _outside(parts: Sequence[tuple[Column, NDArray[Any]]], ranges: Ranges) -> Iterator[OutsideRange]:
    for column, numbers in parts:
        if column.name not in ranges:
            continue
        low, high = ranges[column.name]
        beyond = numbers[(numbers < low) | (numbers > high)]
        if len(beyond):
            yield OutsideRange(column.name, len(beyond), low, high, float(beyond.min()), float(beyond.max()))


def records_of_dataset(dataset: Dataset) -> Records:
    """The rows of a dataset as text, numbers written plainly."""
    texts = tuple(_text_of(column, cells) for column, cells in dataset.table.parts())
    return Records(dataset.name, ",", texts, np.arange(1, len(dataset) + 1), (), has_lines=False)


def _text_of(column: Column, cells: NDArray[Any]) -> TextColumn:
    if column.coded:
        return TextColumn(column.name, partial(_texts_of_codes, column.levels, cells))
    plain = Numbers(cells, bool(np.isnan(cells).any()))
    return TextColumn(column.name, partial(_texts_of_numbers, cells), plain)


def _texts_of_codes(levels: Sequence[str], codes: Codes) -> Distinct:
    held = np.flatnonzero(np.bincount(codes + 1, minlength=len(levels) + 1))
    indices = np.zeros(len(levels) + 1, np.int32)
    indices[held] = np.arange(len(held))
    texts = ("", *levels)
    return [texts[one] for one in held], indices[codes + 1]


def _texts_of_numbers(numbers: Array) -> Distinct:
    values, which = np.unique(numbers, return_inverse=True)
    texts = ["" if math.isnan(one) else repr(one).removesuffix(".0") for one in values.tolist()]
    return texts, which.astype(np.int32)


NOT_SAID = Sidecar()
STANDARD_INPUT = "-"
COMMAND_LINE = "the row on the command line"
Reference = str | Mapping[str, str] | Source
"""A file, standard input (``-``), one row by its cells, or rows from elsewhere."""


def new_rows(
    reference: Reference,
    columns: Sequence[Column],
    *,
    ranges: Ranges = NOTHING,
    earlier: Sidecar = NOT_SAID,
    beside: Sequence[Column] = (),
    optional: Collection[str] = (),
    long_form: Mapping[str, str] = NOTHING,
    letters: bool = False,
) -> AlignedRows:
    """The rows of a file, of standard input, one row by its cells, or rows from elsewhere, as a model needs them.

    Missing columns are refused, extra ones are kept as text. Of a sidecar beside the file only what says how cells
    are read counts: delimiter, header and missing cells; where it is silent, cells are read as those of an
    ``earlier`` file were. ``long_form`` are, by role, the names that the columns of
    units and things have where a row is a thing of a unit. The others are those of ``aligned``.
    """
    records, declarations = _records(reference, earlier)
    records, unseen = _widened(records, columns, declarations, long_form)
    rows = aligned(
        records,
        columns,
        declarations=declarations,
        ranges=ranges,
        beside=beside,
        optional=optional,
        letters=letters,
        hint_where_none=_hint_of_form(long_form) if long_form else "",
    )
    return replace(rows, unseen=(*unseen, *rows.unseen))


def refuse_overflow(rows: AlignedRows) -> None:
    """Refuse rows with cells that no model could multiply, and name these."""
    raise_all(DataError, _overflowing(rows))


def _overflowing(rows: AlignedRows) -> Iterator[Problem]:
    """The cells that no model could multiply."""
    most = NUMBERS[1]
    for column, cells in rows.table.parts():
        for row in [] if column.coded else np.flatnonzero(np.abs(cells) > most)[:SHOWN_VALUES].tolist():
            what = f"{cells[row]:g} is too large to be multiplied: models take numbers up to {most:g}"
            hint = "correct the cell, or leave the row out"
            yield Problem(what, where=rows.records.place(row, column.name), hint=hint)


def _hint_of_form(long_form: Mapping[str, str]) -> str:
    """How a file says that each of its rows is one thing of a unit."""
    unit, thing = long_form
    roles = ", ".join(f"{role}: [COLUMN]" for role in long_form)
    return f"if each row is one {thing} of a {unit}, say so in a sidecar beside the file: roles: {{{roles}}}"


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


def _records(reference: Reference, earlier: Sidecar = NOT_SAID) -> tuple[Records, dict[str, Declaration]]:
    source = _source(reference)
    records = read_records(source.content, source.name, layout_of(source.document, earlier))
    sidecar = read_sidecar(source.document, records.header).with_defaults(earlier, records.header)
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
