"""``run --shard``: a part of the cells on this machine, in a store of its own, to be merged with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mlcli.api.running import RunOptions, answered
from mlcli.cli._console import show_as
from mlcli.cli._endings import leave_by
from mlcli.cli._foreseen import planned_and_foreseen
from mlcli.cli._groups import Gates, Views
from mlcli.cli._pages import Pages
from mlcli.cli._progress import Progress
from mlcli.cli._running import beside
from mlcli.core.errors import UsageError
from mlcli.experiment.run.shards import Shard, plan_digest, shard_from_text
from mlcli.experiment.spec.cells import Cell, Experiment
from mlcli.experiment.store.transfer import SHARD
from mlcli.report.kept import Part, parts_as_json, parts_of
from mlcli.report.outcome import Outcome
from mlcli.report.scored import Scored


def run_shard(
    experiments: Sequence[Experiment], text: str, store: Path | None, options: RunOptions, format: str
) -> None:
    """Run a part of the cells of each experiment, and say how it is put together with the others."""
    shard = shard_from_text(text)
    parts: list[Part] = []
    for experiment, cells in planned_and_foreseen(experiments):
        place = store or _beside(experiment, shard)
        found = _scored(experiment, cells, shard, place, options)
        parts.append(Part(experiment.title, str(shard), len(cells), found, place))
    show_as(format, lambda: parts_of(parts), lambda: parts_as_json(parts))
    leave_by([Outcome(part.title, part.found, (), ()) for part in parts])


def refuse_views(views: Views, gates: Gates, pages: Pages) -> None:
    """Refuse options for what can only be seen when all cells are there; --verbose may stand in any command."""
    asked = {**vars(views), **vars(gates), **vars(pages), "verbose": False, "picture_format": ""}
    for name in (name for name, given in asked.items() if given):
        hint = "merge the stores first: mlcli runs merge, then mlcli run without --shard"
        raise UsageError(f"--{name.replace('_', '-')} is for when all shards are there", hint=hint)


def _beside(experiment: Experiment, shard: Shard) -> Path:
    """A store that no other shard writes: on a disk that machines share, SQLite cannot keep two writers apart."""
    place = beside(experiment)
    return place.with_name(f"{place.stem}.{shard.part}-of-{shard.of}{place.suffix}")


def _scored(
    experiment: Experiment, cells: Sequence[Cell], shard: Shard, place: Path, options: RunOptions
) -> list[Scored]:
    title, places = experiment.title, shard.places(cells)
    named = replace(experiment, name=f"{title}, {shard}")
    about = {"part": shard.part, "of": shard.of, "places": places, "plan": plan_digest(cells), "title": title}
    with Progress() as progress:
        return answered(named, [cells[one] for one in places], place, options, progress, {SHARD: about})
