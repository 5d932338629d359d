"""From experiments to tables: plan all, run all, show all; what ``eval`` and ``run`` have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from mlcli.api.running import RunOptions, answered, planned
from mlcli.checks.audit import foreseen
from mlcli.cli._console import is_terminal, remark, show, show_json
from mlcli.cli._pages import Pages
from mlcli.cli._progress import Progress
from mlcli.core.errors import ExitCode, ModelFileError, Problem, UsageError
from mlcli.core.quantities import duration
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.spec.cells import SELECTED, TUNED, Cell, CellResult, Experiment
from mlcli.experiment.spec.instead import advice_on, method_instead
from mlcli.report.as_json import results_as_json
from mlcli.report.document import Document, Element
from mlcli.report.formats import JSON, TEXT
from mlcli.report.gates import gates_as_elements, gates_as_json
from mlcli.report.numbers import counted
from mlcli.report.outcome import Outcome, outcome_of
from mlcli.report.results import Parts, results_of
from mlcli.report.scored import Scored
from mlcli.tasks.table import kind_named

StorePath = Callable[[Experiment], Path | None]
"""Where the answers of an experiment are kept, if anywhere."""
BROKEN = ("failed", "over-budget", "died")
WORTH_ASKING = 3600.0
"""Seconds of work that nobody should begin by mistake."""


@dataclass(frozen=True)
class ReportFiles:
    """Where JUnit XML is written, and to which file a summary in Markdown is appended."""

    junit: Path | None = None
    summary: Path | None = None

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the files that were asked for."""
        if self.junit is None and self.summary is None:
            return
        from mlcli.report.for_ci import append_summary, write_junit

        if self.junit is not None:
            write_junit(self.junit, outcomes)
        if self.summary is not None:
            append_summary(self.summary, outcomes)


def run_and_show(
    experiments: Sequence[Experiment],
    *,
    place_of: StorePath,
    options: RunOptions,
    parts: Parts,
    files: ReportFiles,
    pages: Pages,
    format: str,
) -> None:
    """Run experiments, show what they found, and leave with the exit code that tells how it went."""
    planned = planned_and_foreseen(experiments)
    if sys.stdin.isatty() and is_terminal(sys.stderr):
        _ask_before_hours([(cells, place_of(experiment)) for experiment, cells in planned], options)
    outcomes: list[Outcome] = []
    parts = replace(parts, fair=parts.fair or any(experiment.fair for experiment in experiments))
    for experiment, cells in planned:
        place = place_of(experiment)
        outcomes.append(outcome_of(experiment, _scored(experiment, cells, place, options), place))
        if format == TEXT:
            show(_document(outcomes[-1], parts))
    if format == JSON:
        show_json(_plain(outcomes, parts))
    elif format != TEXT:
        show(tuple(element for outcome in outcomes for element in _document(outcome, parts)), format)
    files.write(outcomes)
    pages.write(lambda: _report(experiments, outcomes))
    leave_by(outcomes)


def _ask_before_hours(planned: Sequence[tuple[Sequence[Cell], Path | None]], options: RunOptions) -> None:
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


def planned_and_foreseen(experiments: Sequence[Experiment]) -> list[tuple[Experiment, list[Cell]]]:
    """All experiments with their cells; what cannot be done is refused, what must be known beforehand is said."""
    found = [(experiment, planned(experiment)) for experiment in experiments]
    for experiment, cells in found:
        if experiment.source is None:
            _refuse_idle(cells)
        for sentence in _as_they_are(experiment, cells):
            remark(sentence)
    return found


def _document(outcome: Outcome, parts: Parts) -> Document:
    return (*results_of(outcome.found, parts), *gates_as_elements(outcome.gates))


def _plain(outcomes: Sequence[Outcome], parts: Parts) -> dict[str, Any]:
    gates = [gate for outcome in outcomes for gate in gates_as_json(outcome.gates)]
    found = [one for outcome in outcomes for one in outcome.found]
    return {
        **results_as_json(found, curves=parts.curves, fair=parts.fair),
        **({"gates": gates} if gates else {}),
    }


def _report(experiments: Sequence[Experiment], outcomes: Sequence[Outcome]) -> Document:
    """The whole report of all experiments."""
    from mlcli.report.whole import Made, made_by_file, report_of

    elements: list[Element] = []
    for experiment, outcome in zip(experiments, outcomes, strict=True):
        typed = f"mlcli {shlex.join(sys.argv[1:])}"
        made = made_by_file(experiment.source) if experiment.source else Made(outcome.title, typed)
        elements += [*report_of(outcome.found, made), *gates_as_elements(outcome.gates)]
    return tuple(elements)


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
    """Which models have nothing to tune, though all are to be tuned."""
    baselines = {use for cell in cells for use in kind_named(cell.kind).baselines}
    models = [cell.model for cell in cells if cell.model.saved is None and not cell.skipped]
    plain = [one.use for one in models if one.use not in baselines | {TUNED, SELECTED}]
    if experiment.tune is not None and plain:
        yield f"nothing to tune: {', '.join(dict.fromkeys(plain))}; judged with the parameters as they are"


def leave_by(outcomes: Sequence[Outcome]) -> None:
    """Say what did not go as it was asked for, if anything, and leave with its exit code."""
    found = [one for outcome in outcomes for one in outcome.found]
    broken = sum(one.result.status in BROKEN for one in found)
    damaged = {str(one.result.cell.model.saved): None for one in found if _is_at_fault(one.result)}
    skipped = dict.fromkeys(_with_another(one.result.cell) for outcome in outcomes for one in outcome.skipped)
    failed = sum(not gate.passed for outcome in outcomes for gate in outcome.gates)
    if broken:
        remark(f"{broken} of {len(found)} cells did not end well; each says why above")
    if skipped:
        remark(f"skipped, though asked for: {', '.join(skipped)}; each says why above")
    if failed:
        remark(f"{counted(failed, 'gate')} failed; the table of gates says which")
    if damaged:
        remark(f"damaged, since it breaks when it is asked: {', '.join(damaged)}; train it again")
        raise typer.Exit(ExitCode.MODEL_FILE)
    if broken or skipped:
        raise typer.Exit(ExitCode.CELLS)
    if failed:
        raise typer.Exit(ExitCode.UNMET)


def _with_another(cell: Cell) -> str:
    """The name of a model that was skipped, with the method that does the task."""
    if cell.model.saved is not None or " does " not in cell.skipped:
        return cell.label
    return f"{cell.label} ({method_instead(cell.model.use, kind_named(cell.kind))} does {cell.kind})"


def _is_at_fault(result: CellResult) -> bool:
    """Whether a saved model broke while it was asked, rather than refused the rows in words."""
    broke = result.status == "died" or ModelFileError.__name__ in result.trace
    return result.cell.model.saved is not None and broke


def _scored(
    experiment: Experiment, cells: Sequence[Cell], place: Path | None, options: RunOptions
) -> list[Scored]:
    """The scores of the cells, their progress shown meanwhile."""
    try:
        with Progress(cells, foreseen(cells)) as progress:
            found = answered(experiment, cells, place, options, progress)
    except KeyboardInterrupt:
        if place is not None:
            remark(f"\nfinished answers are kept in {place}; the same command does only the rest")
        raise
    possible = [one.result for one in found if one.result.status != "skipped"]
    known = sum(result.stored for result in possible)
    if known:
        remark(f"{known} of {len(possible)} cells were in {place} already")
    return found


def beside(experiment: Experiment) -> Path:
    """Where its answers are kept if nobody says otherwise."""
    from mlcli.experiment.store.store import DEFAULT_PLACE

    assert experiment.source is not None
    return experiment.source.parent / DEFAULT_PLACE
