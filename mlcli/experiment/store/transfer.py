"""Move runs and answers between stores: export, import, and the shards of a run, made on several machines."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from mlcli.core.errors import UsageError
from mlcli.core.processes import replacing
from mlcli.core.serialise import digest
from mlcli.experiment.results import checksum
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.store.database import Database, damage_as_store_error
from mlcli.experiment.store.housekeeping import NEEDED_BY_NO_RUN
from mlcli.experiment.store.runs import facts_of_cell
from mlcli.experiment.store.store import Store

Row = Mapping[str, Any]
"""The values of a row of a table by column."""

SHARD = "shard"
"""The name of the detail of a run that says which part of which plan it is."""
RUN_COLUMNS = ("started", "finished", "title", "source", "seed", "metrics", "cells")
RUN_CELL_COLUMNS = ("dataset", "facts", "status", "why", "trace", "answered", "pooled", "stored", "notes")
CELL_COLUMNS = ("key", "created", "splits", "facts", "memory")
BLOCK_COLUMNS = ("first", "count", "seconds", "payload", "checksum")
ENDING_COLUMNS = ("status", "why", "trace", "split", "budget", "memory", "code", "ended")


@dataclass(frozen=True)
class Shard:
    """A part of the cells of an experiment, such as part 2 of 8."""

    part: int
    of: int

    def __str__(self) -> str:
        return f"shard {self.part} of {self.of}"

    def places(self, cells: Sequence[Cell]) -> list[int]:
        """The indices of the cells of a plan that belong to it.

        Cells are dealt in the order of a hash, since all cells of a slow model may be neighbours in the plan. The
        order depends on the cells alone, so all machines deal alike.
        """
        runnable = [index for index, cell in enumerate(cells) if not cell.skipped]
        skipped = [index for index, cell in enumerate(cells) if cell.skipped]
        shuffled = sorted(runnable, key=lambda index: digest(facts_of_cell(cells[index])))
        return sorted([*shuffled[self.part - 1 :: self.of], *(skipped if self.part == 1 else ())])


def shard_from_text(text: str) -> Shard:
    """A shard as it is typed."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text.strip())
    if match is None or int(match[1]) > int(match[2]):
        what = f"--shard takes PART/PARTS, was given '{text}'"
        raise UsageError(what, hint="such as --shard 2/8, the second of 8")
    return Shard(int(match[1]), int(match[2]))


def plan_digest(cells: Sequence[Cell]) -> str:
    """A hash that tells the plan of one experiment from that of another."""
    return digest([facts_of_cell(cell) for cell in cells])


@dataclass(frozen=True)
class Record:
    """A run as its rows: ``cells`` are the rows of its cells with the id of the cell that each names."""

    row: Row
    cells: tuple[tuple[int | None, Row], ...]
    keys: tuple[str, ...]
    details: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """A hash that is the same in every store."""
        row = {name: value for name, value in self.row.items() if name != "finished"}
        return digest(row, self.keys, self.details.get("process"))

    @classmethod
    def read(cls, database: Database, number: int) -> Self:
        """A run of a store."""
        (row,) = _rows(database, "runs", RUN_COLUMNS, "id = ?", number)
        cells = _rows(database, "run_cells", (*RUN_CELL_COLUMNS, "cell"), "run = ? ORDER BY position", number)
        query = "SELECT key FROM run_cells LEFT JOIN cells ON cells.id = cell WHERE run = ? ORDER BY position"
        keys = tuple(key or "" for (key,) in database.all(query, number))
        details = database.all("SELECT name, value FROM run_details WHERE run = ?", number)
        with damage_as_store_error(database.path):
            plain_details = {name: json.loads(value) for name, value in details}
        return cls(row, tuple((cell.pop("cell"), cell) for cell in cells), keys, plain_details)

    def write(self, database: Database) -> int:
        """Add the run to a store; its number there."""
        with database.transaction():
            number = database.insert("runs", self.row)
            for position, (cell, row) in enumerate(self.cells):
                database.insert("run_cells", {"run": number, "position": position, "cell": cell, **row})
            for name, value in self.details.items():
                database.insert("run_details", {"run": number, "name": name, "value": json.dumps(value)})
        return number


@dataclass
class Carried:
    """What was carried: the numbers of new runs, blocks, and what was left behind."""

    runs: list[int] = field(default_factory=list)
    known: int = 0
    """How many runs were in the store already."""
    blocks: int = 0
    damaged: int = 0
    joined: dict[int, int] = field(default_factory=dict)
    """By the number of a run, the number of shards that it was joined of."""
    missing: dict[str, list[int]] = field(default_factory=dict)
    """By the title of a run, its missing shards."""


def export(source: Store, path: Path, numbers: Sequence[int]) -> Carried:
    """Write runs (none named: all finished ones) with their answers to a new store."""
    if path.exists():
        raise UsageError(f"{path} is there already", hint="remove it, or name another file")
    with replacing(path) as beside, Store.open(beside) as target:
        carried = carry(source, target, numbers)
        target.database.connection.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    return carried


def carry(source: Store, target: Store, numbers: Sequence[int] = (), into: Carried | None = None) -> Carried:
    """Copy finished runs (none named: all) from one store to another; a run that is there already is kept."""
    carried = into or Carried()
    with damage_as_store_error(source.path):
        for number in numbers:
            source.runs.one(number)  # raises if it is damaged or unfinished
        identities = _identities(target)
        for number in numbers or source.runs.finished():
            record = Record.read(source.database, number)
            if record.identity in identities:
                carried.known += 1
                continue
            ids = {id: _carry_cell(source, target, id, carried) for id, _ in record.cells if id is not None}
            for dataset in {row["dataset"] for _, row in record.cells}:
                (facts,) = source.database.one("SELECT facts FROM datasets WHERE digest = ?", dataset)
                with target.database.transaction():
                    target.database.write("INSERT OR IGNORE INTO datasets VALUES (?, ?)", dataset, facts)
            cells = tuple((None if id is None else ids[id], row) for id, row in record.cells)
            carried.runs.append(replace(record, cells=cells).write(target.database))
    return carried


def merge(sources: Iterable[Path], target: Store) -> Carried:
    """Copy all runs and answers of stores, including answers of unfinished runs; then join shards."""
    carried = Carried()
    for path in sources:
        with Store.read(path) as source:
            carry(source, target, into=carried)
            for (cell,) in source.database.all(f"SELECT id FROM cells WHERE {NEEDED_BY_NO_RUN}"):
                _carry_cell(source, target, cell, carried)
    _join_shards(target, carried)
    return carried


def _carry_cell(source: Store, target: Store, cell: int, carried: Carried) -> int:
    """Copy a cell with its undamaged answers; its id in the target."""
    (row,) = _rows(source.database, "cells", CELL_COLUMNS, "id = ?", cell)
    id = target.find(row["key"])
    if id is None:
        with target.database.transaction():
            id = target.database.insert("cells", row)
    present = {first for (first,) in target.database.all("SELECT first FROM blocks WHERE cell = ?", id)}
    for (first,) in source.database.all("SELECT first FROM blocks WHERE cell = ? ORDER BY first", cell):
        if first in present:
            continue
        # one block at a time: together they may be larger than memory
        (block,) = _rows(source.database, "blocks", BLOCK_COLUMNS, "cell = ? AND first = ?", cell, first)
        if checksum(block["payload"]) != block["checksum"]:
            carried.damaged += 1
            continue
        with target.database.transaction():
            target.database.insert("blocks", {"cell": id, **block})
        carried.blocks += 1
    before = target.database.one("SELECT status FROM endings WHERE cell = ?", id)
    for ending in _rows(source.database, "endings", ENDING_COLUMNS, "cell = ?", cell):
        if before is None or ending["status"] == "done":
            with target.database.transaction():
                target.database.write("DELETE FROM endings WHERE cell = ?", id)
                target.database.insert("endings", {"cell": id, **ending})
    return id


def _join_shards(store: Store, carried: Carried) -> None:
    """Join the shards of each plan to one run, if none is missing."""
    shards: dict[tuple[str, int], dict[int, tuple[int, Row]]] = defaultdict(dict)
    for run in store.runs.all():
        if (shard := store.runs.kept(run.id, SHARD)) is not None:
            plan = str(shard["plan"]), int(shard["of"])
            shards[plan][shard["part"]] = run.id, shard  # the newest run of each part
    for (_, of), by_part in sorted(shards.items()):
        missing = sorted(set(range(1, of + 1)) - by_part.keys())
        if missing:
            _, shard = by_part[next(iter(by_part))]
            carried.missing[shard["title"]] = missing
            continue
        parts = [by_part[part] for part in range(1, of + 1)]
        records = [Record.read(store.database, number) for number, _ in parts]
        joined = _joined(records, [shard for _, shard in parts])
        numbers = {number for number, _ in parts}
        carried.runs = [run for run in carried.runs if run not in numbers]
        if joined.identity in _identities(store):
            carried.known += 1
        else:
            number = joined.write(store.database)
            carried.runs.append(number)
            carried.joined[number] = of
        with store.database.transaction():
            for number in numbers:
                store.database.write("DELETE FROM runs WHERE id = ?", number)


def _joined(records: Sequence[Record], shards: Sequence[Row]) -> Record:
    """One run of its parts, with its cells in the order of the plan."""
    order = sorted(
        (position, part, index)
        for part, shard in enumerate(shards)
        for index, position in enumerate(shard["places"])
    )
    row = {
        **records[0].row,
        "started": min(record.row["started"] for record in records),
        "finished": max(record.row["finished"] for record in records),
        "title": shards[0]["title"],
        "cells": len(order),
    }
    details = {name: value for name, value in records[0].details.items() if name != SHARD}
    details["process"] = [record.details.get("process") for record in records]
    if all("scores" in record.details for record in records):  # of each cell, in their order
        details["scores"] = [records[part].details["scores"][index] for _, part, index in order]
    versions = [record.details.get("versions") or {} for record in records]
    details["versions"] = {
        name: ", ".join(dict.fromkeys(version[name] for version in versions if name in version))
        for name in dict.fromkeys(name for version in versions for name in version)
    }
    cells = tuple(records[part].cells[index] for _, part, index in order)
    keys = tuple(records[part].keys[index] for _, part, index in order)
    return Record(row, cells, keys, details)


def _identities(store: Store) -> set[str]:
    store.runs.finished()  # refuses a store with too many runs
    return {Record.read(store.database, run.id).identity for run in store.runs.all()}


def _rows(
    database: Database, table: str, columns: Sequence[str], where: str, *values: object
) -> list[dict[str, Any]]:
    rows = database.all(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", *values)
    return [dict(zip(columns, row, strict=True)) for row in rows]
