"""Rows of a table with their weights, groups and other fields, and how rows are selected."""

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
"""The roles of columns whose cells are stored with answers, whether models see them or not."""
NAMES_OF_PARTS = ("split", "fold", "part", "partition", "set", "subset", "usage")
PART_WORDS = {
    **dict.fromkeys(("train", "training", "learn"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "holdout"), "test"),
}
"""The names of parts in lower case, and the part that each stands for."""
MOST_FOLDS = 100
"""A column called fold with larger numbers holds something else."""
DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?)?")
"""Dates that sort in time if they are sorted as text."""


@dataclass(frozen=True, eq=False)
class SplitInfo:
    """All that a protocol sees of rows: their number, and what to stratify by or keep together."""

    rows: int
    strata: Codes | None = None
    groups: Codes | None = None
    order: Array | None = None
    """The time of each row, if a column tells it; only the order matters."""
    part: Codes | None = None
    """The part of each row, as an index into ``parts``; negative if unknown."""
    parts: tuple[str, ...] = ()
    domain: Codes | None = None
    """The domain of each row, as an index into ``domains``; negative if unknown."""
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsOfTable:
    """Rows of a table with their numbers in the file, and optional weights and groups."""

    kind: ClassVar[str]
    task: ClassVar[AnyTask]
    """The kind of task: how a model learns from such rows, and how it answers them."""
    in_sequences: ClassVar[bool] = False
    """Whether the order of the rows carries information."""
    by_row: ClassVar[tuple[str, ...]] = ("rows", "weight", "groups", "order", "part", "domain")
    """The fields with one entry per row, beside the tables; None is allowed."""
    stay_whole: ClassVar[bool] = False
    """Whether sequences or groups are scored whole, so that rows of weight 0 are kept."""

    table: Table
    rows: Rows
    target: str = ""
    weight: Array | None = None
    groups: Codes | None = None
    context: Table | None = None
    """The sensitive and context columns, which steps do not change."""
    order: Array | None = None
    part: Codes | None = None
    parts: tuple[str, ...] = ()
    domain: Codes | None = None
    domains: tuple[str, ...] = ()
    """``order``, ``part``, ``domain`` and their names are only for protocols: see ``SplitInfo``."""

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """The columns of a dataset that models see."""
        return schema.features()

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the rows, in the given order."""
        fields = ((name, getattr(self, name)) for name in self.by_row)
        selected: dict[str, Any] = {name: None if cells is None else cells[rows] for name, cells in fields}
        context = None if self.context is None else self.context.take(rows)
        return replace(self, table=self.table.take(rows), context=context, **selected)

    def to_learn_from(self) -> Self:
        """The rows that a model learns from if it is trained to be kept."""
        return self

    def counted(self) -> Self:
        """The rows whose weight is not 0."""
        if self.weight is None and len(self):
            return self
        counts = np.flatnonzero(self.weights)
        if len(counts) == 0:
            raise FitError("every training row has weight 0")
        return self if len(counts) == len(self) else self.take(counts)

    def with_table(self, table: Table) -> Self:
        """The same rows with another table."""
        return replace(self, table=table)

    def transformed(self, change: Callable[[Table], Table]) -> Self:
        """The same rows with a changed table."""
        return self.with_table(change(self.table))

    @cached_property
    def weights(self) -> Array:
        """The weight of each row, 1 if there are no weights."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def header(self) -> Header:
        """The header of answers about these rows."""
        header = Header(rows=self.rows, weight=self.weight, group=self.groups)
        if self.context is None:
            return header
        context = self.context
        return replace(header, columns=context.columns, numbers=context.numbers, codes=context.codes)

    def split_info(self) -> SplitInfo:
        """What protocols see of these rows."""
        return SplitInfo(
            rows=len(self),
            groups=self.groups,
            order=self.order,
            part=self.part,
            parts=self.parts,
            domain=self.domain,
            domains=self.domains,
        )


R = TypeVar("R", bound=RowsOfTable)


def target_of(schema: Schema) -> str:
    """The name of the target column; it is an error if there is none."""
    column = schema.the("target")
    if column is None:
        raise DataError("the dataset has no target column", hint="name one with --target, or in the sidecar")
    return column.name


def extras_of(table: Table, schema: Schema) -> dict[str, Any]:
    """The weights, groups, order, parts and context of rows, from the columns with these roles."""
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
    """The fields of rows with a target, for the rows to keep."""
    rows = np.flatnonzero(keep)
    kept = table if len(rows) == len(table) else table.take(rows)
    return {
        "table": kept.select(column.name for column in schema.features()),
        "rows": rows,
        "target": target_of(schema),
        **extras_of(kept, schema),
    }


def _marked(context: Table, schema: Schema) -> Table:
    """The context with the sensitive columns marked."""
    sensitive = {field.column.name for field in schema.with_role("sensitive")}
    columns = (replace(column, sensitive=column.name in sensitive) for column in context.columns)
    return replace(context, columns=tuple(columns))


def _group_codes(cells: np.ndarray[Any, Any]) -> Codes:
    return np.unique(cells, return_inverse=True)[1].astype(np.int32)


def looks_like_parts(column: Column, cells: NDArray[Any]) -> bool:
    """Whether a column tells the part of each row, judging by its name and its values."""
    if column.name.lower() not in NAMES_OF_PARTS or column.missing or not len(cells):
        return False
    if column.coded:
        return {"train", "test"} <= {PART_WORDS.get(level.lower(), "") for level in column.levels}
    whole = bool((cells == np.floor(cells)).all()) and -1 <= cells.min() <= 1 and cells.max() < MOST_FOLDS
    return column.name.lower() == "fold" and whole


def has_levels_of_parts(column: Column) -> bool:
    """Whether all levels of a column, whatever its name, are train, test and perhaps validation."""
    words = {PART_WORDS.get(level.lower(), "") for level in column.levels}
    return {"train", "test"} <= words and "" not in words and not column.missing


def part_column(schema: Schema) -> Column | None:
    """The column that tells the part of each row: by its role, or by its name if it is not used otherwise."""
    ignored = (field.column for field in schema.with_role("ignore"))
    named = (column for column in ignored if column.name.lower() in NAMES_OF_PARTS)
    return schema.the("part") or next(named, None)


def parts_of(column: Column, cells: NDArray[Any]) -> dict[str, Any]:
    """The part of each row, and the names of the parts."""
    if column.coded:
        return {"part": cells.astype(np.int32), "parts": column.levels}
    numbers = np.unique(cells[~np.isnan(cells)])
    codes = np.where(np.isnan(cells), MISSING_CODE, np.searchsorted(numbers, cells))
    return {"part": codes.astype(np.int32), "parts": tuple(f"{number:.10g}" for number in numbers)}


def evenly_spaced(count: int, most: int) -> Rows:
    """The indices of ``count`` rows, or of ``most`` of them at even steps."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))


def domains_of(table: Table, schema: Schema) -> dict[str, Any]:
    """The domain of each row, and the names of the domains; empty if no column tells them."""
    column = schema.the("domain")
    if column is None:
        return {}
    domains = parts_of(column, table.cells(column.name))
    return {"domain": domains["part"], "domains": domains["parts"]}


def order_of(table: Table, schema: Schema) -> Array | None:
    """The time of each row: numbers, dates such as 2024-01-31, or levels in a declared order."""
    column = schema.the("order")
    if column is None:
        return None
    cells = table.cells(column.name).astype(np.float64)
    if not column.coded:
        return cells
    indices = np.arange(len(column.levels), dtype=np.float64)
    if column.kind != "ordinal":
        if not all(map(DATE.fullmatch, column.levels)):
            what = f"column '{column.name}' orders the rows, and holds text, such as '{column.levels[0]}'"
            hint = "write numbers or dates (2024-01-31), or declare it ordinal with its levels in their order"
            raise DataError(what, hint=hint)
        indices = np.argsort(np.argsort(column.levels)).astype(np.float64)
    return np.where(cells < 0, np.nan, indices[cells.astype(np.intp)])
