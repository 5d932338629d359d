"""Rows of a table with their weights, groups and other fields, how rows are selected, and groups of people.

``Groups`` are the groups of rows by sensitive columns, by which fairness compares answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, TypeVar

import numpy as np

from mlcli.core.answers import Header
from mlcli.core.errors import DataError, FitError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Cells, Codes, Flags, Rows, Table

if TYPE_CHECKING:
    from mlcli.core.model import AnyTask

NAMES_OF_PARTS = ("split", "fold", "part", "partition", "set", "subset", "usage")
PART_WORDS = {
    **dict.fromkeys(("train", "training", "learn"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "holdout"), "test"),
}
"""The names of parts in lower case, and the part that each stands for."""
DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?)?")
"""Dates that sort in time if they are sorted as text."""
EVERYBODY = "all rows"
SIMILARITY = 0.9
"""Answers about two rows are compared that are more alike than this, unless another threshold is given."""


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
        selected: dict[str, Any] = {name: None if values is None else values[rows] for name, values in fields}
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


class ExtraFields(TypedDict, total=False):
    """Fields of rows that come from columns with a role of their own."""

    weight: Array | None
    groups: Codes | None
    context: Table | None
    order: Array | None
    part: Codes
    parts: tuple[str, ...]
    domain: Codes
    domains: tuple[str, ...]


class CommonFields(ExtraFields):
    """The fields of rows with a target, apart from the target itself."""

    table: Table
    rows: Rows
    target: str


def target_of(schema: Schema) -> str:
    """The name of the target column; it is an error if there is none."""
    column = schema.the("target")
    if column is None:
        raise DataError("the dataset has no target column", hint="name one with --target, or in the sidecar")
    return column.name


def extras_of(table: Table, schema: Schema) -> ExtraFields:
    """The weights, groups, order, parts and context of rows, from the columns with these roles."""
    fields = ExtraFields(order=order_of(table, schema))
    if weight := schema.the("weight"):
        fields["weight"] = table.cells(weight.name).astype(np.float64)
    if group := schema.the("group"):
        fields["groups"] = np.unique(table.cells(group.name), return_inverse=True)[1].astype(np.int32)
    sensitive = {field.column.name for field in schema.with_role("sensitive")}
    if stored := sensitive | {field.column.name for field in schema.with_role("context")}:
        context = table.select(stored)
        columns = tuple(replace(column, sensitive=column.name in sensitive) for column in context.columns)
        fields["context"] = replace(context, columns=columns)
    if part := part_column(schema):
        fields["part"], fields["parts"] = parts_of(part, table.cells(part.name))
    if domain := schema.the("domain"):
        fields["domain"], fields["domains"] = parts_of(domain, table.cells(domain.name))
    return fields


def common_fields(table: Table, schema: Schema, keep: Flags) -> CommonFields:
    """The fields of rows with a target, for the rows to keep."""
    rows = np.flatnonzero(keep)
    kept = table if len(rows) == len(table) else table.take(rows)
    features = kept.select(column.name for column in schema.features())
    return CommonFields(table=features, rows=rows, target=target_of(schema), **extras_of(kept, schema))


def looks_like_parts(column: Column, cells: Cells) -> bool:
    """Whether a column tells the part of each row, going by its name and its values."""
    if column.name.lower() not in NAMES_OF_PARTS or column.missing or not len(cells):
        return False
    if column.coded:
        return {"train", "test"} <= {PART_WORDS.get(level.lower(), "") for level in column.levels}
    numbers = cells.astype(np.float64)
    # numbers of a hundred and more are no numbers of folds
    are_folds = bool((numbers == np.floor(numbers)).all()) and -1 <= numbers.min() <= 1 and numbers.max() < 100
    return column.name.lower() == "fold" and are_folds


def has_levels_of_parts(column: Column) -> bool:
    """Whether all levels of a column, whatever its name, are train, test and perhaps validation."""
    words = {PART_WORDS.get(level.lower(), "") for level in column.levels}
    return {"train", "test"} <= words and "" not in words and not column.missing


def part_column(schema: Schema) -> Column | None:
    """The column that tells the part of each row: by its role, or by its name if it is not used otherwise."""
    ignored = (field.column for field in schema.with_role("ignore"))
    named = (column for column in ignored if column.name.lower() in NAMES_OF_PARTS)
    return schema.the("part") or next(named, None)


def parts_of(column: Column, cells: Cells) -> tuple[Codes, tuple[str, ...]]:
    """The part of each row as a code, and the names of the parts."""
    if column.coded:
        return cells.astype(np.int32), column.levels
    values = cells.astype(np.float64)
    numbers = np.unique(values[~np.isnan(values)])
    codes = np.where(np.isnan(values), MISSING_CODE, np.searchsorted(numbers, values))
    return codes.astype(np.int32), tuple(f"{number:.10g}" for number in numbers)


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


def evenly_spaced(count: int, most: int) -> Rows:
    """The indices of ``count`` rows, or of ``most`` of them at even steps."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that occur among some rows, by name; ``codes`` has the group of each row."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    codes: Codes

    @property
    def name(self) -> str:
        """The columns that make the groups."""
        return " × ".join(self.columns) or EVERYBODY

    @property
    def members(self) -> Flags:
        """Whether each row is in each group (rows × groups)."""
        return np.asarray(self.codes[:, None] == np.arange(len(self.labels)))

    def shares(self, weights: Array) -> Array:
        """The share of the weight that each group has."""
        totals = np.bincount(self.codes, weights, len(self.labels))
        return np.asarray(totals / totals.sum(), np.float64)


def group_columns(table: Table) -> tuple[Column, ...]:
    """The columns that can make groups: those with levels, and numbers in bands."""
    return tuple(column for column in table.columns if column.coded or column.bands)


def sensitive_names(table: Table | None) -> tuple[str, ...]:
    """The sensitive columns that make groups, by levels or by bands."""
    return () if table is None else tuple(column.name for column in group_columns(table) if column.sensitive)


def groups_by(table: Table | None, columns: Sequence[str]) -> Groups:
    """The groups that some columns make together; without columns one group of everybody."""
    if table is None or not columns:
        return Groups((), (EVERYBODY,), np.zeros(0 if table is None else len(table), np.int32))
    by_name = {column.name: column for column in group_columns(table)}
    codes, labels = np.zeros(len(table), np.int32), [""]
    for name in columns:
        column, cells = by_name[name], table.cells(name)
        levels = (*column.groups, "missing")
        if column.coded:
            empty, level = cells.astype(np.int32) < 0, cells.astype(np.int32)
        else:
            numbers = cells.astype(np.float64)
            empty = np.isnan(numbers)
            level = np.searchsorted(np.array(column.bands), numbers, side="right").astype(np.int32)
        pairs = codes * len(levels) + np.where(empty, len(column.groups), level)
        present = np.bincount(pairs) > 0
        codes = (np.cumsum(present, dtype=np.int32) - 1)[pairs]
        split = (divmod(pair, len(levels)) for pair in np.flatnonzero(present).tolist())
        labels = [", ".join(filter(None, (labels[before], levels[level]))) for before, level in split]
    return Groups(tuple(columns), tuple(labels), codes)


def sensitive_groups(tables: Iterable[Table | None], columns: Sequence[str] | None, rows: int) -> Groups:
    """The groups of training rows that a method treats alike, by the named columns or by all sensitive ones.

    They come from the first of the tables that has these columns.
    """
    given = [table for table in tables if table is not None]
    names = columns or next(filter(None, map(sensitive_names, given)), ())
    for table in given:
        if names and set(names) <= {column.name for column in group_columns(table)}:
            return groups_by(table, names)
    if columns:
        valid = [column.name for table in given for column in group_columns(table)]
        absent = next((name for name in columns if name not in valid), columns[0])
        raise FitError(f"there is no column of levels '{absent}'", hint=did_you_mean(absent, valid, "columns"))
    return Groups((), (EVERYBODY,), np.zeros(rows, np.int32))
