"""Stored runs: listed, merged, removed, verified and run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.core.names import counted, duration, listed, size
from mlcli.experiment.run.reproduction import (
    MOST_APART,
    MOST_OTHER_LABELS,
    SHOWN,
    is_other_hardware,
)
from mlcli.experiment.store.housekeeping import Freed
from mlcli.experiment.store.runs import RunFacts
from mlcli.experiment.store.transfer import Carried
from mlcli.report.document import Content, Document, Element, GridCell, Heading, Sentence, grid, notes, strong
from mlcli.scoring.runs import ShardRecord, VerifiedCell, agrees, differences_between, digests_of

if TYPE_CHECKING:
    from mlcli.experiment.run.reproduction import RepeatedCell

MOST_LISTED = 1000
SAME, DIFFERS = GridCell("same", "best"), GridCell("DIFFERS", "bad")


def shards_of(shards: Sequence[ShardRecord]) -> Document:
    """The cells of each shard with how they ended; scores are shown once all shards are there."""
    elements: list[Element] = []
    for shard in shards:
        rows: list[list[Content]] = [
            [cell.dataset, strong(cell.model), cell.protocol, cell.status, duration(cell.seconds), cell.why]
            for cell in shard.cells
        ]
        total = counted(shard.cells_of_all, "cell")
        elements += [
            Heading(f"{shard.title}, {shard.shard}", level=1),
            grid(["dataset", "model", "protocol", "status", "seconds", "why"], rows, right=(4,), keys=2),
            Sentence(f"{len(shard.cells)} of {total}, kept in {shard.store}", "strong"),
            notes(
                "when all shards are there: mlcli runs merge STORE ... --store ALL, then mlcli runs ID --store ALL"
            ),
        ]
    return tuple(elements)


def runs_of(runs: Sequence[RunFacts], count: int) -> Document:
    """The newest of so many runs, newest last."""
    if not runs:
        return (Sentence("No run yet."),)
    here = Path.cwd()
    rows: list[list[Content]] = []
    for run in runs:
        started = run.started.replace("T", " ").removesuffix("+00:00")
        title = strong(run.title) if run.finished else GridCell(f"{run.title} (not finished)", "bad")
        source = run.source or ""
        if source and Path(source).is_relative_to(here):
            source = str(Path(source).relative_to(here))
        rows.append([str(run.id), started, title, str(run.cells), str(run.seed), source])
    table = grid(["id", "started", "run", "cells", "seed", "from"], rows, right=(0, 3, 4))
    earlier = [f"{count - len(runs):,} earlier runs: --json lists all"] if count > len(runs) else []
    return table, notes("mlcli runs ID shows one again", *earlier)


def removed_of(numbers: Sequence[int], path: Path) -> Document:
    """Which runs are gone from the list."""
    return Sentence(f"{counted(len(numbers), 'run')} removed from {path}", "strong"), notes(
        "their predictions are still there, and are used again where they are needed: mlcli runs gc removes them"
    )


def freed_of(freed: Freed, path: Path) -> Document:
    """What a collection has removed."""
    runs = f", {counted(len(freed.runs), 'run')} cut short and made anew" if freed.runs else ""
    cells = counted(freed.cells, "cell")
    remarks = [f"run {number} was cut short, and may need any answer" for number in freed.kept_for]
    if remarks:
        remarks.append("answers that no run names are kept: run it again, or remove it with mlcli runs remove")
    removed = f"{cells} that no run needs removed{runs}; {path} is {size(freed.bytes)} smaller"
    return Sentence(removed, "strong"), notes(*remarks)


def carried_of(carried: Carried, path: Path) -> Document:
    """What has come into a store, and what is still missing."""
    new = f"{counted(len(carried.runs), 'run')} and {counted(carried.blocks, 'block')} of answers"
    numbers = f" as {listed(list(map(str, carried.runs)))}" if carried.runs else ""
    present = f"; there already: {counted(carried.known, 'run')}" if carried.known else ""
    remarks = [f"run {number} was joined of {of} shards" for number, of in carried.joined.items()]
    for title, missing in carried.missing.items():
        which = listed(list(map(str, missing)))
        remarks.append(
            f"of {title} these shards are missing: {which}; merge them when they are there, or run the rest"
        )
    if carried.damaged:
        blocks = counted(carried.damaged, "damaged block")
        remarks.append(f"{blocks} left behind: what they held will be run again")
    return Sentence(f"{new} brought to {path}{numbers}{present}", "strong"), notes(*remarks)


def verified_of(run: RunFacts, cells: Sequence[VerifiedCell]) -> Document:
    """A line for each cell, what differs, and the verdict."""
    rows: list[list[Content]] = [
        [
            cell.dataset,
            strong(cell.model),
            str(cell.scores),
            cell.digest[:SHOWN],
            DIFFERS if cell.faults else SAME,
        ]
        for cell in cells
    ]
    faults = [f"{cell.dataset}, {cell.model}: {fault}" for cell in cells for fault in cell.faults]
    scores, total = counted(sum(cell.scores for cell in cells), "score"), counted(len(cells), "cell")
    outcome = f"{counted(len(faults), 'difference')} from" if faults else "all as in"
    return (
        grid(["dataset", "model", "scores", "answers", "result"], rows, right=(2,), keys=2),
        notes(*faults),
        Sentence(f"{scores} of {total} made again from stored answers: {outcome} {_run_text(run)}.", "strong"),
    )


def _run_text(run: RunFacts) -> str:
    return f"run {run.id} ({run.title}, {run.started[:10]})"


def rerun_of(
    run: RunFacts, cells: Sequence[RepeatedCell], was: Mapping[str, str] | None, now: Mapping[str, str]
) -> Document:
    """A line for each cell that was run again, what differs, and the versions."""
    rows: list[list[Content]] = []
    for cell in cells:
        before, (then, again) = cell.before, digests_of(cell)
        if cell.after is None:
            result = GridCell("not run", "bad")
        elif cell.same or not agrees(cell, was, now):
            result = SAME if cell.same else DIFFERS
        else:
            result = GridCell("close", "best")
        names: list[Content] = [before.cell.dataset.name, strong(before.cell.label)]
        digest = again[:SHOWN] if again else "-"
        rows.append([*names, str(len(before.splits)), then[:SHOWN], digest, result])
    remarks = [text for cell in cells for text in differences_between(cell)]
    remarks.append(_versions_note(was, now))
    if is_other_hardware(was, now):
        remarks.append(
            "on another CPU, or with another BLAS kernel, the last digits may differ: numbers are called close "
            f"up to {MOST_APART:g} of their range, and one label, or {100 * MOST_OTHER_LABELS:g} % of them, may"
            " differ"
        )
    total, not_run = counted(len(cells), "cell"), sum(cell.after is None for cell in cells)
    differing = sum(not agrees(cell, was, now) for cell in cells) - not_run
    equal = sum(cell.same for cell in cells)
    if not_run:
        outcome = f"{not_run} of {total} could not be run again, and {differing} differ from"
    elif differing:
        outcome = f"{differing} of {total} differ from"
    elif equal < len(cells):
        same = counted(equal, "cell")
        outcome = f"{total} run again: {same} with the same answers to the bit, the others close to"
    else:
        outcome = f"{total} run again: the same answers to the bit as in"
    return (
        grid(["dataset", "model", "splits", "then", "now", "result"], rows, right=(2,), keys=2),
        notes(*remarks),
        Sentence(f"{outcome} {_run_text(run)}.", "strong"),
    )


def _versions_note(was: Mapping[str, str] | None, now: Mapping[str, str]) -> str:
    if was is None:
        return "which versions the run was made with was not kept"
    changed = {name: was.get(name, "?") for name, number in now.items() if was.get(name) != number}
    same = listed([f"{name} {number}" for name, number in now.items() if name not in changed])
    others = (f"{name} {then} then, {now[name]} now" for name, then in changed.items())
    return f"versions: {'; '.join((*others, f'the same of {same}'))}"
