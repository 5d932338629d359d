"""From experiments to tables: plan all, run all, show all; what ``eval`` and ``run`` have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import typer

from mlcli.api.running import RunOptions, answered
from mlcli.checks.audit import foreseen, with_serious_issues
from mlcli.cli._console import is_terminal, page_for, remark, show, show_json
from mlcli.cli._pages import Pages
from mlcli.core.errors import ExitCode, ModelFileError, Problem, UsageError
from mlcli.core.quantities import duration
from mlcli.core.registry import MODELS
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.run.ledger import BatchProgress
from mlcli.experiment.spec.cells import SELECTED, TUNED, Cell, CellResult, Experiment
from mlcli.experiment.spec.plan import plan
from mlcli.report.as_json import results_as_json
from mlcli.report.document import Document, Element
from mlcli.report.formats import JSON, TEXT
from mlcli.report.gates import gates_as_elements, gates_as_json
from mlcli.report.numbers import counted
from mlcli.report.outcome import Outcome, outcome_of
from mlcli.report.results import Parts, results_of
from mlcli.report.scored import Scored
from mlcli.tasks.table import kind_named, kinds_of

StorePath = Callable[[Experiment], Path | None]
"""Where the answers of an experiment are kept, if anywhere."""
BROKEN = ("failed", "over-budget", "died")
PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait needs no explanation."""
WORTH_ASKING = 3600.0
"""Seconds of work that nobody should begin by mistake."""
REDRAW_AFTER = 0.1
"""Seconds for which a bar stands still at least."""


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
    """All experiments with their cells, and what must be said before they run."""
    planned = [(experiment, with_serious_issues(plan(experiment))) for experiment in experiments]
    for experiment, cells in planned:
        if experiment.source is None:
            _refuse_idle(cells)
        for sentence in (*foreseen(cells), *_as_they_are(experiment, cells)):
            remark(sentence)
    return planned


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
        reasons = [*dict.fromkeys(cell.skipped for cell in asked)]
        raise UsageError(*reasons[:-1], Problem(reasons[-1], hint=_other_tasks(asked)))


def _as_they_are(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[str]:
    """Which models have nothing to tune, though all are to be tuned."""
    baselines = {use for cell in cells for use in kind_named(cell.kind).baselines}
    models = [cell.model for cell in cells if cell.model.saved is None and not cell.skipped]
    plain = [one.use for one in models if one.use not in baselines | {TUNED, SELECTED}]
    if experiment.tune is not None and plain:
        yield f"nothing to tune: {', '.join(dict.fromkeys(plain))}; judged with the parameters as they are"


def _other_tasks(asked: Sequence[Cell]) -> str:
    """The kinds of task that the models can do, where none of them can do the one at hand."""
    able = [kinds_of(MODELS.load(cell.model.use)) for cell in asked if cell.model.saved is None]
    others = list(dict.fromkeys(kind.name for kinds in able for kind in kinds))
    if not others or asked[0].kind in others:
        return "mlcli models lists what each can do"
    return f"what they can do is stated: {' or '.join(f'--task {name}' for name in others)}"


def leave_by(outcomes: Sequence[Outcome]) -> None:
    """Say what did not go as it was asked for, if anything, and leave with its exit code."""
    found = [one for outcome in outcomes for one in outcome.found]
    broken = sum(one.result.status in BROKEN for one in found)
    damaged = {str(one.result.cell.model.saved): None for one in found if _is_at_fault(one.result)}
    skipped = dict.fromkeys(one.result.cell.label for outcome in outcomes for one in outcome.skipped)
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


def _is_at_fault(result: CellResult) -> bool:
    """Whether a saved model broke while it was asked, rather than refused the rows in words."""
    broke = result.status == "died" or ModelFileError.__name__ in result.trace
    return result.cell.model.saved is not None and broke


def _scored(
    experiment: Experiment, cells: Sequence[Cell], place: Path | None, options: RunOptions
) -> list[Scored]:
    """The scores of the cells, their progress shown meanwhile."""
    with Progress() as progress:
        try:
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


class Progress:
    """How many splits are judged, on stderr: a live bar on a terminal where the work lasts, else nothing."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._bar: Any = None
        self._task: Any = None
        self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, now: BatchProgress) -> None:
        """So much is done, and this cell has just moved."""
        if not is_terminal(sys.stderr) or perf_counter() - self._started < PATIENCE:
            return
        if self._bar is None:
            self._make()
        doing = page_for(sys.stderr).shown(f"{now.dataset}: {now.label}")
        self._bar.update(self._task, completed=now.done_splits, total=now.total_splits, description=doing)
        if perf_counter() - self._drawn >= REDRAW_AFTER:
            self._bar.start()
            self._bar.refresh()
            self._drawn = perf_counter()

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        # Without a thread of its own that draws it: copies of this process can then be workers.
        console = Console(stderr=True)
        self._bar = Bar(*columns, TimeRemainingColumn(), console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task("", total=None)
