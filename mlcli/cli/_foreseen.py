"""What is known of an experiment before it runs: what cannot be done, what must be known, how long it takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from mlcli.api.running import RunOptions, planned
from mlcli.cli._console import remark
from mlcli.core.errors import ExitCode, Problem, UsageError
from mlcli.core.processes import on_linux
from mlcli.core.quantities import duration
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.spec.cells import SELECTED, TUNED, Cell, Experiment
from mlcli.experiment.spec.instead import advice_on
from mlcli.tasks.table import kind_named

WORTH_ASKING = 3600.0
"""Seconds of work that nobody should begin by mistake."""


def planned_and_foreseen(experiments: Sequence[Experiment]) -> list[tuple[Experiment, list[Cell]]]:
    """All experiments with their cells; what cannot be done is refused, what must be known beforehand is said."""
    found = [(experiment, planned(experiment)) for experiment in experiments]
    for experiment, cells in found:
        if experiment.source is None:
            _refuse_idle(cells)
        for sentence in _as_they_are(experiment, cells):
            remark(sentence)
    return found


def ask_before_hours(planned: Sequence[tuple[Sequence[Cell], Path | None]], options: RunOptions) -> None:
    """Ask whoever sits there before work begins that the store knows to take hours."""
    from mlcli.experiment.store.estimates import work_left

    work = sum(work_left(cells, place) for cells, place in planned if place is not None and not options.fresh)
    hours = work / workers_for(options.jobs)
    if hours < WORTH_ASKING:
        return
    remark(f"as far as the store knows, this will take about {duration(hours)}: mlcli plan says what")
    remark("Go on? [y/N]")
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise typer.Exit(ExitCode.DONE)


def _refuse_idle(cells: Sequence[Cell]) -> None:
    """A command that asks only for what cannot be done is a mistake, not a result with exit code 0."""
    asked = [cell for cell in cells if cell.model.use not in kind_named(cell.kind).baselines]
    if asked and all(cell.skipped for cell in asked):
        raise refused(asked)


def refused(cells: Sequence[Cell]) -> UsageError:
    """That none of these cells can be run, why, and what would work."""
    reasons = [*dict.fromkeys(cell.skipped for cell in cells)]
    first = cells[0]
    hint = "mlcli models lists what each can do"
    uses = [cell.model.use for cell in cells if cell.model.saved is None and cell.model.use != TUNED]
    if isinstance(first.dataset, Dataset) and any(" does " in reason for reason in reasons):
        hint = advice_on(uses, first.dataset, kind_named(first.kind))
    return UsageError(*reasons[:-1], Problem(reasons[-1], hint=hint))


def _as_they_are(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[str]:
    """What was asked for and changes nothing: tuning of what has nothing to tune, budgets that nobody watches."""
    if not on_linux() and any(cell.memory for cell in cells):
        yield "memory is watched on Linux only: here a cell that takes more than its budget is not stopped"
    baselines = {use for cell in cells for use in kind_named(cell.kind).baselines}
    models = [cell.model for cell in cells if cell.model.saved is None and not cell.skipped]
    plain = [one.use for one in models if one.use not in baselines | {TUNED, SELECTED}]
    if experiment.tune is not None and plain:
        yield f"nothing to tune: {', '.join(dict.fromkeys(plain))}; judged with the parameters as they are"
