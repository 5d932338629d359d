"""Remove runs, collect answers that no run needs, and report what is wrong with a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlcli.core.errors import MlcliError, StoreError, UsageError
from mlcli.core.names import listed
from mlcli.core.processes import is_at_work
from mlcli.experiment.results import checksum, decoded
from mlcli.experiment.store.database import Database, sqlite_errors_as_store_errors
from mlcli.experiment.store.runs import MADE_BY
from mlcli.experiment.store.store import Store
from mlcli.tasks.table import kind_named

NEEDED_BY_NO_RUN = "id NOT IN (SELECT cell FROM run_cells WHERE cell IS NOT NULL)"
"""Which cells no run names."""


@dataclass(frozen=True)
class Freed:
    """What a collection has removed, and the unfinished runs that may still need their answers."""

    runs: tuple[int, ...]
    cells: int
    bytes: int
    """By how much the file is smaller."""
    kept_for: tuple[int, ...] = ()


def remove_runs(store: Store, numbers: Sequence[int]) -> None:
    """Remove runs from the list; their answers stay until they are collected."""
    ids = {run.id for run in store.runs.all()}
    unknown = [str(number) for number in numbers if number not in ids]
    if unknown:
        what = f"there is no run {listed(unknown)} in {store.path}"
        raise UsageError(what, hint=f"mlcli runs --store {store.path} lists all")
    _refuse_runs_at_work(store, numbers)
    with store.database.transaction():
        for number in numbers:
            store.database.write("DELETE FROM runs WHERE id = ?", number)


def collect(store: Store) -> Freed:
    """Remove answers that no run names and unfinished runs that were finished later; then shrink the file.

    While an unfinished run was neither finished later nor removed, all answers that no run names are kept for it.
    """
    database = store.database
    runs = store.runs.all()
    unfinished = [run for run in runs if run.finished is None]
    _refuse_runs_at_work(store, [run.id for run in unfinished])
    newest = {(run.title, run.source): run.id for run in runs if run.finished}
    replaced = tuple(run.id for run in unfinished if newest.get((run.title, run.source), 0) > run.id)
    waiting = tuple(run.id for run in unfinished if run.id not in replaced)
    bytes_before = _bytes(database)
    with database.transaction():
        for number in replaced:
            database.write("DELETE FROM runs WHERE id = ?", number)
        (cells,) = (0,) if waiting else database.one(f"SELECT count(*) FROM cells WHERE {NEEDED_BY_NO_RUN}")
        if cells:
            database.write(f"DELETE FROM cells WHERE {NEEDED_BY_NO_RUN}")
        database.write("DELETE FROM datasets WHERE digest NOT IN (SELECT dataset FROM run_cells)")
    with sqlite_errors_as_store_errors(store.path):
        database.connection.execute("VACUUM")
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Freed(replaced, cells, bytes_before - _bytes(database), waiting)


def _refuse_runs_at_work(store: Store, numbers: Sequence[int]) -> None:
    for number in numbers:
        process = store.runs.kept(number, MADE_BY)
        finished = store.database.one("SELECT finished FROM runs WHERE id = ?", number)[0]
        if finished is None and isinstance(process, str) and is_at_work(process):
            what = f"run {number} is being made, by process {process.split()[1]}"
            raise StoreError(what, where=str(store.path), hint="wait for its end, or end it")


def _bytes(database: Database) -> int:
    pages, size = database.one("PRAGMA page_count")[0], database.one("PRAGMA page_size")[0]
    return int(pages * size)


def faults_of(store: Store) -> list[str]:
    """Everything that is wrong with a store, a sentence for each fault."""
    return [*_faults_of_file(store), *_faults_of_blocks(store), *_faults_of_runs(store)]


def _faults_of_file(store: Store) -> Iterator[str]:
    connection = store.database.connection
    try:
        for (message,) in connection.execute("PRAGMA integrity_check"):
            if message != "ok":
                yield f"the file is damaged: {message}"
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            yield f"row {row} of {table} belongs to something in {parent} that is not there"
    except sqlite3.DatabaseError as error:
        yield f"the file is damaged: {error}"


def _faults_of_blocks(store: Store) -> Iterator[str]:
    """Blocks whose answers cannot be used; a run evaluates their splits again."""
    blocks = "SELECT first, payload, checksum FROM blocks WHERE cell = ?"
    try:
        for cell, kind in store.database.all("SELECT id, json_extract(facts, '$.kind') FROM cells"):
            for first, payload, expected in store.database.all(blocks, cell):
                try:
                    if checksum(payload) != expected:
                        raise ValueError("the checksum is wrong")
                    decoded(payload, kind_named(kind).answers)
                except (ValueError, TypeError, MlcliError) as error:
                    yield f"cell {cell}, splits from {first + 1}: {error}; they will be run again"
    except StoreError as error:
        yield error.in_a_line


def _faults_of_runs(store: Store) -> Iterator[str]:
    try:
        finished = store.runs.finished()
    except StoreError as error:
        yield f"the list of runs cannot be read: {error.in_a_line}"
        return
    for number in finished:
        try:
            store.runs.one(number)
        except MlcliError as error:
            yield f"run {number} cannot be shown: {error.in_a_line}"
