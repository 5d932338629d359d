"""The runs of a store: what was requested, and the result of every cell, with cells and datasets as plain JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlcli.core.errors import StoreError, UsageError
from mlcli.core.processes import name_of
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.serialise import digest
from mlcli.data.dataset import Dataset, Recipe
from mlcli.experiment.results import SplitResult, each
from mlcli.experiment.spec.cells import Cell, CellResult, DatasetFacts, ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.store.database import Database, damage_as_store_error, now

SplitsOf = Callable[[int, str], Sequence[SplitResult]]
"""The stored splits of a cell, by its id and kind of task."""
Facts = Mapping[str, Any]
"""Plain JSON values."""

MOST_READ = 20_000
"""So many runs can be read one after another in seconds."""
MADE_BY = "process"
"""The name of the detail of a run that names the process that makes it."""
RUN_COLUMNS = "title, source, seed, metrics, id, started, finished, cells"
PLAIN_DATASET = ("name", "content", "task", "notes", "unlabelled")
PLAIN_CELL = ("kind", "seed", "budget", "skipped", "learned_rows", "shortcuts", "stages", "training")
"""Fields that are stored as they are."""


@dataclass(frozen=True)
class RunFacts:
    """One run of an experiment: its title, when it ran, what was requested."""

    title: str = ""
    source: str | None = None
    seed: int = 1
    metrics: tuple[str, ...] = ()
    id: int = 0
    started: str = ""
    finished: str | None = None
    cells: int = 0


@dataclass(frozen=True, eq=False)
class RunLog:
    """Writes runs, and restores their results from stored answers."""

    database: Database
    splits_of: SplitsOf

    def begin(self, about: RunFacts, cells: int) -> int:
        """The id of a new run, which is unfinished until its results are stored."""
        row = {"started": now(), "title": about.title, "source": about.source, "seed": about.seed}
        with self.database.transaction():
            number = self.database.insert("runs", row | {"metrics": json.dumps(about.metrics), "cells": cells})
            self._keep(number, MADE_BY, name_of(os.getpid()))
        return number

    def finish(self, run: int, results: Sequence[CellResult]) -> None:
        """Store the results of a run, so that it can be shown again as it was."""
        with self.database.transaction():
            for position, result in enumerate(results):
                self._write(run, position, result)
            self.database.write("UPDATE runs SET finished = ? WHERE id = ?", now(), run)

    def all(self, newest: int = -1) -> list[RunFacts]:
        """All runs, or only the newest ones; oldest first."""
        rows = self.database.all(f"SELECT {RUN_COLUMNS} FROM runs ORDER BY id DESC LIMIT ?", newest)
        with damage_as_store_error(self.database.path):
            return [_run_from(row) for row in reversed(rows)]

    def count(self) -> int:
        """The number of runs."""
        return int(self.database.one("SELECT count(*) FROM runs")[0])

    def finished(self) -> list[int]:
        """The ids of all finished runs, oldest first; a store with too many is refused."""
        rows = self.database.all("SELECT id FROM runs WHERE finished IS NOT NULL ORDER BY id")
        if len(rows) > MOST_READ:
            what = f"it holds {self.count():,} runs, and at most {MOST_READ:,} are read one after another"
            raise StoreError(what, where=str(self.database.path), hint="name or remove some: mlcli runs remove")
        return [int(number) for (number,) in rows]

    def newest_of(self, file: Path) -> int:
        """The newest finished run of an experiment file with this name."""
        finished = ((run.id, run.source) for run in self.all() if run.finished and run.source)
        numbers = [number for number, source in finished if Path(source).name == file.name]
        if not numbers:
            hint = f"mlcli run {file} makes one"
            raise UsageError(f"there is no finished run of {file} in {self.database.path}", hint=hint)
        return numbers[-1]

    def one(self, run: int) -> tuple[RunFacts, list[CellResult]]:
        """One run with its results as they were; it needs neither the data nor the methods."""
        path = self.database.path
        row = None
        if run < 2**63:  # the largest number of SQLite
            row = self.database.one(f"SELECT {RUN_COLUMNS} FROM runs WHERE id = ?", run)
        if row is None:
            raise UsageError(f"there is no run {run} in {path}", hint=f"mlcli runs --store {path} lists all")
        with damage_as_store_error(path):
            about = _run_from(row)
        if about.finished is None:
            hint = "run the experiment again: what it did is stored, and only the rest runs"
            raise StoreError(f"run {run} was not finished", where=str(path), hint=hint)
        query = """
            SELECT run_cells.cell, cells.key, datasets.facts, run_cells.facts,
                status, why, trace, answered, pooled, stored, notes
            FROM run_cells JOIN datasets ON datasets.digest = run_cells.dataset
                LEFT JOIN cells ON cells.id = run_cells.cell
            WHERE run = ? ORDER BY position
        """
        with damage_as_store_error(path):
            return about, [self._result(row) for row in self.database.all(query, run)]

    def keep(self, run: int, name: str, value: object) -> None:
        """Store a detail of a run, as plain JSON."""
        with self.database.transaction():
            self._keep(run, name, value)

    def kept(self, run: int, name: str) -> Any:
        """A detail of a run; None if it was not stored."""
        row = self.database.one("SELECT value FROM run_details WHERE run = ? AND name = ?", run, name)
        with damage_as_store_error(self.database.path):
            return None if row is None else json.loads(row[0])

    def _keep(self, run: int, name: str, value: object) -> None:
        self.database.write("INSERT OR REPLACE INTO run_details VALUES (?, ?, ?)", run, name, json.dumps(value))

    def _write(self, run: int, position: int, result: CellResult) -> None:
        dataset = facts_of_dataset(result.cell.dataset)
        self.database.write("INSERT OR IGNORE INTO datasets VALUES (?, ?)", digest(dataset), json.dumps(dataset))
        row = {
            "run": run,
            "position": position,
            "cell": self.database.one("SELECT max(id) FROM cells WHERE key = ?", result.key)[0],
            "dataset": digest(dataset),
            "facts": json.dumps(facts_of_cell(result.cell)),
            "status": result.status,
            "why": result.why,
            "trace": result.trace,
            "answered": json.dumps(list(each(result.splits, "index"))),
            "pooled": result.pooled,
            "stored": result.stored,
            "notes": json.dumps(result.notes),
        }
        self.database.insert("run_cells", row)

    def _result(self, row: Sequence[Any]) -> CellResult:
        id, key, dataset, facts, status, why, trace, answered, pooled, stored, notes = row
        cell = cell_from(json.loads(facts), dataset_from(json.loads(dataset)))
        indices = set(json.loads(answered))
        splits = () if id is None else self.splits_of(id, cell.kind)
        if not indices.issuperset(each(splits, "index")):
            splits = tuple(split for split in splits if split.index in indices)
        missing = len(indices) - len(splits)
        damage = f"the answers of {missing} splits are damaged in the store: run it again" if missing else ""
        if damage and not splits:
            status, why = "failed", damage
        return CellResult(
            cell=cell,
            status=status,
            why=why,
            splits=splits,
            pooled=bool(pooled),
            stored=bool(stored),
            notes=(*json.loads(notes), *filter(None, [damage])),
            key=key or "",
            damage=damage,
            trace=trace,
        )


def _run_from(row: Sequence[Any]) -> RunFacts:
    title, source, seed, metrics, *rest = row
    return RunFacts(title, source, seed, tuple(json.loads(metrics)), *rest)


def facts_of_dataset(dataset: Dataset | DatasetFacts) -> dict[str, Any]:
    """What is stored of a dataset: everything but its table."""
    file_hash = ""
    if dataset.recipe is not None:
        file_hash = dataset.file_hash if isinstance(dataset, DatasetFacts) else dataset.recipe.file_hash
    fields = [asdict(field) for field in dataset.schema]
    for field in fields:
        if field["role"] in ("id", "ignore"):  # their levels are never shown, and ids have one for each row
            field["column"]["levels"] = ()
    return {
        **{name: getattr(dataset, name) for name in PLAIN_DATASET},
        "rows": len(dataset),
        "schema": fields,
        "path": None if dataset.path is None else str(dataset.path),
        "recipe": None if dataset.recipe is None else dataset.recipe.facts(),
        "file_hash": file_hash,
    }


def dataset_from(facts: Facts) -> DatasetFacts:
    """The dataset that ``facts_of_dataset`` described."""
    facts = _with_tuples(facts)
    fields = ({**field, "column": Column(**field["column"])} for field in facts["schema"])
    return DatasetFacts(
        **{name: facts[name] for name in PLAIN_DATASET},
        rows=facts["rows"],
        schema=Schema(tuple(SchemaField(**field) for field in fields)),
        path=None if facts["path"] is None else Path(facts["path"]),
        recipe=Recipe.from_facts(facts["recipe"]) if facts["recipe"] else None,
        file_hash=facts["file_hash"],
    )


def facts_of_cell(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: everything but its dataset, of which it has the name and the content hash."""
    model = cell.model
    return {
        **{name: getattr(cell, name) for name in PLAIN_CELL},
        "dataset": cell.dataset.name,
        "content": cell.dataset.content,
        "rows": len(cell.dataset),
        "model": model.use,
        "params": dict(model.params),
        "label": model.label,
        "requested": model.requested,
        "asked_steps": model.as_mapping().get("steps"),
        "saved": None if model.saved is None else str(model.saved.absolute()),
        "steps": [step.as_mapping() for step in cell.steps],
        "protocol": cell.protocol.as_mapping(),
    }


def cell_from(facts: Facts, dataset: DatasetFacts) -> Cell:
    """The cell that ``facts_of_cell`` described."""
    facts = _with_tuples(facts)
    steps = facts["asked_steps"]
    return Cell(
        **{name: facts[name] for name in PLAIN_CELL},
        dataset=dataset,
        model=ModelSpec(
            use=facts["model"],
            params=facts["params"],
            steps=None if steps is None else tuple(StepSpec(**step) for step in steps),
            label=facts["label"],
            saved=None if facts["saved"] is None else Path(facts["saved"]),
            requested=facts["requested"],
        ),
        steps=tuple(StepSpec(**step) for step in facts["steps"]),
        protocol=ProtocolSpec(**facts["protocol"]),
    )


def _with_tuples(value: Any) -> Any:
    """The value with tuples for lists: JSON has no tuples, and specs have no lists."""
    if isinstance(value, Mapping):
        return {name: _with_tuples(inner) for name, inner in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
