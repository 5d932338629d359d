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

from mlcli.core.configuration import MOST_LEVELS, has_too_many_levels
from mlcli.core.names import listed
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Table, is_missing
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.tasks.table import kind_named

MUCH_MISSING = 0.3
ENOUGH_ROWS = 20
"""In fewer rows, missing cells and rare levels are no surprise."""
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
    """Sentences for the user on what was guessed or looks odd."""
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
        """The number of rows without a target; they are not scored, and few methods learn from them."""
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
    features, rows = dataset.schema.features(), len(dataset)
    constant = [column.name for column in features if is_constant(dataset, column)]
    shares = {column.name: share_missing(dataset, column) for column in features}
    gaps = [f"{name} ({share:.0%})" for name, share in shares.items() if share > MUCH_MISSING]
    merged = [f"{feature.name} ({len(feature.levels)})" for feature in features if has_too_many_levels(feature)]
    rare = [f"{feature.name} ({len(feature.levels)})" for feature in features if has_many_levels(feature, rows)]
    warnings = [NOTHING_TO_LEARN_FROM] if shows_nothing(dataset) else []
    if constant:
        warnings.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if gaps and rows >= ENOUGH_ROWS:
        warnings.append(f"more than {100 * MUCH_MISSING:.0f} % of the cells are missing: {listed(gaps)}")
    if merged:
        levels = f"the {MOST_LEVELS} most frequent levels and one for the rest"
        all_levels = "to keep all, name the step one-hot"
        warnings.append(f"models that need numbers see {levels}, of: {listed(merged)}; {all_levels}")
    if rare:
        warnings.append(f"very many levels for {rows} rows: {listed(rare)}")
    return tuple(warnings)


def shows_nothing(dataset: Dataset) -> bool:
    """Whether models see no column: no feature, no role that implies the task, and no sequence of tags."""
    is_marked = dataset.task and kind_named(dataset.task).marked_by
    return not (dataset.schema.features() or is_marked or dataset.schema.the("sequence"))


def share_missing(dataset: Dataset, column: Column) -> float:
    """The share of empty cells."""
    if not column.missing or not len(dataset):
        return 0.0
    return float(is_missing(dataset.table.cells(column.name)).sum()) / len(dataset)


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows; an empty cell is another value."""
    cells = dataset.table.cells(column.name)
    first = cells[:100]  # they mostly tell that a column varies
    if not len(cells) or is_missing(first).any() or (first != first[0]).any():
        return False
    return bool((cells == cells[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    is_crowded = ENOUGH_ROWS <= rows < 2 * len(column.levels)
    return column.coded and (len(column.levels) > 100 or is_crowded)


@dataclass(frozen=True)
class Recipe:
    """A file, the text of its sidecar, and the options that override the sidecar."""

    path: Path
    """Absolute."""
    sidecar: str | None = None
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    positive: str | None = None
    earlier: Sidecar | None = None
    """How the training file of a saved model was read, if the model predicts this one."""

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
        single = (("--target", self.target), ("--task", self.task), ("--positive", self.positive))
        pairs = [(option, value) for option, value in single if value is not None]
        pairs += [("--sensitive", column) for column in self.sensitive]
        pairs += [("--drop", column) for column in self.drop]
        return shlex.join(chain.from_iterable(pairs))

    def facts(self) -> dict[str, object]:
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
