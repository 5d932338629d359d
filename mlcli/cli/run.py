"""run: run experiment files; what is in the store is not run again."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import (
    Classes,
    Curves,
    FailUnder,
    Fair,
    Format,
    Jobs,
    Junit,
    NoShortcut,
    Specs,
    Spread,
    StepSummary,
    Store,
    Verbose,
)
from mlcli.cli._pages import Html, PictureFormat, Pictures

Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="LIMIT",
        help="What a cell may take, such as 60s, or '{cell: 60s, total: 2h, memory: 4GiB}'.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run again what is in the store, too.")]
Backend = Annotated[str | None, typer.Option("--backend", metavar="NAME", help="Work on a cluster: dask, ray.")]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="URL", help="Where it is, such as tcp://host:8786. [default: made here, of --jobs]"
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="PART/PARTS",
        help="Run only this part of the cells, such as 2/8, in a store of its own.",
    ),
]
Retry = Annotated[bool, typer.Option("--retry", help="Run again what is in the store as failed.")]

EXAMPLES = (
    "mlcli run experiments/weather.yaml --store runs.db",
    "mlcli run a.yaml b.yaml --store all.db --jobs 2",
)


def run_command(
    specs: Specs,
    store: Store = None,
    jobs: Jobs = None,
    budget: Budget = None,
    fresh: Fresh = False,
    retry: Retry = False,
    shard: Part = None,
    backend: Backend = None,
    address: Address = None,
    no_shortcut: NoShortcut = False,
    classes: Classes = False,
    spread: Spread = False,
    curves: Curves = False,
    fair: Fair = False,
    fail_under: FailUnder = None,
    junit: Junit = None,
    summary: StepSummary = None,
    html: Html = None,
    pictures: Pictures = None,
    picture_format: PictureFormat = "svg",
    verbose: Verbose = False,
    format: Format = "text",
) -> None:
    """Run experiment files; what is in the store is not run again.

    Answers are kept in .mlcli/runs.db beside each file: a second run does only
    what is missing, and Ctrl-C loses nothing that is finished.
    """
    from dataclasses import replace

    from mlcli.api.running import RunOptions
    from mlcli.cli._pages import Pages
    from mlcli.cli._running import ReportFiles, beside, run_and_show
    from mlcli.experiment.spec.budget import budget_from_text
    from mlcli.experiment.spec.expectations import fail_under as bounds
    from mlcli.experiment.spec.file import read_experiment
    from mlcli.report.results import Parts

    pages = Pages(html, pictures, picture_format)
    read = [replace(read_experiment(spec), shortcuts=not no_shortcut) for spec in specs]
    asked = bounds(fail_under or [])
    experiments = [replace(experiment, expect=(*experiment.expect, *asked)) for experiment in read]
    if budget is not None:
        limits = budget_from_text(budget)
        experiments = [replace(experiment, budget=limits) for experiment in experiments]
    options = RunOptions(jobs, fresh, retry, backend, address)
    if shard is not None:
        from mlcli.cli._sharded import refuse_views, run_shard

        refuse_views(
            classes=classes,
            spread=spread,
            curves=curves,
            fair=fair,
            html=html,
            pictures=pictures,
            fail_under=fail_under,
            junit=junit,
            summary=summary,
        )
        run_shard(experiments, shard, store, options, format)
        return
    run_and_show(
        experiments,
        place_of=lambda one: store or beside(one),
        options=options,
        parts=Parts(verbose, classes, curves, fair, spread),
        files=ReportFiles(junit, summary),
        pages=pages,
        format=format,
    )
