"""Stored runs: their list, shards made and joined, runs removed and carried, a store looked through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlcli import __version__
from mlcli.core.names import counted, listed
from mlcli.core.quantities import duration, size
from mlcli.experiment.run.split_results import each
from mlcli.experiment.store.housekeeping import Freed
from mlcli.experiment.store.runs import RunFacts
from mlcli.experiment.store.transfer import Carried
from mlcli.report.document import Content, Document, Element, GridCell, Heading, Sentence, grid, notes, strong
from mlcli.report.scoring.scored import Scored

CELL = ("dataset", "model", "protocol", "status", "why", "seconds")
STILL_THERE = "their answers are still there, and found again where they are asked for: mlcli runs gc removes them"
MOST_LISTED = 1000
KEPT = "answers that no run names are kept: run it again, or remove it with mlcli runs rm"


@dataclass(frozen=True, eq=False)
class ShardCells:
    """A shard of an experiment that was run: ``scored`` are some of so many cells in all, kept in a store."""

    title: str
    shard: str
    cells: int
    scored: Sequence[Scored]
    place: Path


def shards_of(shards: Sequence[ShardCells]) -> Document:
    """The cells of each shard with how they ended: scores are for when all are there."""
    return tuple(element for one in shards for element in _shard_elements(one))


def _shard_elements(one: ShardCells) -> Iterator[Element]:
    rows: list[list[Content]] = [
        [dataset, strong(model), protocol, status, duration(seconds), why]
        for dataset, model, protocol, status, why, seconds in map(_cell_facts, one.scored)
    ]
    yield Heading(f"{one.title}, {one.shard}", level=1)
    yield grid(["dataset", "model", "protocol", "status", "seconds", "why"], rows, right=(4,), keys=2)
    yield Sentence(f"{len(one.scored)} of {counted(one.cells, 'cell')}, kept in {one.place}", "strong")
    yield notes(
        "when all shards are there: mlcli runs merge STORE ... --store ALL, then mlcli runs ID --store ALL"
    )


def _cell_facts(one: Scored) -> tuple[str, str, str, str, str, float]:
    cell, result = one.cell, one.result
    seconds = sum(each(result.splits, "seconds"))
    return cell.dataset.name, cell.label, cell.protocol.use, result.status, result.why, seconds


def shards_as_json(shards: Sequence[ShardCells]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "version": __version__,
        "shards": [
            {
                "title": one.title,
                "shard": one.shard,
                "cells_of_all": one.cells,
                "store": str(one.place),
                "cells": [dict(zip(CELL, _cell_facts(cell), strict=True)) for cell in one.scored],
            }
            for one in shards
        ],
    }


def runs_of(runs: Sequence[RunFacts], count: int) -> Document:
    """The newest of so many runs with what each was; newest last."""
    if not runs:
        return (Sentence("No run yet."),)
    table = grid(["id", "started", "run", "cells", "seed", "from"], map(_run_cells, runs), right=(0, 3, 4))
    earlier = [f"{count - len(runs):,} earlier runs: --json lists all"] if count > len(runs) else []
    return table, notes("mlcli runs ID shows one again", *earlier)


def runs_as_json(runs: Sequence[RunFacts]) -> dict[str, Any]:
    """The list as plain values."""
    return {"runs": [asdict(run) for run in runs]}


def _run_cells(run: RunFacts) -> list[Content]:
    started = run.started.replace("T", " ").removesuffix("+00:00")
    title = strong(run.title) if run.finished else GridCell(f"{run.title} (not finished)", "bad")
    return [str(run.id), started, title, str(run.cells), str(run.seed), _path_from_here(run.source or "")]


def _path_from_here(path: str) -> str:
    """An absolute path as it is typed in the working folder, if it leads below it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if path and Path(path).is_relative_to(here) else path


def removed_of(numbers: Sequence[int], place: Path) -> Document:
    """Which runs are gone from the list."""
    return Sentence(f"{counted(len(numbers), 'run')} removed from {place}", "strong"), notes(STILL_THERE)


def freed_of(freed: Freed, place: Path) -> Document:
    """What a collection has removed."""
    runs = f", {counted(len(freed.runs), 'run')} cut short and made anew" if freed.runs else ""
    cells = counted(freed.cells, "cell")
    what = f"{cells} that no run needs removed{runs}; {place} is {size(freed.bytes)} smaller"
    kept = [f"run {number} was cut short, and may need any answer" for number in freed.kept_for]
    return Sentence(what, "strong"), notes(*kept, *[KEPT] * bool(kept))


def carried_of(carried: Carried, place: Path) -> Document:
    """What has come into a store, and what is still missing."""
    new = f"{counted(len(carried.runs), 'run')} and {counted(carried.blocks, 'block')} of answers"
    known = f"; there already: {counted(carried.known, 'run')}" if carried.known else ""
    said = [f"run {number} was joined of {of} shards" for number, of in carried.joined.items()]
    for title, missing in carried.missing.items():
        which = listed(list(map(str, missing)))
        said.append(
            f"of {title} these shards are missing: {which}; merge them when they are there, or run the rest"
        )
    if carried.damaged:
        said.append(f"{counted(carried.damaged, 'damaged block')} left behind: what they held will be run again")
    named = f" as {listed(list(map(str, carried.runs)))}" if carried.runs else ""
    return Sentence(f"{new} brought to {place}{named}{known}", "strong"), notes(*said)


def faults_in(faults: Sequence[str], place: Path) -> Document:
    """What is wrong with a store, or that nothing is."""
    said = f"{counted(len(faults), 'fault')} in" if faults else "nothing is wrong with"
    return Sentence(f"{said} {place}", "bad" if faults else "strong"), notes(*faults)


def housekeeping_as_json(done: Freed | Carried) -> dict[str, Any]:
    """What was done as plain values."""
    return {"version": __version__, **asdict(done)}
