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
from types import MappingProxyType

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.moments import NUMBERS
from mlcli.core.names import counted, listed, nearest
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table, empty_cells, is_missing
from mlcli.data.columns import NO_NUMBER, SHOWN_VALUES, TypedColumn, coded_by, declared
from mlcli.data.dataset import Dataset
from mlcli.data.load import layout_of, wide_records
from mlcli.data.records import Distinct, Numbers, Records, TextColumn, read_records
from mlcli.data.sidecar import Declaration, Sidecar, read_sidecar
from mlcli.data.source import InMemory, Source, source_of_file

MOST_LISTED = 8
Ranges = Mapping[str, tuple[float, float]]
NO_RANGES: Ranges = MappingProxyType({})
NO_DECLARATIONS: Mapping[str, Declaration] = MappingProxyType({})
NO_LONG_FORM: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class UnseenLevel:
    """A value that did not occur in training; its cells count as missing."""

    column: str
    value: str
    count: int


@dataclass(frozen=True)
class OutsideRange:
    """Numbers outside the range of the training rows."""

    column: str
    count: int
    low: float
    high: float
    lowest: float
    highest: float


@dataclass(frozen=True, eq=False)
class AlignedRows:
    """Rows in the columns of a model, what is unusual in them, and their original text."""

    table: Table
    records: Records
    unseen: tuple[UnseenLevel, ...]
    outside: tuple[OutsideRange, ...]
    letters: bool = False
    """Whether the model uses the letters of values that did not occur in training."""
    absent_features: tuple[str, ...] = ()
    """Columns of the model that the rows lack; they count as absent (no, or missing)."""

    def __len__(self) -> int:
        return len(self.records)

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that the model does not use."""
        used = {column.name for column in self.table.columns}
        return tuple(name for name in self.records.header if name not in used)

    def text(self, column: str) -> list[str]:
        """The cells of any column of the file, as text, to be written beside the predictions."""
        return self.records.column(column).cells()

    def texts(self, columns: Mapping[str, Column]) -> dict[str, list[str]]:
        """By role, the cells of the columns that are there, as text; an ordered level as its position."""
        results = {}
        for role, column in columns.items():
            if column.name in self.records.header:
                cells = self.text(column.name)
                if role == "order":
                    position = {level: str(index) for index, level in enumerate(column.levels)}
                    cells = [position.get(cell, cell) for cell in cells]
                results[role] = cells
        return results

    def unseen_cells(self, column: str) -> int:
        """The number of cells of a column with a value that was not there in training."""
        return sum(level.count for level in self.unseen if level.column == column)

    def warnings(self) -> Iterator[str]:
        """A sentence on each column with cells unlike those of training."""
        for column in dict.fromkeys(level.column for level in self.unseen):
            values = [f"'{level.value}'" for level in self.unseen if level.column == column]
            were, they = ("was", "it counts") if len(values) == 1 else ("were", "they count")
            counts = "features are made of letters alone" if self.letters else f"{they} as missing"
            new = f"{listed(values)} {were} not there in training"
            yield f"column '{column}': {new}; {counts} (cells: {self.unseen_cells(column)})"
        for described, cells in self.table.parts():
            if described.missing or described.name in self.absent_features:
                continue
            unseen = 0 if self.letters else self.unseen_cells(described.name)
            if empty := int(is_missing(cells).sum()) - unseen:
                yield f"column '{described.name}': {empty} of {len(self)} cells are empty; none was in training"
        for outside in self.outside[:MOST_LISTED]:
            where = f"cells outside the training range of {outside.low:g} to {outside.high:g}"
            reach = f"reaching from {outside.lowest:g} to {outside.highest:g}"
            yield f"column '{outside.column}': {where}, {reach} (cells: {outside.count})"
        if more := [outside.column for outside in self.outside[MOST_LISTED:]]:
            yield f"cells outside the training range in {counted(len(more), 'more column')}: {listed(more)}"


def aligned(
    records: Records,
    columns: Sequence[Column],
    *,
    declarations: Mapping[str, Declaration] = NO_DECLARATIONS,
    ranges: Ranges = NO_RANGES,
    beside: Sequence[Column] = (),
    optional: Collection[str] = (),
    letters: bool = False,
    hint_where_none: str = "",
) -> AlignedRows:
    """Rows as a model knows them; all that does not fit is reported as one DataError.

    ``declarations`` say how cells are read. Columns ``beside`` must be there although the model does not see them;
    ``optional`` ones may lack, but not all columns; ``hint_where_none`` is the advice if no column is there.
    ``letters``: new values are kept as further levels, for a model that looks at their letters.
    """
    names = set(records.header)
    absent = tuple(column.name for column in columns if column.name in optional and column.name not in names)
    if len(absent) == len(columns):  # then it is another file
        absent = ()
    needed = [column.name for column in (*columns, *beside) if column.name not in absent]
    _refuse_absent(needed, records, hint_where_none)
    typed, unseen, problems = list[TypedColumn](), list[UnseenLevel](), list[Problem]()
    for column in columns:
        if column.name not in names:  # an absent column: no, or missing
            is_boolean = column.kind == "boolean"
            cells = np.zeros(len(records), np.int32) if is_boolean else empty_cells(column, len(records))
            typed.append(TypedColumn(column, cells, declared=False, why=""))
            continue
        text, declaration = records.column(column.name), declarations.get(column.name, Declaration())
        if column.coded:
            typed_column, new = coded_by(text, column, declaration, keep_new=letters)
            unseen += [UnseenLevel(column.name, value, count) for value, count in new.items()]
            typed.append(typed_column)
        else:
            typed_column, misfits = declared(text, replace(declaration, kind=column.kind, range=None), records)
            typed.append(replace(typed_column, column=column))
            for problem in misfits:
                if problem.hint == NO_NUMBER:
                    hint = "correct the cell: the model has learned numbers from this column"
                    problem = replace(problem, hint=hint)
                problems.append(problem)
    raise_all(DataError, problems)
    table = Table.of([(column.column, column.cells) for column in typed], len(records))
    outside = []
    for column, numbers in zip(table.number_columns, table.numbers.T, strict=True):
        low, high = ranges.get(column.name, (-math.inf, math.inf))
        beyond = numbers[(numbers < low) | (numbers > high)]
        if len(beyond):
            ends = float(beyond.min()), float(beyond.max())
            outside.append(OutsideRange(column.name, len(beyond), low, high, *ends))
    return AlignedRows(table, records, tuple(unseen), tuple(outside), letters, absent)


def _refuse_absent(needed: Sequence[str], records: Records, hint_where_none: str) -> None:
    """Refuse rows without needed columns, with the names that may be meant."""
    names, requested = set(records.header), set(needed)
    absent = [name for name in needed if name not in names]
    if not absent:
        return
    unknown = [name for name in records.header if name not in requested]
    meant = [f"'{name}' by '{close}'" for name in absent[:MOST_LISTED] if (close := nearest(name, unknown))]
    hint = f"did you mean {listed(meant)}?" if meant else f"it has {listed(records.header)}"
    if hint_where_none and len(absent) == len(needed):
        hint = hint_where_none
    what = f"lacks {len(absent)} of the {len(needed)} needed columns: {listed(absent)}"
    raise DataError(what, where=records.name, hint=hint)


def records_of_dataset(dataset: Dataset) -> Records:
    """The rows of a dataset as text, numbers written plainly."""
    columns = []
    for column, cells in dataset.table.parts():
        if column.coded:
            columns.append(_column_of_codes(column, cells.astype(np.int32, copy=False)))
        else:
            columns.append(_column_of_numbers(column.name, cells.astype(np.float64, copy=False)))
    return Records(dataset.name, ",", tuple(columns), np.arange(1, len(dataset) + 1), (), has_lines=False)


def _column_of_codes(column: Column, codes: Codes) -> TextColumn:
    def read() -> Distinct:
        used = np.flatnonzero(np.bincount(codes + 1, minlength=len(column.levels) + 1))
        index_of_code = np.zeros(len(column.levels) + 1, np.int32)
        index_of_code[used] = np.arange(len(used))
        texts = ("", *column.levels)
        return [texts[index] for index in used], index_of_code[codes + 1]

    return TextColumn(column.name, read)


def _column_of_numbers(name: str, numbers: Array) -> TextColumn:
    def read() -> Distinct:
        values, which = np.unique(numbers, return_inverse=True)
        texts = ["" if math.isnan(value) else repr(value).removesuffix(".0") for value in values.tolist()]
        return texts, which.astype(np.int32)

    return TextColumn(name, read, Numbers(numbers, bool(np.isnan(numbers).any())))


Reference = str | Mapping[str, str] | Source
"""A file, standard input (``-``), one row by its cells, or rows from elsewhere."""


def new_rows(
    reference: Reference,
    columns: Sequence[Column],
    *,
    ranges: Ranges = NO_RANGES,
    earlier: Sidecar | None = None,
    beside: Sequence[Column] = (),
    optional: Collection[str] = (),
    long_form: Mapping[str, str] = NO_LONG_FORM,
    letters: bool = False,
) -> AlignedRows:
    """The rows of a file, of standard input, one row by its cells, or rows from elsewhere, as a model needs them.

    Missing columns are refused, extra ones are kept as text. From a sidecar beside the file only what says how
    cells are read counts: delimiter, header and missing cells; where it is silent, cells are read as those of an
    ``earlier`` file were. ``long_form`` are, by role, the names of the columns of transactions and items, if each
    row is an item of a transaction. The others are those of ``aligned``.
    """
    records, declarations = _records(reference, earlier or Sidecar())
    hint, unseen = "", list[UnseenLevel]()
    if long_form:
        unit_role, item_role = long_form
        roles = ", ".join(f"{role}: [COLUMN]" for role in long_form)
        hint = f"if each row is one {item_role} of a {unit_role}, say so in a sidecar beside the file: "
        hint += f"roles: {{{roles}}}"
        declared_names = {declaration.role: name for name, declaration in declarations.items()}
        unit, item = (declared_names.get(role, name) for role, name in long_form.items())
        if {unit, item} <= set(records.header):
            records, unknown = wide_records(records, unit, item, columns)
            unseen = [UnseenLevel(item, value, count) for value, count in unknown.items()]
    rows = aligned(
        records,
        columns,
        declarations=declarations,
        ranges=ranges,
        beside=beside,
        optional=optional,
        letters=letters,
        hint_where_none=hint,
    )
    return replace(rows, unseen=(*unseen, *rows.unseen))


def refuse_overflow(rows: AlignedRows) -> None:
    """Refuse rows with numbers so large that models cannot multiply them."""
    most, problems = NUMBERS[1], []
    for column, numbers in zip(rows.table.number_columns, rows.table.numbers.T, strict=True):
        for row in np.flatnonzero(np.abs(numbers) > most)[:SHOWN_VALUES].tolist():
            what = f"{numbers[row]:g} is too large to be multiplied: models take numbers up to {most:g}"
            hint = "correct the cell, or leave the row out"
            problems.append(Problem(what, where=rows.records.place(row, column.name), hint=hint))
    raise_all(DataError, problems)


def records_of(reference: str) -> Records:
    """The text of a file, or of standard input (``-``), in the layout that its sidecar declares."""
    return _records(reference, Sidecar())[0]


def _records(reference: Reference, earlier: Sidecar) -> tuple[Records, dict[str, Declaration]]:
    """The text of new rows, and what is declared about their columns."""
    if isinstance(reference, Source):
        source = reference
    elif not isinstance(reference, str):  # one row, as a CSV file
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([list(reference), list(reference.values())])
        source = Source("the row on the command line", InMemory(text.getvalue().encode()))
    elif reference == "-":
        source = Source("standard input", InMemory(sys.stdin.buffer.read()))
    else:
        source = source_of_file(reference)
    records = read_records(source.content, source.name, layout_of(source.document, earlier))
    sidecar = read_sidecar(source.document, records.header).with_defaults(earlier, records.header)
    return records, {name: sidecar.of(name) for name in records.header}
