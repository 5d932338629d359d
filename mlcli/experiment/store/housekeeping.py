"""Runs that are removed, answers that no run needs any more, and what is wrong with a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlcli.core.errors import MlcliError, StoreError, UsageError
from mlcli.core.names import listed
from mlcli.core.processes import is_at_work
from mlcli.experiment.store.codec import checksum, decoded
from mlcli.experiment.store.database import Database, sqlite_errors_as_store_errors
from mlcli.experiment.store.runs import MADE_BY, RunFacts
from mlcli.experiment.store.store import Store
from mlcli.tasks.table import kind_named

NEEDED_BY_NO_RUN = "id NOT IN (SELECT cell FROM run_cells WHERE cell IS NOT NULL)"
NEEDED_DATASETS = "SELECT dataset FROM run_cells"


@dataclass(frozen=True)
class Freed:
    """What a collection has removed, and which runs that were cut short may still need their answers."""

    runs: tuple[int, ...]
    cells: int
    bytes: int
    """By how much the file is smaller."""
    kept_for: tuple[int, ...] = ()


def remove_runs(store: Store, numbers: Sequence[int]) -> None:
    """Take runs from the list; their answers stay until they are collected."""
    known = {run.id for run in store.runs.all()}
    unknown = [str(number) for number in numbers if number not in known]
    if unknown:
        what = f"there is no run {listed(unknown)} in {store.path}"
        raise UsageError(what, hint=f"mlcli runs --store {store.path} lists all")
    _refuse_those_at_work(store, numbers)
    with store.database.transaction():
        for number in numbers:
            store.database.write("DELETE FROM runs WHERE id = ?", number)


def collect(store: Store) -> Freed:
    """Remove answers that no run names, and runs that were cut short and made anew; then make the file smaller.

    While a run that was cut short is not made anew or removed, it may need any answer that no other run names.
    """
    database = store.database
    runs = store.runs.all()
    unfinished = [run for run in runs if run.finished is None]
    _refuse_those_at_work(store, [run.id for run in unfinished])
    outlived = tuple(run.id for run in unfinished if _is_made_anew(run, runs))
    waiting = tuple(run.id for run in unfinished if run.id not in outlived)
    before = _bytes(database)
    with database.transaction():
        for number in outlived:
            database.write("DELETE FROM runs WHERE id = ?", number)
        (cells,) = (0,) if waiting else database.one(f"SELECT count(*) FROM cells WHERE {NEEDED_BY_NO_RUN}")
        if cells:
            database.write(f"DELETE FROM cells WHERE {NEEDED_BY_NO_RUN}")
        database.write(f"DELETE FROM datasets WHERE digest NOT IN ({NEEDED_DATASETS})")
    with sqlite_errors_as_store_errors(store.path):
        database.connection.execute("VACUUM")
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Freed(outlived, cells, before - _bytes(database), waiting)


def _refuse_those_at_work(store: Store, numbers: Sequence[int]) -> None:
    for number in numbers:
        process = store.runs.kept(number, MADE_BY)
        finished = store.database.one("SELECT finished FROM runs WHERE id = ?", number)[0]
        if finished is None and isinstance(process, str) and is_at_work(process):
            what = f"run {number} is being made, by process {process.split()[1]}"
            raise StoreError(what, where=str(store.path), hint="wait for its end, or end it")


def _is_made_anew(cut_short: RunFacts, runs: Sequence[RunFacts]) -> bool:
    later = [run for run in runs if run.finished and run.id > cut_short.id]
    return any((run.title, run.source) == (cut_short.title, cut_short.source) for run in later)


def _bytes(database: Database) -> int:
    pages, size = database.one("PRAGMA page_count")[0], database.one("PRAGMA page_size")[0]
    return int(pages * size)


def faults_of(store: Store) -> list[str]:
    """Everything that is wrong with a store, a sentence each; none where it is sound."""
    return [*_of_the_file(store), *_of_blocks(store), *_of_runs(store)]


def _of_the_file(store: Store) -> Iterator[str]:
    try:
        for (said,) in store.database.connection.execute("PRAGMA integrity_check"):
            if said != "ok":
                yield f"the file is damaged: {said}"
        for table, row, parent, _ in store.database.connection.execute("PRAGMA foreign_key_check"):
            yield f"row {row} of {table} belongs to something in {parent} that is not there"
    except sqlite3.DatabaseError as problem:
        yield f"the file is damaged: {problem}"


def _of_blocks(store: Store) -> Iterator[str]:
    """Blocks whose answers cannot be used; their splits run again by themselves."""
    kinds = "SELECT id, json_extract(facts, '$.kind') FROM cells"
    blocks = "SELECT first, payload, checksum FROM blocks WHERE cell = ?"
    try:
        for cell, kind in store.database.all(kinds):
            for first, payload, expected in store.database.all(blocks, cell):
                if (wrong := _wrong_with(payload, expected, kind)) is not None:
                    yield f"cell {cell}, splits from {first + 1}: {wrong}; they will be run again"
    except StoreError as problem:
        yield problem.in_a_line


def _wrong_with(payload: bytes, expected: str, kind: str) -> str | None:
    try:
        if checksum(payload) != expected:
            return "the checksum is wrong"
        decoded(payload, kind_named(kind).answers)
    except (ValueError, TypeError, MlcliError) as problem:
        return str(problem)
    return None


def _of_runs(store: Store) -> Iterator[str]:
    try:
        finished = store.runs.finished()
    except StoreError as problem:
        yield f"the list of runs cannot be read: {problem.in_a_line}"
        return
    for number in finished:
        try:
            store.runs.one(number)
        except MlcliError as problem:
            yield f"run {number} cannot be shown: {problem.in_a_line}"
