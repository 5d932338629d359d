"""From the cells of an experiment to scores, by way of a store where there is one: for shell and Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.experiment.run.batch import run
from mlcli.experiment.run.ledger import BatchProgress
from mlcli.experiment.spec.cells import Cell, Experiment
from mlcli.report.scored import Scored, scored

if TYPE_CHECKING:
    from mlcli.experiment.store.runs import RunFacts

OnProgress = Callable[[BatchProgress], None]


@dataclass(frozen=True)
class RunOptions:
    """How cells are run: by how many processes, and which of those in the store are run again."""

    jobs: int | None = None
    fresh: bool = False
    retry: bool = False


def answered(
    experiment: Experiment,
    cells: Sequence[Cell],
    place: Path | None,
    options: RunOptions,
    on_progress: OnProgress | None = None,
) -> list[Scored]:
    """The scores of the cells, which are kept in a store where there is a place for one."""
    if place is not None:
        return _stored(experiment, cells, place, options, on_progress)
    results = run(cells, on_progress=on_progress, **asdict(options))
    return [scored(result, experiment.metrics) for result in results]


def _stored(
    experiment: Experiment,
    cells: Sequence[Cell],
    place: Path,
    options: RunOptions,
    on_progress: OnProgress | None,
) -> list[Scored]:
    from mlcli.experiment.run.fingerprint import versions
    from mlcli.experiment.store.store import Store
    from mlcli.report.verified import SCORES, VERSIONS, kept_scores

    with Store.open(place) as store:
        number = store.runs.begin(_about(experiment), len(cells))
        results = run(cells, store=store, on_progress=on_progress, **asdict(options))
        store.runs.finish(number, results)
        found = [scored(result, experiment.metrics) for result in results]
        store.runs.keep(number, VERSIONS, versions())
        store.runs.keep(number, SCORES, [kept_scores(one) for one in found])
    return found


def _about(experiment: Experiment) -> RunFacts:
    from mlcli.experiment.store.runs import RunFacts

    source = experiment.source
    return RunFacts(
        title=experiment.name or (source.stem if source else "eval"),
        source=None if source is None else str(source),
        seed=experiment.seed,
        metrics=experiment.metrics,
    )
