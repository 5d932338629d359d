"""Rows of a table with what is known of them; they own how rows are taken and split."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Header
from mlcli.core.errors import DataError, FitError
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Rows, Table

if TYPE_CHECKING:
    from mlcli.core.task import AnyTask

CONTEXT = ("sensitive", "context")
"""The roles of columns whose cells answers carry with them, whether models see them or not."""
NAMES_OF_PARTS = ("split", "fold", "part", "partition", "set", "subset", "usage")
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


@dataclass(frozen=True, eq=False)
class SplitInfo:
    """All that a protocol may know: how many rows, and what to stratify by or keep together."""

    rows: int
    strata: Codes | None = None
    groups: Codes | None = None
    order: Array | None = None
    """When each row was, where a column says; only which is earlier matters."""
    part: Codes | None = None
    """The part that a column puts each row in, as a place in ``parts``; below 0 where it says none."""
    parts: tuple[str, ...] = ()
    domain: Codes | None = None
    """Where each row comes from, as a place in ``domains``; below 0 where that is not said."""
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsOfTable:
    """Rows of a table with optional weights and groups, and the number each row has in its file."""

    kind: ClassVar[str]
    task: ClassVar[AnyTask]
    """The kind of task: how a model learns from such rows, and how it answers them."""
    in_sequences: ClassVar[bool] = False
    """Whether rows stand in an order that says something of them."""
    by_row: ClassVar[tuple[str, ...]] = ("rows", "weight", "groups", "order", "part", "domain")
    """The fields that have an entry for each row, if they have any, beside the tables."""
    stay_whole: ClassVar[bool] = False
    """Whether sequences or groups of rows are judged whole, so that rows of weight 0 stay where they are."""

    table: Table
    rows: Rows
    target: str = ""
    weight: Array | None = None
    groups: Codes | None = None
    context: Table | None = None
    """The cells of the columns that are sensitive or context, which stay as they are whatever steps do."""
    order: Array | None = None
    part: Codes | None = None
    parts: tuple[str, ...] = ()
    domain: Codes | None = None
    domains: tuple[str, ...] = ()
    """``order``, ``part``, ``domain`` and their names are for protocols alone: see ``SplitInfo``."""

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """The columns of a dataset that its models see."""
        return schema.features()

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the rows, in the order given."""
        every = ((name, getattr(self, name)) for name in self.by_row)
        taken: dict[str, Any] = {name: None if cells is None else cells[rows] for name, cells in every}
        context = None if self.context is None else self.context.take(rows)
        return replace(self, table=self.table.take(rows), context=context, **taken)

    def to_learn_from(self) -> Self:
        """The rows that a model which is to be kept learns from."""
        return self

    def counted(self) -> Self:
        """The rows whose weight is not 0; the others count as no rows at all."""
        if self.weight is None and len(self):
            return self
        counts = np.flatnonzero(self.weights)
        if len(counts) == 0:
            raise FitError("every training row has weight 0")
        return self if len(counts) == len(self) else self.take(counts)

    def with_table(self, table: Table) -> Self:
        """The same rows behind another table (a step has changed the columns)."""
        return replace(self, table=table)

    def transformed(self, change: Callable[[Table], Table]) -> Self:
        """The same rows as a step has changed them."""
        return self.with_table(change(self.table))

    @cached_property
    def weights(self) -> Array:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def header(self) -> Header:
        """What answers about these rows say of the rows themselves."""
        header = Header(rows=self.rows, weight=self.weight, group=self.groups)
        known = self.context
        if known is None:
            return header
        return replace(header, columns=known.columns, numbers=known.numbers, codes=known.codes)

    def split_info(self) -> SplitInfo:
        """What protocols see of these rows."""
        known = self.order, self.part, self.parts, self.domain, self.domains
        return SplitInfo(len(self), None, self.groups, *known)


R = TypeVar("R", bound=RowsOfTable)


def target_of(schema: Schema) -> str:
    """The name of the target column; a schema without one is refused."""
    column = schema.the("target")
    if column is None:
        raise DataError("the dataset has no target column", hint="name one with --target, or in the sidecar")
    return column.name


def extras_of(table: Table, schema: Schema) -> dict[str, Any]:
    """The weights, groups, order, parts and context of the rows, where columns have these roles."""
    weight, group, part = schema.the("weight"), schema.the("group"), part_column(schema)
    context = {field.column.name for role in CONTEXT for field in schema.with_role(role)}
    return {
        "weight": None if weight is None else table.cells(weight.name).astype(np.float64),
        "groups": None if group is None else _group_codes(table.cells(group.name)),
        "context": _marked(table.select(context), schema) if context else None,
        "order": order_of(table, schema),
        **({} if part is None else parts_of(part, table.cells(part.name))),
        **domains_of(table, schema),
    }


def common_fields(table: Table, schema: Schema, keep: Flags) -> dict[str, Any]:
    """The fields that all rows with a target have, of the rows to keep."""
    rows = np.flatnonzero(keep)
    kept = table if len(rows) == len(table) else table.take(rows)
    return {
        "table": kept.select(column.name for column in schema.features()),
        "rows": rows,
        "target": target_of(schema),
        **extras_of(kept, schema),
    }


def _marked(context: Table, schema: Schema) -> Table:
    """The cells of context with a mark on the columns that are sensitive."""
    sensitive = {field.column.name for field in schema.with_role("sensitive")}
    columns = (replace(column, sensitive=column.name in sensitive) for column in context.columns)
    return replace(context, columns=tuple(columns))


def _group_codes(cells: np.ndarray[Any, Any]) -> Codes:
    return np.unique(cells, return_inverse=True)[1].astype(np.int32)


def looks_like_parts(column: Column, cells: NDArray[Any]) -> bool:
    """Whether a column says which part each row is in: by its name and its values."""
    if column.name.lower() not in NAMES_OF_PARTS or column.missing or not len(cells):
        return False
    if column.coded:
        return {"train", "test"} <= {PART_WORDS.get(level.lower(), "") for level in column.levels}
    whole = bool((cells == np.floor(cells)).all()) and -1 <= cells.min() <= 1 and cells.max() < MOST_FOLDS
    return column.name.lower() == "fold" and whole


def has_levels_of_parts(column: Column) -> bool:
    """Whether a column of any name has no other levels than train, test and perhaps validation."""
    words = {PART_WORDS.get(level.lower(), "") for level in column.levels}
    return {"train", "test"} <= words and "" not in words and not column.missing


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


def evenly_spaced(count: int, most: int) -> Rows:
    """The places of all of so many rows, or of some at even steps."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))


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
