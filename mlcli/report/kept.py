"""What was done with stored runs: shards made and joined, runs removed and carried, a store looked through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlcli import __version__
from mlcli.core.names import listed
from mlcli.core.quantities import duration, size
from mlcli.experiment.run.split_results import each
from mlcli.experiment.store.housekeeping import Freed
from mlcli.experiment.store.transfer import Carried
from mlcli.report.document import Content, Document, Element, Field, Heading, Sentence, grid, notes
from mlcli.report.numbers import counted
from mlcli.report.scored import Scored


@dataclass(frozen=True, eq=False)
class Part:
    """A shard of an experiment that was run: ``found`` of so many cells in all, kept in a store."""

    title: str
    shard: str
    cells: int
    found: Sequence[Scored]
    place: Path


def parts_of(parts: Sequence[Part]) -> Document:
    """The cells of each shard with how they ended: scores are for when all are there."""
    return tuple(element for part in parts for element in _part(part))


def _part(part: Part) -> Iterator[Element]:
    rows: list[list[Content]] = [
        [
            one.cell.dataset.name,
            Field(one.cell.label, "strong"),
            one.cell.protocol.use,
            one.result.status,
            duration(sum(each(one.result.splits, "seconds"))),
            one.result.why,
        ]
        for one in part.found
    ]
    yield Heading(f"{part.title}, {part.shard}", level=1)
    yield grid(["dataset", "model", "protocol", "status", "seconds", "why"], rows, right=(4,), keys=2)
    yield Sentence(f"{len(part.found)} of {counted(part.cells, 'cell')}, kept in {part.place}", "strong")
    yield notes(
        "when all shards are there: mlcli runs merge STORE ... --store ALL, then mlcli runs ID --store ALL"
    )


def parts_as_json(parts: Sequence[Part]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "version": __version__,
        "shards": [
            {
                "title": part.title,
                "shard": part.shard,
                "cells_of_all": part.cells,
                "store": str(part.place),
                "cells": [
                    {
                        "dataset": one.cell.dataset.name,
                        "model": one.cell.label,
                        "protocol": one.cell.protocol.use,
                        "status": one.result.status,
                        "why": one.result.why,
                        "seconds": sum(each(one.result.splits, "seconds")),
                    }
                    for one in part.found
                ],
            }
            for part in parts
        ],
    }


def removed_of(numbers: Sequence[int], place: Path) -> Document:
    """Which runs are gone from the list."""
    what = f"{counted(len(numbers), 'run')} removed from {place}"
    return (
        Sentence(what, "strong"),
        notes(
            "their answers are still there, and found again where they are asked for: mlcli runs gc removes them"
        ),
    )


def freed_of(freed: Freed, place: Path) -> Document:
    """What a collection has removed."""
    runs = f", {counted(len(freed.runs), 'run')} that were cut short and made anew" if freed.runs else ""
    what = (
        f"{counted(freed.cells, 'cell')} that no run needs removed{runs}; {place} is {size(freed.bytes)} smaller"
    )
    kept = [f"run {number} was cut short, and may need any answer" for number in freed.kept_for]
    hint = "answers that no run names are kept: run it again, or remove it with mlcli runs rm" if kept else ""
    return Sentence(what, "strong"), notes(*kept, *([hint] if hint else []))


def carried_of(carried: Carried, place: Path) -> Document:
    """What has come into a store, and what is still missing."""
    new = f"{counted(len(carried.runs), 'run')} and {counted(carried.blocks, 'block')} of answers"
    known = f"; there already: {counted(carried.known, 'run')}" if carried.known else ""
    said = [f"run {number} was joined of {of} shards" for number, of in carried.joined.items()]
    for title, missing in carried.missing.items():
        which = listed([str(one) for one in missing])
        said.append(
            f"of {title} these shards are missing: {which}; merge them when they are there, or run the rest"
        )
    if carried.damaged:
        said.append(f"{counted(carried.damaged, 'damaged block')} left behind: what they held will be run again")
    named = f" as {listed([str(number) for number in carried.runs])}" if carried.runs else ""
    return Sentence(f"{new} brought to {place}{named}{known}", "strong"), notes(*said)


def faults_in(faults: Sequence[str], place: Path) -> Document:
    """What is wrong with a store, or that nothing is."""
    said = f"{counted(len(faults), 'fault')} in" if faults else "nothing is wrong with"
    return Sentence(f"{said} {place}", "bad" if faults else "strong"), notes(*faults)


def as_plain(done: Freed | Carried) -> dict[str, Any]:
    """What was done as plain values."""
    return {"version": __version__, **asdict(done)}
