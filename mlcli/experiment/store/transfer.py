"""Runs and answers carried from store to store: exported to a file, imported, and the shards of a run joined."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from mlcli.core.errors import UsageError
from mlcli.core.files import replacing
from mlcli.core.seeds import digest
from mlcli.experiment.store.codec import checksum
from mlcli.experiment.store.database import Database, damage_as_store_error
from mlcli.experiment.store.housekeeping import NEEDED_BY_NO_RUN
from mlcli.experiment.store.store import Store

SHARD = "shard"
"""Under which name a run keeps which part of which plan it is."""
BY_CELL, OTHERS = "scores", "versions"
"""What a run keeps of each cell in their order; what may differ between the parts of one run."""
OF_RUN = ("started", "finished", "title", "source", "seed", "metrics", "cells")
OF_RUN_CELL = ("dataset", "facts", "status", "why", "trace", "answered", "pooled", "stored", "notes")
OF_CELL = ("key", "created", "splits", "facts", "memory")
OF_BLOCK = ("first", "count", "seconds", "payload", "checksum")
OF_ENDING = ("status", "why", "trace", "split", "budget", "memory", "ended")


@dataclass(frozen=True)
class Record:
    """A run as its rows: ``cells`` are the rows of its cells with the id of the cell that each of them names."""

    row: Mapping[str, Any]
    cells: tuple[tuple[int | None, Mapping[str, Any]], ...]
    keys: tuple[str, ...]
    details: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """What is the same of a run wherever it is carried."""
        told = {name: value for name, value in self.row.items() if name != "finished"}
        return digest(told, self.keys, self.details.get("process"))

    @classmethod
    def read(cls, database: Database, number: int) -> Self:
        """A run of a store."""
        (row,) = _rows(database, "runs", OF_RUN, "id = ?", number)
        cells = _rows(database, "run_cells", (*OF_RUN_CELL, "cell"), "run = ? ORDER BY position", number)
        keys = database.all(
            "SELECT key FROM run_cells LEFT JOIN cells ON cells.id = cell WHERE run = ? ORDER BY position", number
        )
        details = database.all("SELECT name, value FROM run_details WHERE run = ?", number)
        with damage_as_store_error(database.path):
            kept = {name: json.loads(value) for name, value in details}
        named = tuple((cell.pop("cell"), cell) for cell in cells)
        return cls(row, named, tuple(key or "" for (key,) in keys), kept)


@dataclass
class Carried:
    """What has been carried: runs that are new here with their numbers, blocks, and what was left behind."""

    runs: list[int] = field(default_factory=list)
    known: int = 0
    """How many runs were here already."""
    blocks: int = 0
    damaged: int = 0
    joined: dict[int, int] = field(default_factory=dict)
    """By the number of a run: of how many shards it was joined."""
    missing: dict[str, list[int]] = field(default_factory=dict)
    """By the title of a run: the shards that are not there."""


def export(source: Store, path: Path, numbers: Sequence[int]) -> Carried:
    """Write some runs (none: all that are finished) with their answers to a store of their own."""
    if path.exists():
        raise UsageError(f"{path} is there already", hint="remove it, or name another file")
    with replacing(path) as beside, Store.open(beside) as target:
        carried = carry(source, target, numbers)
        target.database.connection.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    return carried


def carry(source: Store, target: Store, numbers: Sequence[int] = (), into: Carried | None = None) -> Carried:
    """Bring some finished runs (none: all) of another store here; one that is here already stays as it is."""
    with damage_as_store_error(source.path):
        return _carried_runs(source, target, numbers, into or Carried())


def _carried_runs(source: Store, target: Store, numbers: Sequence[int], carried: Carried) -> Carried:
    finished = () if numbers else source.runs.finished()
    for number in numbers:
        source.runs.one(number)  # says what is wrong with it
    here = _identities(target)
    for number in numbers or finished:
        record = Record.read(source.database, number)
        if record.identity in here:
            carried.known += 1
            continue
        cells = {
            index: _carried_cell(source, target, index, carried) for index, _ in record.cells if index is not None
        }
        moved = tuple((None if cell is None else cells[cell], row) for cell, row in record.cells)
        for dataset in {row["dataset"] for _, row in record.cells}:
            (facts,) = source.database.one("SELECT facts FROM datasets WHERE digest = ?", dataset)
            with target.database.transaction():
                target.database.write("INSERT OR IGNORE INTO datasets VALUES (?, ?)", dataset, facts)
        carried.runs.append(_write(target.database, replace(record, cells=moved)))
    return carried


def merge(sources: Iterable[Path], target: Store) -> Carried:
    """Bring all answers and runs of some stores here, also those of runs that were cut short; then join shards."""
    carried = Carried()
    for path in sources:
        with Store.read(path) as source:
            carry(source, target, into=carried)
            for (cell,) in source.database.all(f"SELECT id FROM cells WHERE {NEEDED_BY_NO_RUN}"):
                _carried_cell(source, target, cell, carried)
    _join_shards(target, carried)
    return carried


def _carried_cell(source: Store, target: Store, cell: int, carried: Carried) -> int:
    """The id here of a cell of another store, with all of its answers that are sound."""
    (row,) = _rows(source.database, "cells", OF_CELL, "id = ?", cell)
    found = target.database.one("SELECT max(id) FROM cells WHERE key = ?", row["key"])[0]
    if found is None:
        with target.database.transaction():
            found = target.database.insert("cells", row)
    for block in _missing_blocks(source, target, cell, found):
        if checksum(block["payload"]) != block["checksum"]:
            carried.damaged += 1
            continue
        with target.database.transaction():
            target.database.insert("blocks", {"cell": found, **block})
        carried.blocks += 1
    before = target.database.one("SELECT status FROM endings WHERE cell = ?", found)
    for ending in _rows(source.database, "endings", OF_ENDING, "cell = ?", cell):
        if before is None or ending["status"] == "done":
            with target.database.transaction():
                target.database.write("DELETE FROM endings WHERE cell = ?", found)
                target.database.insert("endings", {"cell": found, **ending})
    return int(found)


def _missing_blocks(source: Store, target: Store, cell: int, value: int) -> Iterable[dict[str, Any]]:
    """The blocks of a cell that are not here, one at a time: together they may be more than memory holds."""
    here = {first for (first,) in target.database.all("SELECT first FROM blocks WHERE cell = ?", value)}
    for (first,) in source.database.all("SELECT first FROM blocks WHERE cell = ? ORDER BY first", cell):
        if first not in here:
            yield from _rows(source.database, "blocks", OF_BLOCK, "cell = ? AND first = ?", cell, first)


def _join_shards(store: Store, carried: Carried) -> None:
    """Make one run of all shards of a plan, where none is missing."""
    results = [
        (run.id, shard) for run in store.runs.all() if (shard := store.runs.kept(run.id, SHARD)) is not None
    ]

    def plan_of(one: tuple[int, Any]) -> tuple[str, int]:
        return str(one[1]["plan"]), int(one[1]["of"])

    for (_, of), group in groupby(sorted(results, key=plan_of), key=plan_of):
        newest = {shard["part"]: (number, shard) for number, shard in sorted(group, key=lambda one: one[0])}
        missing = sorted(set(range(1, of + 1)) - newest.keys())
        if missing:
            carried.missing[next(iter(newest.values()))[1]["title"]] = missing
            continue
        parts = [newest[part] for part in range(1, of + 1)]
        records = [Record.read(store.database, number) for number, _ in parts]
        joined = _joined(records, [shard for _, shard in parts])
        carried.runs = [run for run in carried.runs if run not in {old for old, _ in parts}]
        if joined.identity in _identities(store):
            carried.known += 1
        else:
            number = _write(store.database, joined)
            carried.runs.append(number)
            carried.joined[number] = of
        with store.database.transaction():
            for old, _ in parts:
                store.database.write("DELETE FROM runs WHERE id = ?", old)


def _joined(records: Sequence[Record], shards: Sequence[Mapping[str, Any]]) -> Record:
    """One run of its parts, its cells in the order of the plan."""
    order = sorted(
        (at, part, index) for part, shard in enumerate(shards) for index, at in enumerate(shard["places"])
    )
    first = records[0]
    row = {
        **first.row,
        "started": min(record.row["started"] for record in records),
        "finished": max(record.row["finished"] for record in records),
        "title": shards[0]["title"],
        "cells": len(order),
    }
    details = {name: value for name, value in first.details.items() if name != SHARD}
    details["process"] = [record.details.get("process") for record in records]
    if all(BY_CELL in record.details for record in records):
        details[BY_CELL] = [records[part].details[BY_CELL][index] for _, part, index in order]
    details[OTHERS] = _together([record.details.get(OTHERS) or {} for record in records])
    cells = tuple(records[part].cells[index] for _, part, index in order)
    keys = tuple(records[part].keys[index] for _, part, index in order)
    return Record(row, cells, keys, details)


def _identities(store: Store) -> set[str]:
    store.runs.finished()  # refuses too many
    return {Record.read(store.database, run.id).identity for run in store.runs.all()}


def _together(versions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The versions of all parts, where they differ one after another."""
    names = dict.fromkeys(name for version in versions for name in version)
    return {
        name: ", ".join(dict.fromkeys(version[name] for version in versions if name in version)) for name in names
    }


def _write(database: Database, record: Record) -> int:
    with database.transaction():
        number = database.insert("runs", record.row)
        for position, (cell, row) in enumerate(record.cells):
            database.insert("run_cells", {"run": number, "position": position, "cell": cell, **row})
        for name, value in record.details.items():
            database.insert("run_details", {"run": number, "name": name, "value": json.dumps(value)})
    return number


def _rows(
    database: Database, table: str, columns: Sequence[str], where: str, *values: Any
) -> list[dict[str, Any]]:
    iterable = database.all(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", *values)
    return [dict(zip(columns, row, strict=True)) for row in iterable]
