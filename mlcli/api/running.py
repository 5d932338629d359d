"""From experiments to results: plans, remarks on them, runs with or without a store, shards, and curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.api import Report, View, Watch, unwatched
from mlcli.checks.data import BEFORE_IT_RUNS, with_issues
from mlcli.core.errors import Problem, UsageError
from mlcli.core.processes import on_linux
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import OnProgress
from mlcli.experiment.spec.cells import SELECTED, TUNED, Cell, CellResult, Experiment
from mlcli.experiment.spec.plan import Plan
from mlcli.experiment.spec.plan import plan as make_plan
from mlcli.experiment.spec.suitability import advice_on, refuse_long_work
from mlcli.report.document import Document, grid
from mlcli.scoring.gates import ExperimentOutcome, outcome_of
from mlcli.scoring.model_results import ModelResult, score_result
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.run.estimates import CellEstimate
    from mlcli.experiment.spec.cells import DataSpec
    from mlcli.experiment.spec.sweeps import CurveRequest
    from mlcli.scoring.records import PlanRecord


@dataclass(frozen=True)
class RunOptions:
    """How experiments are run: in how many processes, what is run again, and on which cluster."""

    jobs: int | None = None
    fresh: bool = False
    retry: bool = False
    backend: str | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if self.backend is not None:
            from mlcli.experiment.run.clusters import refuse_unknown_backend

            refuse_unknown_backend(self.backend)


def planned(experiment: Experiment) -> Plan:
    """The plan of an experiment with the issues of its data.

    It is refused if it would take long on a guessed target, or if it was typed and none of its models can be run.
    """
    plan = with_issues(make_plan(experiment))
    refuse_long_work(plan)
    if experiment.source is None:
        models = [cell for cell in plan if cell.model.requested]
        requested = [cell for cell in models if cell.model.use not in kind_named(cell.kind).baselines]
        if requested and all(cell.skipped for cell in requested):
            raise error_of_skipped(requested)
    return plan


def error_of_skipped(cells: Sequence[Cell]) -> UsageError:
    """Why none of these cells can be run, and what would work."""
    reasons = [*dict.fromkeys(cell.skipped for cell in cells)]
    first = cells[0]
    uses = [cell.model.use for cell in cells if cell.model.saved is None and cell.model.use != TUNED]
    hint = "mlcli models lists what each can do"
    if isinstance(first.dataset, Dataset) and any(cell.wrong_task for cell in cells):
        hint = advice_on(uses, first.dataset, kind_named(first.kind))
    return UsageError(*reasons[:-1], Problem(reasons[-1], hint=hint))


def without_effect(plan: Plan) -> Iterator[str]:
    """What was requested and has no effect, such as tuning a method that has nothing to tune."""
    if not on_linux() and any(cell.memory for cell in plan):
        yield "memory is watched on Linux only: models over their budget are not stopped here"
    baselines = {use for cell in plan for use in kind_named(cell.kind).baselines}
    models = [cell.model for cell in plan if cell.model.saved is None and not cell.skipped]
    tunable = [model for model in models if model.requested and model.shares_tune]
    untuned = [model.use for model in tunable if model.use not in baselines | {TUNED, SELECTED}]
    if plan.experiment.tune is not None and untuned:
        yield f"nothing to tune: {', '.join(dict.fromkeys(untuned))}; their parameters stay as they are"


def store_for(experiment: Experiment, store: Path | None = None) -> Path | None:
    """Where results are kept: in ``store``, else beside the file of the experiment; without a file nowhere."""
    if store is not None or experiment.source is None:
        return store
    from mlcli.experiment.store.store import DEFAULT_PLACE

    return experiment.source.parent / DEFAULT_PLACE


def run_plan(
    plan: Plan,
    store: Path | None,
    options: RunOptions,
    on_progress: OnProgress | None = None,
    about: Mapping[str, object] | None = None,
) -> ExperimentOutcome:
    """Run a plan; with a ``store`` the results are kept there, as a run with the facts ``about`` it."""
    results = _kept_results(plan, store, options, on_progress, about or {})

    @lru_cache
    def run_named(name: str) -> Sequence[CellResult]:
        from mlcli.experiment.store.store import named_run

        return named_run(name, store)[1]

    return outcome_of(plan.experiment, results, run_named)


def _kept_results(
    plan: Plan,
    store: Path | None,
    options: RunOptions,
    on_progress: OnProgress | None,
    about: Mapping[str, object],
) -> list[ModelResult]:
    experiment = plan.experiment
    settings = {**asdict(options), "on_progress": on_progress, "total": experiment.budget.total}
    if store is None:
        return [score_result(result, experiment.metrics) for result in run(plan, **settings)]
    from mlcli.core.registry import plugin_files
    from mlcli.experiment.run.reproduction import PLUGINS, versions_and_hardware
    from mlcli.experiment.store.runs import RunFacts
    from mlcli.experiment.store.store import Store
    from mlcli.scoring.runs import SCORES, VERSIONS, scores_to_keep

    source = None if experiment.source is None else str(experiment.source.absolute())
    with Store.open(store) as opened:
        facts = RunFacts(experiment.title, source, experiment.seed, experiment.metrics)
        number = opened.runs.begin(facts, len(plan))
        finished = run(plan, store=opened, **settings)
        opened.runs.finish(number, finished)
        results = [score_result(result, experiment.metrics) for result in finished]
        kept = {
            VERSIONS: versions_and_hardware(),
            SCORES: [scores_to_keep(result) for result in results],
            PLUGINS: list(map(str, plugin_files())),
            **about,
        }
        for name, value in kept.items():
            opened.runs.keep(number, name, value)
    return results


def shard_of(plan: Plan, text: str, store: Path | None) -> tuple[Plan, Path, Mapping[str, object]]:
    """A part of a plan, such as "2/8", with the store of its own and the facts by which shards are joined."""
    from mlcli.experiment.store.store import DEFAULT_PLACE
    from mlcli.experiment.store.transfer import SHARD, plan_digest, shard_from_text

    shard, title = shard_from_text(text), plan.experiment.title
    usual = store_for(plan.experiment) or DEFAULT_PLACE
    # On a disk that machines share, SQLite cannot keep two writers apart.
    path = store or usual.with_name(f"{usual.stem}.{shard.part}-of-{shard.of}{usual.suffix}")
    indices = shard.places(plan)
    facts = {"part": shard.part, "of": shard.of, "places": indices, "plan": plan_digest(plan), "title": title}
    named = replace(plan.experiment, name=f"{title}, {shard}")
    part = replace(plan, experiment=named, cells=tuple(plan[index] for index in indices))
    return part, path, {SHARD: facts}


@dataclass(frozen=True, eq=False, repr=False)
class DryRun(Report):
    """What experiment files would run: their cells with estimates, or what is wrong with the files."""

    cells: Sequence[Cell] = ()
    estimates: Sequence[CellEstimate | None] = ()
    problems: Sequence[tuple[Path, Problem]] = ()

    @property
    def document(self) -> Document:
        """The plan of each dataset, or a table of the problems."""
        if not self.problems:
            from mlcli.report.views.plan import plan_of

            return plan_of(self.cells, self.estimates)
        rows = self._problem_rows
        return (grid(tuple(rows[0]), [tuple(row.values()) for row in rows]),)

    @property
    def record(self) -> PlanRecord | dict[str, list[dict[str, str]]]:
        """The same as ``--json`` prints it."""
        if self.problems:
            return {"problems": self._problem_rows}
        from mlcli.scoring.records import plan_record

        return plan_record(self.cells, self.estimates)

    @property
    def _problem_rows(self) -> list[dict[str, str]]:
        return [
            {"file": str(spec), "where": problem.where, "problem": problem.what, "advice": problem.hint}
            for spec, problem in self.problems
        ]


def dry_run(specs: Sequence[Path], store: Path | None = None) -> DryRun:
    """Check experiment files and plan them; the store tells how long cells may take."""
    from mlcli.experiment.spec.file import check, read_experiment

    problems = [(spec, problem) for spec in specs for problem in check(spec)]
    if problems:
        return DryRun(problems=problems)
    plans = [with_issues(make_plan(read_experiment(spec)), BEFORE_IT_RUNS) for spec in specs]
    estimates = [estimate for plan in plans for estimate in _estimates(plan, store_for(plan.experiment, store))]
    return DryRun([cell for plan in plans for cell in plan], estimates)


def _estimates(plan: Plan, store: Path | None) -> Sequence[CellEstimate | None]:
    if store is None or not store.exists():
        return [None] * len(plan)
    from mlcli.experiment.run.estimates import estimates
    from mlcli.experiment.store.store import Store

    with Store.read(store) as opened:
        return estimates(plan, opened)


def draw_curve(
    request: CurveRequest,
    data: DataSpec,
    *,
    metric: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    watch: Watch = unwatched,
) -> View:
    """The scores of models over training sizes, values of a parameter, or stages of a fit."""
    from mlcli.experiment.spec.sweeps import experiment_of
    from mlcli.report.views.curves import sweep_as_table, sweep_of
    from mlcli.scoring.curves import sweep_record

    sweep = experiment_of(request, data, metric, seed)
    plan = make_plan(sweep.experiment)
    refuse_long_work(plan)
    with watch(plan) as progress:
        results = run(plan, jobs=jobs, on_progress=progress)
    return View(
        lambda: sweep_of(sweep, results),
        lambda: sweep_record(sweep, results),
        lambda: sweep_as_table(sweep, results),
    )
