"""run: run experiment files; what is in the store is not run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.cli._declaring import flag, option
from mlcli.cli._options import Format, GateOptions, Jobs, NoShortcut, Specs, Store, ViewOptions
from mlcli.cli._outputs import PageOptions

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.expectations import Bound

EXAMPLES = (
    "mlcli run experiments/weather.yaml --store runs.db",
    "mlcli run a.yaml b.yaml --store all.db --jobs 2",
)


def run_command(
    specs: Specs,
    views: ViewOptions,
    gates: GateOptions,
    pages: PageOptions,
    store: Store = None,
    jobs: Jobs = None,
    budget: str | None = option(
        "--budget", "LIMIT", "What a cell may take, such as 60s, or '{cell: 60s, total: 2h, memory: 4GiB}'."
    ),
    fresh: bool = flag("--fresh", "Run again what is in the store, too."),
    retry: bool = flag("--retry", "Run again what is in the store as failed."),
    shard: str | None = option(
        "--shard", "PART/PARTS", "Run only this part of the cells, such as 2/8, in a store of its own."
    ),
    backend: str | None = option("--backend", "NAME", "Work on a cluster: dask, ray."),
    address: str | None = option(
        "--address", "URL", "Where it is, such as tcp://host:8786. [default: made here, of --jobs]"
    ),
    no_shortcut: NoShortcut = False,
    format: Format = "text",
) -> None:
    """Run experiment files; what is in the store is not run again.

    Answers are kept in .mlcli/runs.db beside each file: a second run does only
    what is missing, and Ctrl-C loses nothing that is finished.
    """
    from mlcli.api.running import RunOptions
    from mlcli.cli._running import refuse_views, run_and_show, run_shard, usual_store_of

    experiments = [_read(spec, budget, no_shortcut, gates.bounds()) for spec in specs]
    options = RunOptions(jobs, fresh, retry, backend, address)
    if shard is None:
        run_and_show(experiments, lambda one: store or usual_store_of(one), options, views, gates, pages, format)
        return
    refuse_views(views, gates, pages)
    run_shard(experiments, shard, store, options, format)


def _read(spec: Path, budget: str | None, no_shortcut: bool, bounds: tuple[Bound, ...]) -> Experiment:
    from dataclasses import replace

    from mlcli.experiment.spec.entries import budget_from_text
    from mlcli.experiment.spec.file import read_experiment

    read = read_experiment(spec, to_run=True)
    limits = read.budget if budget is None else budget_from_text(budget)
    return replace(read, shortcuts=not no_shortcut, budget=limits, expect=(*read.expect, *bounds))
