"""Running experiments in a shell: remarks beforehand, progress, results as they come, and the exit code.

Progress is a bar on a terminal, else a few lines. Work that takes longer than estimated may be stopped.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import current_thread, main_thread
from time import perf_counter
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from mlcli import __version__
from mlcli.api import View
from mlcli.api.results import Results
from mlcli.api.running import (
    RunOptions,
    planned,
    run_plan,
    shard_of,
    store_for,
    without_effect,
)
from mlcli.cli._console import is_terminal, page_for, remark, show, show_result
from mlcli.cli._outputs import PageOptions
from mlcli.core.errors import ExitCode, UsageError
from mlcli.core.names import counted, duration, listed
from mlcli.core.progress import advancing, compiling
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.plan import Plan
from mlcli.experiment.spec.suitability import (
    doubt_of,
    is_too_long,
    memory_remarks,
    method_instead,
    refuse_longer,
)
from mlcli.report.formats import TEXT
from mlcli.report.views.results import Details
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlcli.cli._options import CiOptions
    from mlcli.experiment.spec.cells import Cell, CellResult, Experiment
    from mlcli.report.views.full_report import Provenance
    from mlcli.scoring.gates import ExperimentOutcome
    from mlcli.scoring.model_results import ModelResult

PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait needs no explanation."""
REDRAW_AFTER = 0.1
"""Seconds for which a bar stands still at least."""
TICK = 0.5
"""Seconds after which a bar moves by itself, while one computation lasts."""
SHOWN_MODELS = 3
BETWEEN_LINES = 10.0
"""Seconds between two lines at least, where there is no terminal."""


class WorkTooLong(KeyboardInterrupt):
    """Work that is not to go on: like Ctrl-C, no method is at fault for it."""


class Progress:
    """How far the work on some cells is, on stderr: a live bar on a terminal where it lasts, else a few lines.

    A line names the model that is running. There is one when a model is done, at most one in ten seconds; while
    one model runs, the same line comes again each time that the wait has doubled.

    Above it stands what cannot be done well, for who waits; when the bar is gone, the table of results says it.
    It is drawn when a split is done, and by a timer of the system in between: without a thread of its own, so that
    copies of this process can be workers.
    """

    def __init__(self, cells: Sequence[Cell] = (), foreseen: Sequence[str] = ()) -> None:
        self._doubt = doubt_of(cells)
        self._foreseen = foreseen
        self._memory = memory_remarks(cells)
        self._unfinished = {(cell.dataset.name, cell.label): None for cell in cells if not cell.skipped}
        self._models = len(self._unfinished)
        self._line_models, self._line_seconds = 0, 0.0
        self._started = perf_counter()
        self._compiled_before = compiling.seconds
        self._shown = is_terminal(sys.stderr)
        self._bar: Any = None
        self._task: Any = None
        self._drawn = 0.0
        self._handler: Any = None
        self._doing = _described(cells[0].dataset.name, cells[0].label) if cells else "at work"

    def __enter__(self) -> Self:
        for sentence in self._memory:
            remark(sentence)
        if hasattr(signal, "setitimer") and current_thread() is main_thread():
            self._handler = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._handler)
        if self._bar is not None:
            self._bar.stop()
        if isinstance(problem, WorkTooLong):
            refuse_longer(self._doubt, self._elapsed, "more than")

    def __call__(self, now: BatchProgress) -> None:
        """So much is done, and this cell has just moved."""
        refuse_longer(self._doubt, self._elapsed + now.seconds_left())
        self._doing = _described(now.dataset, now.label)
        if now.status:
            self._unfinished.pop((now.dataset, now.label), None)
        self._draw(completed=now.done_splits, total=now.total_splits)

    @property
    def _elapsed(self) -> float:
        """Seconds of work so far; compiling is done once and is none."""
        return perf_counter() - self._started - (compiling.seconds - self._compiled_before)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        """The timer has moved on, in the midst of whatever this process does."""
        if is_too_long(self._doubt, self._elapsed):
            raise WorkTooLong
        self._draw()

    def _draw(self, **now: int) -> None:
        if not self._shown:
            self._print_line()
            return
        if perf_counter() - self._started < PATIENCE:
            return
        if self._bar is None:
            self._make()
        share = f" ({advancing.share:.0%} of a search)" if advancing.share is not None else ""
        self._bar.update(self._task, description=self._doing + share, **now)
        if perf_counter() - self._drawn >= REDRAW_AFTER:
            self._bar.start()
            self._bar.refresh()
            self._drawn = perf_counter()

    def _print_line(self) -> None:
        """Print how far the work is, unless that was done just now."""
        seconds, done = perf_counter() - self._started, self._models - len(self._unfinished)
        if seconds - self._line_seconds < BETWEEN_LINES or (
            done == self._line_models and seconds < 2 * self._line_seconds
        ):
            return
        self._line_models, self._line_seconds = done, seconds
        models = f"{done} of {counted(self._models, 'model')} done"
        with suppress(RuntimeError):  # the timer may come while a remark is being printed
            remark(f"{models} after {duration(round(seconds))}; running: {self._running()}")

    def _running(self) -> str:
        """The model that has moved last, or where that is done those that are left."""
        names = [f"{dataset}: {model}" for dataset, model in self._unfinished]
        if self._doing in names:
            return self._doing
        return listed(names, SHOWN_MODELS) or "scores"

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        above = [Text(page_for(sys.stderr).shown(sentence)) for sentence in self._foreseen]

        class BarBelow(Bar):
            def get_renderables(self) -> Iterator[Any]:
                yield from above
                yield from super().get_renderables()

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._bar = BarBelow(*columns, *times, console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task("", total=None)


def _described(dataset: str, model: str) -> str:
    return page_for(sys.stderr).shown(f"{dataset}: {model}")


BROKEN = ("failed", "over-budget", "died")
LONG_WORK = 3600.0
"""Seconds of work before which a person at a terminal is asked."""


def run_and_show(
    experiments: Sequence[Experiment],
    store: Path | None,
    options: RunOptions,
    details: Details,
    pages: PageOptions,
    format: str,
    ci: CiOptions | None = None,
) -> None:
    """Run experiments, show their results, and leave with the exit code that tells how it went."""
    plans = _plans_of(experiments)
    if sys.stdin.isatty() and is_terminal(sys.stderr):
        _ask_before_long_work([(plan, store_for(plan.experiment, store)) for plan in plans], options)
    details = _with_fairness(details, experiments)
    outcomes: list[ExperimentOutcome] = []
    for plan in plans:
        path = store_for(plan.experiment, store)
        with _progress_of(plan, path) as progress:
            outcomes.append(run_plan(plan, path, options, progress))
        _say_what_was_stored(outcomes[-1].cells, path)
        if format == TEXT:
            show(Results((outcomes[-1],), details).document)
    results = Results(tuple(outcomes), details)
    if format != TEXT:
        show_result(results, format)
    if ci is not None:
        ci.write(outcomes)
    pages.write(lambda: replace(results, provenance=tuple(map(_provenance_of, experiments))).report)
    _exit_by(outcomes)


def run_shard(
    experiments: Sequence[Experiment], shard: str, store: Path | None, options: RunOptions, format: str
) -> None:
    """Run a part of each experiment in a store of its own, and say how the parts are joined."""
    from mlcli.report.views.runs import shards_of
    from mlcli.scoring.runs import ShardRecord, ShardsRecord, shard_record

    outcomes: list[ExperimentOutcome] = []
    shards: list[ShardRecord] = []
    for plan in _plans_of(experiments):
        part, path, facts = shard_of(plan, shard, store)
        with _progress_of(part, path) as progress:
            outcomes.append(run_plan(part, path, options, progress, facts))
        results = outcomes[-1].cells
        _say_what_was_stored(results, path)
        shards.append(shard_record(plan.experiment.title, shard, len(plan), results, path))
    show_result(View(lambda: shards_of(shards), lambda: ShardsRecord(__version__, tuple(shards))), format)
    _exit_by([replace(outcome, gates=(), skipped=()) for outcome in outcomes])


def _plans_of(experiments: Sequence[Experiment]) -> list[Plan]:
    """The plans of all experiments; options without effect are reported."""
    plans = [planned(experiment) for experiment in experiments]
    for plan in plans:
        for sentence in without_effect(plan):
            remark(sentence)
    return plans


def _ask_before_long_work(plans: Sequence[tuple[Plan, Path | None]], options: RunOptions) -> None:
    """Ask the person at the terminal before work that takes hours, as far as the store can tell."""
    from mlcli.experiment.run.estimates import work_left

    work = sum(work_left(plan, store) for plan, store in plans if store is not None and not options.fresh)
    seconds = work / workers_for(options.jobs)
    if seconds < LONG_WORK:
        return
    remark(f"this will take about {duration(seconds)}, going by earlier runs: mlcli run --dry-run shows details")
    remark("Go on? [y/N]")
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise typer.Exit(ExitCode.DONE)


def _with_fairness(details: Details, experiments: Sequence[Experiment]) -> Details:
    """The details with what the experiments say of fairness."""
    thresholds = {experiment.similarity for experiment in experiments if experiment.fair}
    if len(thresholds) > 1:
        what = f"the experiments differ in 'similarity': {', '.join(map(str, sorted(thresholds)))}"
        raise UsageError(what, hint="run them one by one")
    return replace(details, fair=True, similarity=thresholds.pop()) if thresholds else details


def _provenance_of(experiment: Experiment) -> Provenance:
    from mlcli.report.views.full_report import Provenance, provenance_of_file

    if experiment.source is not None:
        return provenance_of_file(experiment.source)
    return Provenance(f"mlcli {shlex.join(sys.argv[1:])}")


@contextmanager
def _progress_of(plan: Plan, store: Path | None) -> Iterator[Progress]:
    """The progress of a run; after Ctrl-C a line names the store with the finished results."""
    try:
        with Progress(plan, plan.split_warnings) as progress:
            yield progress
    except KeyboardInterrupt:
        if store is not None:
            remark(f"\nfinished results are kept in {store}; the same command does only the rest")
        raise


def _say_what_was_stored(results: Sequence[ModelResult], store: Path | None) -> None:
    """Say how many results were in the store already."""
    possible = [result for result in results if result.status != "skipped"]
    stored = sum(result.cell_result.stored for result in possible)
    if stored:
        remark(f"{stored} of {len(possible)} cells were in {store} already")


def refuse_views(
    show: Sequence[str] | None, bounds: Sequence[str] | None, ci: CiOptions, pages: PageOptions
) -> None:
    """Refuse options that need the results of all shards."""
    options = {"show": show, "fail-under": bounds, **vars(ci), **vars(pages)}
    for name, value in options.items():
        if value:
            hint = "merge the stores first: mlcli runs merge, then mlcli run without --shard"
            raise UsageError(f"--{name} needs the results of all shards", hint=hint)


def _exit_by(outcomes: Sequence[ExperimentOutcome]) -> None:
    """Say what failed, if anything, and leave with its exit code."""
    results = [result for outcome in outcomes for result in outcome.cells]
    broken = sum(result.status in BROKEN for result in results)
    damaged = {str(result.cell.model.saved): None for result in results if _is_at_fault(result.cell_result)}
    skipped = dict.fromkeys(_with_another(result.cell) for outcome in outcomes for result in outcome.skipped)
    failed = sum(not gate.passed for outcome in outcomes for gate in outcome.gates)
    if broken:
        remark(f"{broken} of {len(results)} cells did not end well; each says why above")
    if skipped:
        remark(f"skipped, though asked for: {', '.join(skipped)}; each says why above")
    if failed:
        remark(f"{counted(failed, 'gate')} failed; the table of gates, or --json, says which")
    if damaged:
        remark(f"damaged, since it breaks when it is asked: {', '.join(damaged)}; train it again")
        raise typer.Exit(ExitCode.MODEL_FILE)
    if broken or skipped:
        raise typer.Exit(ExitCode.CELLS)
    if failed:
        raise typer.Exit(ExitCode.UNMET)


def _with_another(cell: Cell) -> str:
    """The name of a model that was skipped, with a method for the task if it is for another one."""
    if cell.model.saved is not None or not cell.wrong_task:
        return cell.label
    return f"{cell.label} ({method_instead(cell.model.use, kind_named(cell.kind))} does {cell.kind})"


def _is_at_fault(result: CellResult) -> bool:
    """Whether a saved model broke, rather than refused the rows in words."""
    broke = result.status == "died" or result.code == ExitCode.MODEL_FILE
    return result.cell.model.saved is not None and broke
