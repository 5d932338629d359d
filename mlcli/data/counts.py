"""Rows that stand for several: a column of role count says for how many, and each becomes so many rows.

They are then dealt into splits as rows would be. As weights, all copies of a case would fall on one side of a
split: a model would meet none of them before it is judged by all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset

MOST_ROWS = 20_000_000
"""More are not held in memory; as weights they need not be."""


def counted_out(dataset: Dataset) -> Dataset:
    """Each row as often as its count says; the same dataset, where no column counts."""
    column = dataset.schema.the("count")
    if column is None:
        return dataset
    counts = dataset.table.cells(column.name).astype(np.int64)
    total = int(counts.sum())
    if total > MOST_ROWS:
        hint = "role: weight takes them as weights, without making rows of them"
        raise DataError(f"'{column.name}' counts {total:,} rows, more than {MOST_ROWS:,}", hint=hint)
    if not total:
        raise DataError(f"'{column.name}' is 0 in every row, so there are no rows")
    none = int((counts == 0).sum())
    parted = "and splits part them" + (f"; {none} of count 0 are left out" if none else "")
    note = f"{len(counts)} rows of the file stand for {total}, as '{column.name}' counts, {parted}"
    rows = np.repeat(np.arange(len(counts)), counts)
    return replace(dataset, table=dataset.table.take(rows), notes=(*dataset.notes, note))
