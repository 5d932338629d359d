"""From the cells of an experiment to scores, by way of a store where there is one: for shell and Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mlcli.checks.audit import with_issues
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.ledger import OnProgress
from mlcli.experiment.spec.cells import CellResult, Experiment
from mlcli.experiment.spec.plan import Plan
from mlcli.experiment.spec.plan import plan as plan_of
from mlcli.experiment.spec.suitability import refuse_long_work
from mlcli.scoring.gates import ExperimentOutcome, outcome_of
from mlcli.scoring.model_results import ModelResult, score_result

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class RunOptions:
    """How cells are run: by how many processes, which of those in the store again, and on whose workers."""

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
    """The plan of an experiment with the issues of its data, unless that is long work on a guess."""
    made = with_issues(plan_of(experiment))
    refuse_long_work(made)
    return made


def answered(
    plan: Plan,
    place: Path | None,
    options: RunOptions,
    on_progress: OnProgress | None = None,
    more: Mapping[str, Any] = NOTHING,
) -> list[ModelResult]:
    """The scores of all cells; with a ``place`` they are kept in the store there, as a run with ``more``."""
    experiment = plan.experiment
    asked = {**asdict(options), "on_progress": on_progress, "total": experiment.budget.total}
    if place is None:
        return [score_result(result, experiment.metrics) for result in run(plan, **asked)]
    from mlcli.core.plugins import plugin_files
    from mlcli.experiment.run.reproduction import PLUGINS, versions_and_hardware
    from mlcli.experiment.store.runs import RunFacts
    from mlcli.experiment.store.store import Store
    from mlcli.scoring.runs import SCORES, VERSIONS, scores_to_keep

    source = None if experiment.source is None else str(experiment.source.absolute())
    with Store.open(place) as store:
        about = RunFacts(experiment.title, source, experiment.seed, experiment.metrics)
        number = store.runs.begin(about, len(plan))
        results = run(plan, store=store, **asked)
        store.runs.finish(number, results)
        found = [score_result(result, experiment.metrics) for result in results]
        shown = [scores_to_keep(one) for one in found]
        plugins = list(map(str, plugin_files()))
        for name, value in {VERSIONS: versions_and_hardware(), SCORES: shown, PLUGINS: plugins, **more}.items():
            store.runs.keep(number, name, value)
    return found


def with_gates(experiment: Experiment, results: Sequence[ModelResult], place: Path | None) -> ExperimentOutcome:
    """The results with what was expected of them; runs that expectations name are in the store."""

    @lru_cache
    def run_named(name: str) -> Sequence[CellResult]:
        from mlcli.experiment.store.store import named_run

        return named_run(name, place)[1]

    return outcome_of(experiment, results, run_named)
