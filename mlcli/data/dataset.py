"""A dataset: a typed table, what its columns are, and what was guessed of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.core.schema import Schema
from mlcli.core.tables import Table
from mlcli.data.sidecar import Sidecar


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

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def unlabelled(self) -> int:
        """How many rows have no target; they judge nothing, and few methods learn from them."""
        target = self.schema.the("target")
        if target is None:
            return 0
        cells = self.table.cells(target.name).astype(np.float64)
        return int((np.isnan(cells) | (cells < 0 if target.coded else False)).sum())

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
