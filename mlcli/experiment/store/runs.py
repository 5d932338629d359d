"""The runs of a store: what was asked, in which order, and what every cell had come to by then."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlcli.core.errors import StoreError, UsageError
from mlcli.core.processes import name_of
from mlcli.core.seeds import digest
from mlcli.experiment.run.split_results import SplitResult, each
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.facts import cell_from, dataset_from, facts_of_cell, facts_of_dataset
from mlcli.experiment.store.database import Database, damage_as_store_error, now

SplitsOf = Callable[[int, str], Sequence[SplitResult]]
"""The answers that are stored for a cell (its id and kind)."""

MOST_READ = 20_000
LARGEST_NUMBER = 2**63 - 1
"""That SQLite holds."""
MADE_BY = "process"
"""Under which name a run keeps that of the process that makes it."""
RUN_COLUMNS = "title, source, seed, metrics, id, started, finished, cells"
RUN_CELLS = """
SELECT run_cells.cell, cells.key, datasets.facts, run_cells.facts,
    status, why, trace, answered, pooled, stored, notes
FROM run_cells JOIN datasets ON datasets.digest = run_cells.dataset LEFT JOIN cells ON cells.id = run_cells.cell
WHERE run = ? ORDER BY position
"""


@dataclass(frozen=True)
class RunFacts:
    """One run of an experiment: what it was called, when it ran, what was asked of it."""

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
    """Writes runs down, and makes their results again from stored answers."""

    database: Database
    splits_of: SplitsOf

    def begin(self, about: RunFacts, cells: int) -> int:
        """The id of a new run, listed as unfinished until its results are there."""
        named = {"started": now(), "title": about.title, "source": about.source, "seed": about.seed}
        with self.database.transaction():
            number = self.database.insert("runs", named | {"metrics": json.dumps(about.metrics), "cells": cells})
            self._keep(number, MADE_BY, name_of(os.getpid()))
        return number

    def finish(self, run: int, results: Sequence[CellResult]) -> None:
        """Keep what a run came to, so that it can be shown again as it was."""
        with self.database.transaction():
            for position, result in enumerate(results):
                self._write(run, position, result)
            self.database.write("UPDATE runs SET finished = ? WHERE id = ?", now(), run)

    def all(self, newest: int = -1) -> list[RunFacts]:
        """Every run, or so many of the newest; oldest first."""
        rows = self.database.all(f"SELECT {RUN_COLUMNS} FROM runs ORDER BY id DESC LIMIT ?", newest)
        with damage_as_store_error(self.database.path):
            return [_run_from(row) for row in reversed(list(rows))]

    def count(self) -> int:
        """How many runs there are."""
        return int(self.database.one("SELECT count(*) FROM runs")[0])

    def finished(self) -> list[int]:
        """The number of every finished run, oldest first; more than can be read in seconds are refused."""
        numbers = self.database.all("SELECT id FROM runs WHERE finished IS NOT NULL ORDER BY id")
        if len(list(numbers)) > MOST_READ:
            what = f"it holds {self.count():,} runs, and at most {MOST_READ:,} are read one after another"
            raise StoreError(what, where=str(self.database.path), hint="name or remove some: mlcli runs remove")
        return [int(number) for (number,) in numbers]

    def newest_of(self, file: Path) -> int:
        """The newest finished run of an experiment file of this name."""
        finished = ((run.id, run.source) for run in self.all() if run.finished and run.source)
        known = [number for number, source in finished if Path(source).name == file.name]
        if not known:
            hint = f"mlcli run {file} makes one"
            raise UsageError(f"there is no finished run of {file} in {self.database.path}", hint=hint)
        return known[-1]

    def one(self, run: int) -> tuple[RunFacts, list[CellResult]]:
        """One run with its results, as it was; neither data nor methods are needed."""
        row = None
        if run <= LARGEST_NUMBER:
            row = self.database.one(f"SELECT {RUN_COLUMNS} FROM runs WHERE id = ?", run)
        if row is None:
            location = self.database.path
            raise UsageError(
                f"there is no run {run} in {location}", hint=f"mlcli runs --store {location} lists all"
            )
        with damage_as_store_error(self.database.path):
            about = _run_from(row)
        if about.finished is None:
            hint = "run the experiment again: what it did is stored, and only the rest runs"
            raise StoreError(f"run {run} was not finished", where=str(self.database.path), hint=hint)
        with damage_as_store_error(self.database.path):
            return about, [self._result(found) for found in self.database.all(RUN_CELLS, run)]

    def keep(self, run: int, name: str, value: Any) -> None:
        """Keep something more of a run, as plain values."""
        with self.database.transaction():
            self._keep(run, name, value)

    def kept(self, run: int, name: str) -> Any:
        """What was kept of a run under a name; None where nothing was."""
        row = self.database.one("SELECT value FROM run_details WHERE run = ? AND name = ?", run, name)
        with damage_as_store_error(self.database.path):
            return None if row is None else json.loads(row[0])

    def _keep(self, run: int, name: str, value: Any) -> None:
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
        cell, key, dataset, facts, status, why, trace, answered, pooled, stored, notes = row
        asked = cell_from(json.loads(facts), dataset_from(json.loads(dataset)))
        requested = set(json.loads(answered))
        splits = () if cell is None else self.splits_of(cell, asked.kind)
        if not requested.issuperset(each(splits, "index")):
            splits = tuple(split for split in splits if split.index in requested)
        missing = len(requested) - len(splits)
        lost = (f"the answers of {missing} splits are damaged in the store: run it again",) if missing else ()
        if lost and not splits:
            status, why = "failed", lost[0]
        return CellResult(
            cell=asked,
            status=status,
            why=why,
            splits=splits,
            pooled=bool(pooled),
            stored=bool(stored),
            notes=(*json.loads(notes), *lost),
            key=key or "",
            damage="".join(lost),
            trace=trace,
        )


def _run_from(row: Sequence[Any]) -> RunFacts:
    title, source, seed, metrics, *rest = row
    return RunFacts(title, source, seed, tuple(json.loads(metrics)), *rest)
