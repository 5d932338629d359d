"""From experiments to tables: plan all, run all, show all; what ``eval`` and ``run`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mlcli.cli._console import say, show, show_json
from mlcli.cli._progress import Progress
from mlcli.core.errors import ExitCode, Problem, UsageError
from mlcli.core.registry import MODELS
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import Cell, CellResult, Experiment
from mlcli.experiment.spec.plan import plan
from mlcli.report.as_json import results_as_json
from mlcli.report.formats import JSON
from mlcli.report.results import results_of
from mlcli.report.scored import Scored, scored
from mlcli.tasks.table import kind_named, kinds_of

if TYPE_CHECKING:
    from mlcli.experiment.store.runs import RunFacts

StorePath = Callable[[Experiment], Path | None]
"""Where the answers of an experiment are kept, if anywhere."""
BROKEN = ("failed", "over-budget", "died")


@dataclass(frozen=True)
class RunOptions:
    """How cells are run: by how many processes, and which of those in the store are run again."""

    jobs: int | None = None
    fresh: bool = False
    retry: bool = False


def run_and_show(
    experiments: Sequence[Experiment], *, place_of: StorePath, options: RunOptions, classes: bool, format: str
) -> None:
    """Run experiments, show what they found, and leave with the exit code that tells how it went."""
    planned = [(experiment, plan(experiment)) for experiment in experiments]
    for experiment, cells in planned:
        if experiment.source is None:
            _refuse_idle(cells)
    found: list[Scored] = []
    for experiment, cells in planned:
        results = _ran(experiment, cells, place_of(experiment), options)
        its = [scored(result, experiment.metrics) for result in results]
        if format != JSON:
            show(results_of(its, classes=classes), format)
        found += its
    if format == JSON:
        show_json(results_as_json(found))
    leave_by(found)


def _refuse_idle(cells: Sequence[Cell]) -> None:
    """A command that asks only for what cannot be done is a mistake, not a result with exit code 0."""
    asked = [cell for cell in cells if cell.model.use not in kind_named(cell.kind).baselines]
    if asked and all(cell.skipped for cell in asked):
        reasons = [*dict.fromkeys(cell.skipped for cell in asked)]
        raise UsageError(*reasons[:-1], Problem(reasons[-1], hint=_other_tasks(asked)))


def _other_tasks(asked: Sequence[Cell]) -> str:
    """The kinds of task that the models can do, where none of them can do the one at hand."""
    able = [kinds_of(MODELS.load(cell.model.use)) for cell in asked if cell.model.saved is None]
    others = list(dict.fromkeys(kind.name for kinds in able for kind in kinds))
    if not others or asked[0].kind in others:
        return "mlcli models lists what each can do"
    return f"what they can do is stated: {' or '.join(f'--task {name}' for name in others)}"


def leave_by(found: Sequence[Scored]) -> None:
    """Say how many cells broke down, if any did, and leave with their exit code."""
    broken = sum(one.result.status in BROKEN for one in found)
    if broken:
        say(f"{broken} of {len(found)} cells did not end well; each says why above")
        raise typer.Exit(ExitCode.CELLS)


def _ran(
    experiment: Experiment, cells: Sequence[Cell], place: Path | None, options: RunOptions
) -> list[CellResult]:
    with Progress() as progress:
        if place is None:
            return run(cells, jobs=options.jobs, on_progress=progress)
        return _ran_with_store(experiment, cells, place, options, progress)


def _ran_with_store(
    experiment: Experiment, cells: Sequence[Cell], place: Path, options: RunOptions, progress: Progress
) -> list[CellResult]:
    from mlcli.experiment.store.store import Store

    with Store.open(place) as store:
        number = store.runs.begin(_about(experiment), len(cells))
        try:
            results = run(cells, store=store, on_progress=progress, **asdict(options))
        except KeyboardInterrupt:
            say(f"\nfinished answers are kept in {place}; the same command does only the rest")
            raise
        store.runs.finish(number, results)
    possible = [result for result in results if result.status != "skipped"]
    known = sum(result.stored for result in possible)
    if known:
        say(f"{known} of {len(possible)} cells were in {place} already")
    return results


def _about(experiment: Experiment) -> RunFacts:
    from mlcli.experiment.store.runs import RunFacts

    source = experiment.source
    return RunFacts(
        title=experiment.name or (source.stem if source else "eval"),
        source=None if source is None else str(source),
        seed=experiment.seed,
        metrics=experiment.metrics,
    )
