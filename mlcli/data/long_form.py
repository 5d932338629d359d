"""Long form: each row names a transaction and one item of it; read as a row per transaction, a column per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import listed
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Codes, Table
from mlcli.data.dataset import Dataset
from mlcli.data.records import Records, TextColumn
from mlcli.tasks.table import kind_named


def in_long_form(dataset: Dataset) -> bool:
    """Whether the roles of the columns say so, for a kind of task whose rows may come like that."""
    roles = _roles_of_form(dataset)
    if not roles or dataset.schema.the(roles[1]) is None:
        return False
    if dataset.schema.the(roles[0]) is None:
        what = f"a column has the role {roles[1]}, and none says which rows belong to one transaction"
        raise DataError(what, where=dataset.name, hint=f"give the column that says so the role {roles[0]}")
    if dataset.schema.the("weight") is not None:
        what = "rows of single items have a weight, and rules count transactions"
        raise DataError(what, where=dataset.name, hint="give the column of weights the role ignore")
    return True


def in_wide_form(dataset: Dataset, records: Records) -> Dataset:
    """The transactions of a file in long form, in the order of their first rows, with a 0/1 column per item."""
    unit, item = (column for role in _roles_of_form(dataset) if (column := dataset.schema.the(role)) is not None)
    transaction_of_row = records.column(unit.name).which
    transactions, items = int(transaction_of_row.max()) + 1, len(item.levels)
    most_cells = 50_000_000  # each cell takes four bytes
    if transactions * items > most_cells:
        what = f"{transactions:,} transactions of {items:,} items are {transactions * items:,} cells"
        hint = f"at most {most_cells:,} are held: leave out rare items, or name groups of items instead"
        raise DataError(what, where=dataset.name, hint=hint)
    codes = np.zeros((transactions, items), np.int32)
    codes[transaction_of_row, dataset.table.cells(item.name).astype(np.int32)] = 1
    columns = tuple(Column(name, "boolean", ("0", "1")) for name in item.levels)
    return replace(
        dataset,
        table=Table(columns, np.empty((transactions, 0)), codes),
        schema=Schema(tuple(SchemaField(column, why=f"an item of '{item.name}'") for column in columns)),
        notes=(*dataset.notes, *_notes(dataset, unit, item, codes)),
        in_file=dataset,
    )


def names_of_form(dataset: Dataset) -> dict[str, str]:
    """By role, the columns of transactions and items of the file that a dataset was read from, if it was long."""
    in_file = dataset.in_file
    if in_file is None:
        return {}
    return {
        role: column.name for role in _roles_of_form(in_file) if (column := in_file.schema.the(role)) is not None
    }


def wide_records(
    records: Records, unit: str, item: str, columns: Sequence[Column]
) -> tuple[Records, dict[str, int]]:
    """New rows in long form as a model knows their items, and how often each unknown item stands there."""
    problems = []
    for name in (unit, item):
        text = records.column(name)
        if "" in text.values:
            where = records.place(text.first_row(text.values.index("")), name)
            problems.append(Problem("the cell is empty", where, "each row names a transaction and one item of it"))
    raise_all(DataError, problems)
    units, items = records.column(unit), records.column(item)
    first_rows = np.unique(units.which, return_index=True)[1]
    index_of = {name: index for index, name in enumerate(items.values)}
    wide = []
    for column in columns:
        codes = np.zeros(len(units.values), np.int32)
        codes[units.which[items.which == index_of.get(column.name, -1)]] = 1
        wide.append(TextColumn.of(column.name, list(column.levels), codes))
    wide.append(TextColumn.of(unit, units.values, np.arange(len(units.values), dtype=np.int32)))
    known = {column.name for column in columns}
    unknown = {name: count for name, count in items.count_of.items() if name not in known}
    return replace(records, columns=tuple(wide), lines=records.lines[first_rows]), unknown


def _roles_of_form(dataset: Dataset) -> tuple[str, ...]:
    """The roles of the columns of transactions and items, for a kind of task that has them."""
    return kind_named(dataset.task).long_form if dataset.task else ()


def _notes(dataset: Dataset, unit: Column, item: Column, codes: Codes) -> Iterator[str]:
    """How many rows became how many transactions, what was there twice, and what is ignored."""
    yield (
        f"long form: {len(dataset):,} rows were read as {len(codes):,} transactions ('{unit.name}') "
        f"of {len(item.levels):,} items ('{item.name}')"
    )
    repeated = len(dataset) - int(codes.sum())
    if repeated:
        yield f"rows that name an item of their transaction again, which counts once: {repeated:,}"
    others = [field.column.name for field in dataset.schema if field.role in ("feature", "sensitive")]
    if others:
        yield f"columns that are not looked at, since they tell of single rows: {listed(others)}"
