"""From experiments to tables: plan all, say what is known beforehand, run all or a shard, and show it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mlcli import __version__
from mlcli.api.running import NOTHING, RunOptions, answered, planned, with_gates
from mlcli.cli._console import is_terminal, remark, show, show_as, show_json
from mlcli.cli._options import CiOptions, ViewOptions
from mlcli.cli._outputs import PageOptions
from mlcli.cli._progress import Progress
from mlcli.core.errors import ExitCode, ModelFileError, Problem, UsageError
from mlcli.core.names import counted
from mlcli.core.processes import on_linux
from mlcli.core.quantities import duration
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import workers_for
from mlcli.experiment.spec.cells import SELECTED, TUNED, Cell, CellResult, Experiment
from mlcli.experiment.spec.plan import Plan
from mlcli.experiment.spec.suitability import advice_on, method_instead
from mlcli.report.document import Document
from mlcli.report.formats._registry import CSV, JSON, TEXT
from mlcli.report.views.results import Details, gates_as_elements, results_of
from mlcli.report.views.score_rows import scores_as_table
from mlcli.scoring.gates import ExperimentOutcome
from mlcli.scoring.model_results import ModelResult
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.scoring.records import ExperimentRecord

StorePath = Callable[[Experiment], Path | None]
"""Where the answers of an experiment are kept, if anywhere."""
BROKEN = ("failed", "over-budget", "died")
WORTH_ASKING = 3600.0
"""Seconds of work that nobody should begin by mistake."""


def run_and_show(
    experiments: Sequence[Experiment],
    place_of: StorePath,
    options: RunOptions,
    details: Details,
    pages: PageOptions,
    format: str,
    ci: CiOptions | None = None,
) -> None:
    """Run experiments, show their results, and leave with the exit code that tells how it went."""
    plans = planned_with_remarks(experiments)
    if sys.stdin.isatty() and is_terminal(sys.stderr):
        ask_before_hours([(plan, place_of(plan.experiment)) for plan in plans], options)
    outcomes: list[ExperimentOutcome] = []
    details = _with_fairness(details, experiments)
    for plan in plans:
        place = place_of(plan.experiment)
        outcomes.append(with_gates(plan.experiment, _scored(plan, place, options), place))
        if format == TEXT:
            show(_document(outcomes[-1], details))
    if format == JSON:
        show_json(_record(outcomes, details))
    elif format == CSV:
        show(scores_as_table(one for outcome in outcomes for one in outcome.cells), CSV)
    elif format != TEXT:
        show(tuple(element for outcome in outcomes for element in _document(outcome, details)), format)
    if ci is not None:
        ci.write(outcomes)
    pages.write(lambda: _report(experiments, outcomes, details.similarity))
    _leave_by(outcomes)


def _with_fairness(details: Details, experiments: Sequence[Experiment]) -> Details:
    """The details with what the experiments say of fairness."""
    thresholds = {experiment.similarity for experiment in experiments if experiment.fair}
    if len(thresholds) > 1:
        what = f"the experiments differ in 'similarity': {', '.join(map(str, sorted(thresholds)))}"
        raise UsageError(what, hint="run them one by one")
    return replace(details, fair=True, similarity=thresholds.pop()) if thresholds else details


def _document(outcome: ExperimentOutcome, details: Details) -> Document:
    return (*results_of(outcome.cells, details), *gates_as_elements(outcome.gates))


def _record(outcomes: Sequence[ExperimentOutcome], details: Details) -> ExperimentRecord:
    from mlcli.scoring.records import experiment_record

    return experiment_record(
        [result for outcome in outcomes for result in outcome.cells],
        curves=details.curves,
        fair=details.fair,
        similarity=details.similarity,
        gates=[gate for outcome in outcomes for gate in outcome.gates],
    )


def _report(
    experiments: Sequence[Experiment], outcomes: Sequence[ExperimentOutcome], similarity: float
) -> Document:
    from mlcli.report.views.full_report import Provenance, provenance_of_file, report_of

    typed = f"mlcli {shlex.join(sys.argv[1:])}"
    elements: Document = ()
    for experiment, outcome in zip(experiments, outcomes, strict=True):
        made = provenance_of_file(experiment.source) if experiment.source else Provenance(typed)
        elements += (*report_of(outcome.cells, made, similarity), *gates_as_elements(outcome.gates))
    return elements


def _scored(
    plan: Plan, place: Path | None, options: RunOptions, about: Mapping[str, Any] = NOTHING
) -> list[ModelResult]:
    """The scores of the cells of a plan, their progress shown meanwhile; ``about`` is kept of the run."""
    try:
        with Progress(plan, plan.split_warnings) as progress:
            found = answered(plan, place, options, progress, about)
    except KeyboardInterrupt:
        if place is not None:
            remark(f"\nfinished answers are kept in {place}; the same command does only the rest")
        raise
    possible = [one.cell_result for one in found if one.status != "skipped"]
    known = sum(result.stored for result in possible)
    if known:
        remark(f"{known} of {len(possible)} cells were in {place} already")
    return found


def usual_store_of(experiment: Experiment) -> Path:
    """Where its answers are kept if nobody says otherwise."""
    from mlcli.experiment.store.store import DEFAULT_PLACE

    assert experiment.source is not None
    return experiment.source.parent / DEFAULT_PLACE


def run_shard(
    experiments: Sequence[Experiment], text: str, store: Path | None, options: RunOptions, format: str
) -> None:
    """Run a part of the cells of each experiment, in a store of its own, and say how all are put together."""
    from mlcli.experiment.run.shards import plan_digest, shard_from_text
    from mlcli.experiment.store.transfer import SHARD
    from mlcli.report.views.runs import shards_of
    from mlcli.scoring.runs import ShardRecord, ShardsRecord, shard_record

    shard = shard_from_text(text)
    shards: list[ShardRecord] = []
    outcomes: list[ExperimentOutcome] = []
    for plan in planned_with_remarks(experiments):
        title, places, usual = plan.experiment.title, shard.places(plan), usual_store_of(plan.experiment)
        # On a disk that machines share, SQLite cannot keep two writers apart.
        place = store or usual.with_name(f"{usual.stem}.{shard.part}-of-{shard.of}{usual.suffix}")
        about = {"part": shard.part, "of": shard.of, "places": places, "plan": plan_digest(plan), "title": title}
        named = replace(plan.experiment, name=f"{title}, {shard}")
        part = replace(plan, experiment=named, cells=tuple(plan[one] for one in places))
        found = _scored(part, place, options, {SHARD: about})
        shards.append(shard_record(title, str(shard), len(plan), found, place))
        outcomes.append(ExperimentOutcome(title, found, (), ()))
    show_as(format, lambda: shards_of(shards), lambda: ShardsRecord(__version__, tuple(shards)))
    _leave_by(outcomes)


def refuse_views(views: ViewOptions, fail_under: Sequence[str] | None, ci: CiOptions, pages: PageOptions) -> None:
    """Refuse options that need the results of all shards."""
    options = {"show": views.show, "fail-under": fail_under, **vars(ci), **vars(pages)}
    for name, value in options.items():
        if value:
            hint = "merge the stores first: mlcli runs merge, then mlcli run without --shard"
            raise UsageError(f"--{name} needs the results of all shards", hint=hint)


def _leave_by(outcomes: Sequence[ExperimentOutcome]) -> None:
    """Say what did not go as it was asked for, if anything, and leave with its exit code."""
    found = [one for outcome in outcomes for one in outcome.cells]
    broken = sum(one.status in BROKEN for one in found)
    damaged = {str(one.cell.model.saved): None for one in found if _is_at_fault(one.cell_result)}
    skipped = dict.fromkeys(_with_another(one.cell) for outcome in outcomes for one in outcome.skipped)
    failed = sum(not gate.passed for outcome in outcomes for gate in outcome.gates)
    if broken:
        remark(f"{broken} of {len(found)} cells did not end well; each says why above")
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
    """The name of a model that was skipped, with the method that does the task."""
    if cell.model.saved is not None or not cell.wrong_task:
        return cell.label
    return f"{cell.label} ({method_instead(cell.model.use, kind_named(cell.kind))} does {cell.kind})"


def _is_at_fault(result: CellResult) -> bool:
    """Whether a saved model broke while it was asked, rather than refused the rows in words."""
    broke = result.status == "died" or ModelFileError.__name__ in result.trace
    return result.cell.model.saved is not None and broke


def planned_with_remarks(experiments: Sequence[Experiment]) -> list[Plan]:
    """The plans of all experiments; what cannot be done is refused, what must be known beforehand is said."""
    plans = [planned(experiment) for experiment in experiments]
    for plan in plans:
        if plan.experiment.source is None:
            _refuse_if_all_skipped(plan)
        for sentence in _without_effect(plan.experiment, plan):
            remark(sentence)
    return plans


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


def _refuse_if_all_skipped(cells: Sequence[Cell]) -> None:
    """A command that asks only for what cannot be done is a mistake, not a result with exit code 0."""
    models = [cell for cell in cells if cell.model.asked]
    asked = [cell for cell in models if cell.model.use not in kind_named(cell.kind).baselines]
    if asked and all(cell.skipped for cell in asked):
        raise error_of_skipped(asked)


def error_of_skipped(cells: Sequence[Cell]) -> UsageError:
    """That none of these cells can be run, why, and what would work."""
    reasons = [*dict.fromkeys(cell.skipped for cell in cells)]
    first = cells[0]
    hint = "mlcli models lists what each can do"
    uses = [cell.model.use for cell in cells if cell.model.saved is None and cell.model.use != TUNED]
    if isinstance(first.dataset, Dataset) and any(cell.wrong_task for cell in cells):
        hint = advice_on(uses, first.dataset, kind_named(first.kind))
    return UsageError(*reasons[:-1], Problem(reasons[-1], hint=hint))


def _without_effect(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[str]:
    """What was asked for and changes nothing: tuning of what has nothing to tune, budgets that nobody watches."""
    if not on_linux() and any(cell.memory for cell in cells):
        yield "memory is watched on Linux only: here a cell that takes more than its budget is not stopped"
    baselines = {use for cell in cells for use in kind_named(cell.kind).baselines}
    models = [cell.model for cell in cells if cell.model.saved is None and not cell.skipped]
    wanted = [model for model in models if model.asked and model.shares_tune]
    plain = [model.use for model in wanted if model.use not in baselines | {TUNED, SELECTED}]
    if experiment.tune is not None and plain:
        yield f"nothing to tune: {', '.join(dict.fromkeys(plain))}; judged with the parameters as they are"
