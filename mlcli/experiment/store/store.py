"""The store: answers of cells in blocks of splits, how each cell ended, and runs by the names that users type."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Self

from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS
from mlcli.experiment.results import CompletedSplits, SplitResult, checksum, decoded
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.store.database import Database, now, open_to_read, open_to_write
from mlcli.experiment.store.runs import RunFacts, RunLog, facts_of_cell
from mlcli.tasks.table import kind_named

DEFAULT_PLACE = Path(".mlcli") / "runs.db"
"""Where an experiment keeps its store, relative to its file."""
SUFFIXES = (".yaml", ".yml")
Run = tuple[RunFacts, list[CellResult]]


@dataclass(frozen=True)
class Ending:
    """How a cell ended; ``split`` is the one that failed, ``code`` the exit code of its error.

    If the cell was over its budget, ``budget`` (seconds) or ``memory`` is the limit that it exceeded.
    """

    status: str
    why: str = ""
    trace: str = ""
    split: int | None = None
    budget: float | None = None
    memory: int | None = None
    code: int = 0


@dataclass(frozen=True, eq=False)
class StoredCell:
    """What the store holds of a cell; ``damaged`` counts the blocks that were refused."""

    id: int
    splits: Sequence[SplitResult]
    ending: Ending | None = None
    seconds: float = 0.0
    damaged: int = 0
    risky: bool = False
    """Whether the process that last ran this cell itself ended without recording an ending."""


class Store:
    """An SQLite file; one process writes at a time, each block of splits in one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.runs = RunLog(database, lambda cell, kind: self.cell(cell, kind).splits)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A store to read and write, which is made if there is none."""
        return cls(open_to_write(path))

    @classmethod
    def read(cls, path: Path) -> Self:
        """A store to read."""
        return cls(open_to_read(path))

    @property
    def path(self) -> Path:
        """The file."""
        return self.database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.connection.close()

    def faults(self) -> list[str]:
        """What is wrong with it, a sentence for each fault."""
        from mlcli.experiment.store.housekeeping import faults_of

        return faults_of(self)

    def cell(self, cell: int, kind: str) -> StoredCell:
        """What is stored of a cell; a block with a wrong checksum is left out, so that it runs again."""
        answers = kind_named(kind).answers
        completed = CompletedSplits()
        seconds, damaged = 0.0, 0
        query = "SELECT payload, checksum, seconds FROM blocks WHERE cell = ? ORDER BY first"
        for payload, expected, block_seconds in self.database.all(query, cell):
            try:
                if checksum(payload) != expected:
                    raise ValueError("the checksum is wrong")
                completed.add(decoded(payload, answers))
                seconds += float(block_seconds)
            except (ValueError, TypeError):
                damaged += 1
        query = "SELECT status, why, trace, split, budget, memory, code FROM endings WHERE cell = ?"
        ending = self.database.one(query, cell)
        risky = self.database.one("SELECT cell FROM risks WHERE cell = ?", cell) is not None
        return StoredCell(cell, completed.all(), Ending(*ending) if ending else None, seconds, damaged, risky)

    def add(self, key: str, cell: Cell, splits: int) -> int:
        """The id of a new cell without answers; from now on its key finds this one."""
        with self.database.transaction():
            return self._insert(key, cell, splits)

    def find_or_add(self, key: str, cell: Cell, splits: int) -> int:
        """The id of the newest cell with a key; two processes that ask at once share one cell."""
        id = self.find(key)
        if id is None:
            with self.database.transaction():
                id = self.find(key) or self._insert(key, cell, splits)
        return id

    def find(self, key: str) -> int | None:
        """The id of the newest cell with a key, if there is one."""
        id: int | None = self.database.one("SELECT max(id) FROM cells WHERE key = ?", key)[0]
        return id

    def _insert(self, key: str, cell: Cell, splits: int) -> int:
        statement = "INSERT INTO cells (key, created, splits, facts) VALUES (?, ?, ?, ?)"
        return self.database.write(statement, key, now(), splits, json.dumps(facts_of_cell(cell)))

    def put_block(
        self, cell: int, first: int, count: int, payload: bytes, seconds: float, memory: int | None = None
    ) -> None:
        """Store the results of consecutive splits, with their time and peak memory."""
        row = (cell, first, count, seconds, payload, checksum(payload))
        with self.database.transaction():
            self.database.write("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)", *row)
            if memory is not None:
                largest = "UPDATE cells SET memory = max(coalesce(memory, 0), ?) WHERE id = ?"
                self.database.write(largest, memory, cell)

    def put_ending(self, cell: int, ending: Ending) -> None:
        """Store how a cell ended."""
        columns = "status, why, trace, split, budget, memory, code, cell, ended"
        statement = f"INSERT OR REPLACE INTO endings ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with self.database.transaction():
            self.database.write(statement, *astuple(ending), cell, now())
            self.database.write("DELETE FROM risks WHERE cell = ?", cell)

    def put_risk(self, cell: int | None) -> None:
        """Store which cell this process runs itself: if it is there later, the cell ended the process."""
        with self.database.transaction():
            self.database.write("DELETE FROM risks WHERE process = ?", os.getpid())
            if cell is not None:
                self.database.write("INSERT OR REPLACE INTO risks VALUES (?, ?)", cell, os.getpid())


def named_run(name: str, store: Path | None) -> Run:
    """The run with a number in a store, or the newest of an experiment file in the store beside it."""
    with Store.read(store_of(name, store)) as opened:
        return opened.runs.one(number_of(name, opened))


def store_of(name: str, store: Path | None) -> Path:
    """The store in which a run is looked up."""
    file = Path(name)
    if is_number(name) or store is not None:
        return store or DEFAULT_PLACE
    if file.suffix.lower() not in SUFFIXES:
        hint = "name it by its number, see mlcli runs, or by its experiment file"
        if name in MODELS:
            hint = f"models are compared while they are evaluated: mlcli eval my.csv -m {name} -m ANOTHER"
        raise UsageError(f"'{name}' is no run", hint=hint)
    if not file.is_file():
        raise UsageError(f"there is no file '{name}'", hint="name a run by its number, see mlcli runs")
    return file.parent / DEFAULT_PLACE


def number_of(name: str, store: Store) -> int:
    """The number of a run in its store."""
    return int(name) if is_number(name) else store.runs.newest_of(Path(name))


def is_number(name: str) -> bool:
    """Whether a name is the number of a run rather than a file."""
    return re.fullmatch("[0-9]{1,1000}", name) is not None


def results_together(runs: Sequence[Run]) -> list[CellResult]:
    """The results of several runs: equal ones once, and different ones of one label named by their runs."""
    results_by_name: dict[tuple[str, ...], CellResult] = {}
    for about, results in runs:
        for result in results:
            cell = result.cell
            table = cell.dataset.name, cell.kind, cell.protocol.use, str(cell.protocol.params)
            first = results_by_name.setdefault((*table, cell.label), result)
            if first is result or (first.key == result.key and result.key):
                continue
            label = f"{cell.label} (run {about.id})"
            renamed = replace(cell, model=replace(cell.model, label=label))
            results_by_name[*table, label] = replace(result, cell=renamed)
    return list(results_by_name.values())


def metrics_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """The metrics that the runs requested, each once."""
    return tuple(dict.fromkeys(metric for about, _ in runs for metric in about.metrics))
