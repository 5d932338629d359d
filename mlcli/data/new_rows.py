"""New rows for a model that is fitted, read from a file, standard input, one row by its cells, or elsewhere."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.limits import NUMBERS
from mlcli.core.schema import Column
from mlcli.data.alignment import NOTHING, AlignedRows, Ranges, UnseenLevel, aligned
from mlcli.data.columns import SHOWN_VALUES
from mlcli.data.load import layout_of
from mlcli.data.long_form import wide_records
from mlcli.data.read_records import read_records
from mlcli.data.read_sidecar import read_sidecar
from mlcli.data.records import Records
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.data.source import InMemory, Source, source_of_file

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
