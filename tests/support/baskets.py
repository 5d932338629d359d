"""Baskets written down by hand, and baskets in which some things go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.tasks.association import Transactions

NAMES = ("bread", "butter", "milk", "beer", "chips", "fish")


def baskets(rows: Any, names: Sequence[str] = NAMES, weight: Any = None) -> Transactions:
    """One boolean column for each item."""
    cells = np.asarray(rows, dtype=np.int32)
    columns = [Column(name, "boolean", ("no", "yes")) for name in names]
    return Transactions(
        table=Table.of(zip(columns, cells.T, strict=True), len(cells)),
        rows=np.arange(len(cells)),
        weight=None if weight is None else np.asarray(weight, np.float64),
    )


def drawn(seed: int = 1, rows: int = 300) -> Transactions:
    """Who buys bread mostly buys butter, who buys beer mostly buys chips; milk and fish say nothing."""
    rng = np.random.default_rng(seed)
    bread, beer = rng.random(rows) < 0.4, rng.random(rows) < 0.3
    butter = np.where(rng.random(rows) < 0.85, bread, rng.random(rows) < 0.5)
    chips = np.where(rng.random(rows) < 0.8, beer, rng.random(rows) < 0.5)
    return baskets(np.column_stack([bread, butter, rng.random(rows) < 0.5, beer, chips, rng.random(rows) < 0.2]))


def halves(data: Transactions) -> tuple[Transactions, Transactions]:
    """Two thirds to learn from, the rest to be asked about."""
    cut = 2 * len(data) // 3
    return data.take(np.arange(cut)), data.take(np.arange(cut, len(data)))


def shipped(name: str) -> Transactions:
    """A shipped dataset, every column of levels as items."""
    dataset = load(name, task="association")
    return Transactions.from_table(dataset.table, dataset.schema)


def schema_of(table: Table) -> Schema:
    """Every column a feature."""
    return Schema(tuple(SchemaField(column) for column in table.columns))
