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

LEVELS = ("0", "1")
"""An item is not there, or there."""
MOST_CELLS = 50_000_000
"""Transactions times items that are held; each cell takes four bytes."""
NOT_LOOKED_AT = ("feature", "sensitive")


def in_long_form(dataset: Dataset) -> bool:
    """Whether the roles of the columns say so, for a kind of task whose rows may come like that."""
    form = _form_of(dataset)
    if not form or dataset.schema.the(form[1]) is None:
        return False
    if dataset.schema.the(form[0]) is None:
        what = f"a column has the role {form[1]}, and none says which rows belong to one transaction"
        raise DataError(what, where=dataset.name, hint=f"give the column that says so the role {form[0]}")
    if dataset.schema.the("weight") is not None:
        what = "rows of single items have a weight, and rules count transactions"
        raise DataError(what, where=dataset.name, hint="give the column of weights the role ignore")
    return True


def in_wide_form(dataset: Dataset, records: Records) -> Dataset:
    """The transactions of a file in long form, in the order of their first rows, with a 0/1 column per item."""
    unit, thing = (column for role in _form_of(dataset) if (column := dataset.schema.the(role)) is not None)
    which = records.column(unit.name).which
    cells = dataset.table.cells(thing.name).astype(np.int32)
    transactions = int(which.max()) + 1
    _refuse_too_large(dataset, transactions, len(thing.levels))
    codes = np.zeros((transactions, len(thing.levels)), np.int32)
    codes[which, cells] = 1
    columns = tuple(Column(name, "boolean", LEVELS) for name in thing.levels)
    return replace(
        dataset,
        table=Table(columns, np.empty((transactions, 0)), codes),
        schema=Schema(tuple(SchemaField(column, why=f"an item of '{thing.name}'") for column in columns)),
        notes=(*dataset.notes, *_notes(dataset, unit, thing, codes)),
        in_file=dataset,
    )


def names_of_form(dataset: Dataset) -> dict[str, str]:
    """By role, the columns of transactions and items of the file that a dataset was read from, if it was long."""
    filed = dataset.in_file
    if filed is None:
        return {}
    return {role: column.name for role in _form_of(filed) if (column := filed.schema.the(role)) is not None}


def wide_records(
    records: Records, unit: str, thing: str, items: Sequence[Column]
) -> tuple[Records, dict[str, int]]:
    """New rows in long form, as a model knows its items, and how often each item stands that it does not know."""
    raise_all(DataError, _empty_cells(records, (unit, thing)))
    units, things = records.column(unit), records.column(thing)
    first = np.unique(units.which, return_index=True)[1]
    place_of = {name: index for index, name in enumerate(things.values)}
    columns = []
    for column in items:
        there = np.zeros(len(units.values), np.int32)
        there[units.which[things.which == place_of.get(column.name, -1)]] = 1
        columns.append(TextColumn.of(column.name, list(column.levels), there))
    columns.append(TextColumn.of(unit, units.values, np.arange(len(units.values), dtype=np.int32)))
    known = {column.name for column in items}
    counts = dict(zip(things.values, things.counts.tolist(), strict=True))
    wide = replace(records, columns=tuple(columns), lines=records.lines[first])
    return wide, {name: count for name, count in counts.items() if name not in known}


def _form_of(dataset: Dataset) -> tuple[str, ...]:
    return kind_named(dataset.task).long_form if dataset.task else ()


def _refuse_too_large(dataset: Dataset, transactions: int, items: int) -> None:
    if transactions * items > MOST_CELLS:
        what = f"{transactions:,} transactions of {items:,} items are {transactions * items:,} cells"
        hint = f"at most {MOST_CELLS:,} are held: leave out rare items, or name groups of items instead"
        raise DataError(what, where=dataset.name, hint=hint)


def _notes(dataset: Dataset, unit: Column, thing: Column, codes: Codes) -> Iterator[str]:
    """How many rows became how many, what was there twice, and what is not looked at."""
    yield (
        f"long form: {len(dataset):,} rows were read as {len(codes):,} transactions ('{unit.name}') "
        f"of {len(thing.levels):,} items ('{thing.name}')"
    )
    repeated = len(dataset) - int(codes.sum())
    if repeated:
        yield f"rows that name an item of their transaction again, which counts once: {repeated:,}"
    others = [field.column.name for field in dataset.schema if field.role in NOT_LOOKED_AT]
    if others:
        yield f"columns that are not looked at, since they tell of single rows: {listed(others)}"


def _empty_cells(records: Records, names: Sequence[str]) -> Iterator[Problem]:
    for name in names:
        column = records.column(name)
        if "" in column.values:
            where = records.place(column.first_row(column.values.index("")), name)
            yield Problem("the cell is empty", where=where, hint="each row names a transaction and one item of it")
