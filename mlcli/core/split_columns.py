"""The columns that protocols split by: when and where each row was, and the part that others put it in."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Table

NAMES_OF_PARTS = ("split", "fold", "partition")
PART_WORDS = {
    **dict.fromkeys(("train", "training", "learn"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "holdout"), "test"),
}
"""What parts are called, in small letters, and what is meant."""
MOST_FOLDS = 100
"""Larger numbers in a column called fold are something else."""
DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?)?")
"""Dates whose order as text is their order in time."""


def looks_like_parts(column: Column, cells: NDArray[Any]) -> bool:
    """Whether a column that nobody has declared says which part each row is in: by its name and its values."""
    if column.name.lower() not in NAMES_OF_PARTS or column.missing or not len(cells):
        return False
    if column.coded:
        return {"train", "test"} <= {PART_WORDS.get(level.lower(), "") for level in column.levels} - {""}
    whole = bool((cells == np.floor(cells)).all()) and -1 <= cells.min() <= 1 and cells.max() < MOST_FOLDS
    return column.name.lower() == "fold" and whole


def part_column(schema: Schema) -> Column | None:
    """The column that says which part each row is in: by its role, or by its name where it is not used at all."""
    unused = (field.column for field in schema.with_role("ignore"))
    return schema.the("part") or next((one for one in unused if one.name.lower() in NAMES_OF_PARTS), None)


def parts_of(column: Column, cells: NDArray[Any]) -> dict[str, Any]:
    """The part of each row, and what the parts are called."""
    if column.coded:
        return {"part": cells.astype(np.int32), "parts": column.levels}
    numbers = np.unique(cells[~np.isnan(cells)])
    codes = np.where(np.isnan(cells), MISSING_CODE, np.searchsorted(numbers, cells))
    return {"part": codes.astype(np.int32), "parts": tuple(f"{number:.10g}" for number in numbers)}


def domains_of(table: Table, schema: Schema) -> dict[str, Any]:
    """Where each row comes from, and what these domains are called; nothing where no column says it."""
    column = schema.the("domain")
    if column is None:
        return {}
    found = parts_of(column, table.cells(column.name))
    return {"domain": found["part"], "domains": found["parts"]}


def order_of(table: Table, schema: Schema) -> Array | None:
    """When each row was; texts say it where they are dates such as 2024-01-31, or levels in a declared order."""
    column = schema.the("order")
    if column is None:
        return None
    cells = table.cells(column.name).astype(np.float64)
    if not column.coded:
        return cells
    places = np.arange(len(column.levels), dtype=np.float64)
    if column.kind != "ordinal":
        if not all(map(DATE.fullmatch, column.levels)):
            what = f"column '{column.name}' orders the rows, and holds text, such as '{column.levels[0]}'"
            hint = "write numbers or dates (2024-01-31), or declare it ordinal with its levels in their order"
            raise DataError(what, hint=hint)
        places = np.argsort(np.argsort(column.levels)).astype(np.float64)
    return np.where(cells < 0, np.nan, places[cells.astype(np.intp)])
