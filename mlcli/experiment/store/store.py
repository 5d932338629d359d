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
from mlcli.experiment.run.split_results import CompletedSplits, SplitResult
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.spec.facts import facts_of_cell
from mlcli.experiment.store.codec import checksum, decoded
from mlcli.experiment.store.database import Database, now, open_to_read, open_to_write
from mlcli.experiment.store.runs import RunFacts, RunLog
from mlcli.tasks.table import kind_named

DEFAULT_PLACE = Path(".mlcli") / "runs.db"
"""Where an experiment keeps its store, relative to its file."""
NEW_CELL = "INSERT INTO cells (key, created, splits, facts) VALUES (?, ?, ?, ?)"
ENDING = "status, why, trace, split, budget, memory"
MOST_MEMORY = "UPDATE cells SET memory = max(coalesce(memory, 0), ?) WHERE id = ?"
BLOCKS = "SELECT payload, checksum, seconds FROM blocks WHERE cell = ? ORDER BY first"
SUFFIXES = (".yaml", ".yml")
RUN_NUMBER = re.compile("[0-9]{1,1000}")
Run = tuple[RunFacts, list[CellResult]]


@dataclass(frozen=True)
class Ending:
    """How a cell ended, and why; ``split`` is the one that failed.

    Of one that was over its budget, ``budget`` (seconds) or ``memory`` is what it had of what was too little.
    """

    status: str
    why: str = ""
    trace: str = ""
    split: int | None = None
    budget: float | None = None
    memory: int | None = None


@dataclass(frozen=True, eq=False)
class StoredCell:
    """What the store holds of a cell; ``damaged`` counts the blocks that were refused."""

    id: int
    splits: Sequence[SplitResult]
    ending: Ending | None = None
    seconds: float = 0.0
    damaged: int = 0
    risky: bool = False
    """Whether a process ended while it ran this cell, without a word."""


class Store:
    """An SQLite file; one process writes it at a time, a block of splits per transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.runs = RunLog(database, lambda cell, kind: self.cell(cell, kind).splits)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A store to run with; it is made where there is none."""
        return cls(open_to_write(path))

    @classmethod
    def read(cls, path: Path) -> Self:
        """A store to look into."""
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
        """Let go of the file."""
        self.database.connection.close()

    def faults(self) -> list[str]:
        """What is wrong with it, a sentence each; none where it is sound."""
        from mlcli.experiment.store.housekeeping import faults_of

        return faults_of(self)

    def cell(self, cell: int, kind: str) -> StoredCell:
        """What is there of a cell; a block whose checksum is wrong is left out, so that it runs again."""
        answers = kind_named(kind).answers
        completed = CompletedSplits()
        seconds, damaged = 0.0, 0
        for payload, expected, spent in self.database.all(BLOCKS, cell):
            try:
                if checksum(payload) != expected:
                    raise ValueError("the checksum is wrong")
                completed.add(decoded(payload, answers))
                seconds += float(spent)
            except (ValueError, TypeError):
                damaged += 1
        ending = self.database.one(f"SELECT {ENDING} FROM endings WHERE cell = ?", cell)
        risky = self.database.one("SELECT cell FROM risks WHERE cell = ?", cell) is not None
        return StoredCell(cell, completed.all(), Ending(*ending) if ending else None, seconds, damaged, risky)

    def add(self, key: str, cell: Cell, splits: int) -> int:
        """The id of a new cell without answers; from now on it is the one that its key finds."""
        with self.database.transaction():
            return self._insert(key, cell, splits)

    def find_or_add(self, key: str, cell: Cell, splits: int) -> int:
        """The id of the newest cell with a key; processes that ask for the same at once share one cell."""
        result = self.find(key)
        if result is None:
            with self.database.transaction():
                result = self.find(key) or self._insert(key, cell, splits)
        return result

    def find(self, key: str) -> int | None:
        """The id of the newest cell with a key, if there is one."""
        result: int | None = self.database.one("SELECT max(id) FROM cells WHERE key = ?", key)[0]
        return result

    def _insert(self, key: str, cell: Cell, splits: int) -> int:
        return self.database.write(NEW_CELL, key, now(), splits, json.dumps(facts_of_cell(cell)))

    def put_block(
        self, cell: int, first: int, count: int, payload: bytes, seconds: float, memory: int | None = None
    ) -> None:
        """Keep the answers of some consecutive splits, and what they took."""
        row = (cell, first, count, seconds, payload, checksum(payload))
        with self.database.transaction():
            self.database.write("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)", *row)
            if memory is not None:
                self.database.write(MOST_MEMORY, memory, cell)

    def put_ending(self, cell: int, ending: Ending) -> None:
        """Keep how a cell ended."""
        row = (*astuple(ending), cell, now())
        with self.database.transaction():
            columns = f"({ENDING}, cell, ended)"
            self.database.write(f"INSERT OR REPLACE INTO endings {columns} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
            self.database.write("DELETE FROM risks WHERE cell = ?", cell)

    def put_risk(self, cell: int | None) -> None:
        """Keep which cell this process is running itself; who finds that later knows that it ended the process."""
        with self.database.transaction():
            self.database.write("DELETE FROM risks WHERE process = ?", os.getpid())
            if cell is not None:
                self.database.write("INSERT OR REPLACE INTO risks VALUES (?, ?)", cell, os.getpid())


def named_run(name: str, store: Path | None) -> Run:
    """The run of a number in a store, or the newest of an experiment file in the store beside it."""
    with Store.read(store_of(name, store)) as opened:
        return opened.runs.one(number_of(name, opened))


def store_of(name: str, store: Path | None) -> Path:
    """The store that a run is looked for in."""
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
    return RUN_NUMBER.fullmatch(name) is not None


def results_together(runs: Sequence[Run]) -> list[CellResult]:
    """The results of several runs: what two have in common once, and namesakes told apart by their runs."""
    kept: dict[tuple[str, ...], CellResult] = {}
    for about, results in runs:
        for result in results:
            _keep(result, about.id, kept)
    return list(kept.values())


def _keep(result: CellResult, run: int, kept: dict[tuple[str, ...], CellResult]) -> None:
    cell = result.cell
    place = cell.dataset.name, cell.kind, cell.protocol.use, str(cell.protocol.params)
    known = kept.setdefault((*place, cell.label), result)
    if known is result or (known.key == result.key and result.key):
        return
    renamed = f"{cell.label} (run {run})"
    kept[*place, renamed] = _called(result, renamed)


def _called(result: CellResult, label: str) -> CellResult:
    cell = result.cell
    return replace(result, cell=replace(cell, model=replace(cell.model, label=label)))


def metrics_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """The metrics that the runs were asked for, each once."""
    return tuple(dict.fromkeys(metric for about, _ in runs for metric in about.metrics))
