"""Stored runs: listed, merged, removed, verified and run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.core.names import counted, listed
from mlcli.core.quantities import duration, size
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

STILL_THERE = "their answers are still there, and found again where they are asked for: mlcli runs gc removes them"
MOST_LISTED = 1000
KEPT = "answers that no run names are kept: run it again, or remove it with mlcli runs remove"


def shards_of(shards: Sequence[ShardRecord]) -> Document:
    """The cells of each shard with how they ended: scores are for when all are there."""
    return tuple(element for shard in shards for element in _shard_elements(shard))


def _shard_elements(shard_record: ShardRecord) -> Iterator[Element]:
    rows: list[list[Content]] = [
        [cell.dataset, strong(cell.model), cell.protocol, cell.status, duration(cell.seconds), cell.why]
        for cell in shard_record.cells
    ]
    yield Heading(f"{shard_record.title}, {shard_record.shard}", level=1)
    yield grid(["dataset", "model", "protocol", "status", "seconds", "why"], rows, right=(4,), keys=2)
    yield Sentence(
        f"{len(shard_record.cells)} of {counted(shard_record.cells_of_all, 'cell')}, kept in {shard_record.store}",
        "strong",
    )
    yield notes(
        "when all shards are there: mlcli runs merge STORE ... --store ALL, then mlcli runs ID --store ALL"
    )


def runs_of(runs: Sequence[RunFacts], count: int) -> Document:
    """The newest of so many runs with what each was; newest last."""
    if not runs:
        return (Sentence("No run yet."),)
    table = grid(["id", "started", "run", "cells", "seed", "from"], map(_run_cells, runs), right=(0, 3, 4))
    earlier = [f"{count - len(runs):,} earlier runs: --json lists all"] if count > len(runs) else []
    return table, notes("mlcli runs ID shows one again", *earlier)


def _run_cells(run: RunFacts) -> list[Content]:
    started = run.started.replace("T", " ").removesuffix("+00:00")
    title = strong(run.title) if run.finished else GridCell(f"{run.title} (not finished)", "bad")
    return [str(run.id), started, title, str(run.cells), str(run.seed), _path_from_here(run.source or "")]


def _path_from_here(path: str) -> str:
    """An absolute path as it is typed in the working folder, if it leads below it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if path and Path(path).is_relative_to(here) else path


def removed_of(numbers: Sequence[int], path: Path) -> Document:
    """Which runs are gone from the list."""
    return Sentence(f"{counted(len(numbers), 'run')} removed from {path}", "strong"), notes(STILL_THERE)


def freed_of(freed: Freed, path: Path) -> Document:
    """What a collection has removed."""
    runs = f", {counted(len(freed.runs), 'run')} cut short and made anew" if freed.runs else ""
    cells = counted(freed.cells, "cell")
    what = f"{cells} that no run needs removed{runs}; {path} is {size(freed.bytes)} smaller"
    kept = [f"run {number} was cut short, and may need any answer" for number in freed.kept_for]
    return Sentence(what, "strong"), notes(*kept, *[KEPT] * bool(kept))


def carried_of(carried: Carried, path: Path) -> Document:
    """What has come into a store, and what is still missing."""
    new = f"{counted(len(carried.runs), 'run')} and {counted(carried.blocks, 'block')} of answers"
    known = f"; there already: {counted(carried.known, 'run')}" if carried.known else ""
    message = [f"run {number} was joined of {of} shards" for number, of in carried.joined.items()]
    for title, missing in carried.missing.items():
        which = listed(list(map(str, missing)))
        message.append(
            f"of {title} these shards are missing: {which}; merge them when they are there, or run the rest"
        )
    if carried.damaged:
        message.append(
            f"{counted(carried.damaged, 'damaged block')} left behind: what they held will be run again"
        )
    named = f" as {listed(list(map(str, carried.runs)))}" if carried.runs else ""
    return Sentence(f"{new} brought to {path}{named}{known}", "strong"), notes(*message)


NOT_RUN = GridCell("not run", "bad")
RESULTS = {True: GridCell("same", "best"), False: GridCell("DIFFERS", "bad")}
CLOSE = GridCell("close", "best")
TOLERANCE = (
    f"on another CPU, or with another kernel of BLAS, the last digits may differ: numbers count as close up to "
    f"{MOST_APART:g} of their range, and one label, or {100 * MOST_OTHER_LABELS:g} % of them, may be another"
)


def verified_of(run: RunFacts, cells: Sequence[VerifiedCell]) -> Document:
    """A line for each cell, what differs, and the verdict."""
    rows: list[list[Content]] = [
        [cell.dataset, strong(cell.model), str(cell.scores), cell.digest[:SHOWN], RESULTS[not cell.faults]]
        for cell in cells
    ]
    faults = [f"{cell.dataset}, {cell.model}: {fault}" for cell in cells for fault in cell.faults]
    scores, every = counted(sum(cell.scores for cell in cells), "score"), counted(len(cells), "cell")
    message = f"{counted(len(faults), 'difference')} from" if faults else "all as in"
    return (
        grid(["dataset", "model", "scores", "answers", "result"], rows, right=(2,), keys=2),
        notes(*faults),
        Sentence(f"{scores} of {every} made again from stored answers: {message} {_run_text(run)}.", "strong"),
    )


def _run_text(run: RunFacts) -> str:
    return f"run {run.id} ({run.title}, {run.started[:10]})"


def rerun_of(
    run: RunFacts, cells: Sequence[RepeatedCell], was: Mapping[str, str] | None, now: Mapping[str, str]
) -> Document:
    """A line for each cell that was run again, what differs, and the versions."""
    rows: list[list[Content]] = []
    for cell in cells:
        before, then, again = cell.before, *digests_of(cell)
        shown = again[:SHOWN] if again else "-"
        splits = str(len(before.splits))
        result = CLOSE if agrees(cell, was, now) and not cell.same else RESULTS[cell.same]
        result = NOT_RUN if cell.after is None else result
        rows.append([before.cell.dataset.name, strong(before.cell.label), splits, then[:SHOWN], shown, result])
    not_run, every = sum(cell.after is None for cell in cells), counted(len(cells), "cell")
    differing = sum(not agrees(cell, was, now) for cell in cells) - not_run
    equal = sum(cell.same for cell in cells)
    same = "the same answers to the bit as in"
    if equal < len(cells):
        same = f"{counted(equal, 'cell')} with the same answers to the bit, the others close to"
    message = f"{differing} of {every} differ from" if differing else f"{every} run again: {same}"
    if not_run:
        message = f"{not_run} of {every} could not be run again, and {differing} differ from"
    remarks = [*(text for cell in cells for text in differences_between(cell)), _versions_note(was, now)]
    remarks += [TOLERANCE] if is_other_hardware(was, now) else []
    return (
        grid(["dataset", "model", "splits", "then", "now", "result"], rows, right=(2,), keys=2),
        notes(*remarks),
        Sentence(f"{message} {_run_text(run)}.", "strong"),
    )


def _versions_note(was: Mapping[str, str] | None, now: Mapping[str, str]) -> str:
    if was is None:
        return "which versions the run was made with was not kept"
    changed = {name: was.get(name, "?") for name, number in now.items() if was.get(name) != number}
    same = listed([f"{name} {number}" for name, number in now.items() if name not in changed])
    others = (f"{name} {then} then, {now[name]} now" for name, then in changed.items())
    return f"versions: {'; '.join((*others, f'the same of {same}'))}"
