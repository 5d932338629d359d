"""Running experiments in a shell: remarks beforehand, progress, results as they come, and the exit code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mlcli import __version__
from mlcli.api.reports import View
from mlcli.api.results import Results
from mlcli.api.running import (
    RunOptions,
    planned,
    run_plan,
    shard_of,
    store_for,
    without_effect,
)
from mlcli.cli._console import is_terminal, remark, show, show_result
from mlcli.cli._outputs import PageOptions
from mlcli.cli._progress import Progress
from mlcli.core.errors import ExitCode, UsageError
from mlcli.core.names import counted
from mlcli.core.quantities import duration
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.spec.plan import Plan
from mlcli.experiment.spec.suitability import method_instead
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
    """The plans of all experiments; what has no effect is said."""
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
    remark(f"this will take about {duration(seconds)}, judging by earlier runs: mlcli run --dry-run shows details")
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
    """The progress of a run; after Ctrl-C it is said where finished results are kept."""
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
