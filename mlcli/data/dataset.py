"""A dataset: a typed table, its schema, how it was read from its file, and what looks odd about its columns.

The checks of ``mlcli audit`` are in ``mlcli/checks``; they ask the same questions of a column.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from mlcli.core.names import listed
from mlcli.core.required_steps import MOST_LEVELS, has_too_many_levels
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Table, is_missing
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.tasks.table import kind_named

MUCH_MISSING = 0.3
MANY_LEVELS = 100
ROWS_PER_LEVEL = 2
ROWS_TO_JUDGE = 20
GLANCE = 100
"""Rows that mostly tell that a column varies."""
NOTHING_TO_LEARN_FROM = "there is no feature, so no model can do more than the baseline"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Every column of a CSV file, typed; ``schema`` gives each its role."""

    name: str
    table: Table
    schema: Schema
    path: Path | None = None
    task: str | None = None
    """The kind of task that the sidecar or the user states, if any."""
    notes: tuple[str, ...] = ()
    """What was guessed or looks odd, in sentences for the user."""
    doubt: str = ""
    """Why the target may be another column, where that was guessed."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Source, licence, citation and the like, from the sidecar."""
    sidecar: Sidecar = field(default_factory=Sidecar)
    """What was declared, as it stands in the sidecar."""
    in_file: Dataset | None = None
    """The rows as the file holds them, where they were read in another form."""
    recipe: Recipe | None = None
    """How it was read from its file, if it was."""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def unlabelled(self) -> int:
        """How many rows have no target; they judge nothing, and few methods learn from them."""
        target = self.schema.the("target")
        return 0 if target is None else int(is_missing(self.table.cells(target.name)).sum())

    @cached_property
    def content(self) -> str:
        """A hash of the typed cells with names, kinds, levels and roles: what results depend on."""
        seen = hashlib.sha256()
        for described in self.schema:
            column = described.column
            seen.update(repr((column.name, column.kind, column.levels, described.role)).encode())
        seen.update(np.ascontiguousarray(self.table.numbers).data)
        seen.update(np.ascontiguousarray(self.table.codes).data)
        return seen.hexdigest()


def column_warnings(dataset: Dataset) -> tuple[str, ...]:
    """A sentence on having no features, and on those that are constant, have many gaps, or very many levels."""
    features = dataset.schema.features()
    constant = [column.name for column in features if is_constant(dataset, column)]
    many = [
        f"{feature.name} ({len(feature.levels)})" for feature in features if has_many_levels(feature, len(dataset))
    ]
    shares = {column.name: share_missing(dataset, column) for column in features}
    empty = [f"{name} ({share:.0%})" for name, share in shares.items() if share > MUCH_MISSING]
    notes = [NOTHING_TO_LEARN_FROM] if shows_nothing(dataset) else []
    if constant:
        notes.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if empty and len(dataset) >= ROWS_TO_JUDGE:
        notes.append(f"more than {100 * MUCH_MISSING:.0f} % of the cells are missing: {listed(empty)}")
    merged = [f"{feature.name} ({len(feature.levels)})" for feature in features if has_too_many_levels(feature)]
    if merged:
        most = f"the {MOST_LEVELS} most frequent levels and one for the rest"
        notes.append(
            f"models that need numbers see {most}, of: {listed(merged)}; to keep all, name the step one-hot"
        )
    if many:
        notes.append(f"very many levels for {len(dataset)} rows: {listed(many)}")
    return tuple(notes)


def shows_nothing(dataset: Dataset) -> bool:
    """Whether models see no column: no feature, no role that marks the task, and no sequence of tags."""
    is_marked = dataset.task and kind_named(dataset.task).marked_by
    return not (dataset.schema.features() or is_marked or dataset.schema.the("sequence"))


def share_missing(dataset: Dataset, column: Column) -> float:
    """The share of the cells that are empty."""
    rows = len(dataset)
    return (rows - len(_cells(dataset, column))) / rows if column.missing and rows else 0.0


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows; being empty in some rows is another."""
    subset = _cells(dataset, column, GLANCE)
    if len(subset) and (subset != subset[0]).any():
        return False
    cells = _cells(dataset, column)
    return len(cells) == len(dataset) > 0 and bool((cells == cells[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    crowded = rows >= ROWS_TO_JUDGE and rows < ROWS_PER_LEVEL * len(column.levels)
    return column.coded and (len(column.levels) > MANY_LEVELS or crowded)


def _cells(dataset: Dataset, column: Column, rows: int | None = None) -> Array:
    """The cells of a column that are not missing, of all rows or the first; codes as numbers."""
    cells = dataset.table.cells(column.name)[:rows]
    return cells[~is_missing(cells)].astype(np.float64)


@dataclass(frozen=True)
class Recipe:
    """A file, the text of its sidecar, and the options that go before the sidecar."""

    path: Path
    """Absolute."""
    sidecar: str | None = None
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    positive: str | None = None
    earlier: Sidecar | None = None
    """How an earlier file was read, where a saved model that learned from it is asked about this one."""

    @cached_property
    def file_hash(self) -> str:
        """The SHA-256 of the bytes of the file as it is now; empty if it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""

    @property
    def options(self) -> str:
        """The options as they are typed, such as --target price --drop id."""
        single = {"--target": self.target, "--task": self.task, "--positive": self.positive}
        pairs = [(option, value) for option, value in single.items() if value is not None]
        pairs += [("--sensitive", column) for column in self.sensitive]
        pairs += [("--drop", column) for column in self.drop]
        return shlex.join(chain.from_iterable(pairs))

    def facts(self) -> dict[str, Any]:
        """The recipe as plain values."""
        return {**asdict(self), "path": str(self.path)}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The recipe that these plain values, with tuples for lists, describe."""
        earlier = facts["earlier"]
        if earlier is not None:
            columns = {name: Declaration(**values) for name, values in earlier["columns"].items()}
            earlier = Sidecar(**{**earlier, "columns": columns})
        return cls(**{**facts, "path": Path(facts["path"]), "earlier": earlier})
