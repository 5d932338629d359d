"""run: run experiment files, or show what they would run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import (
    RUNNING_PANEL,
    CiOptions,
    CodeOptions,
    FailUnder,
    Format,
    Jobs,
    NoShortcut,
    Specs,
    Store,
    ViewOptions,
    bounds_of,
)
from mlcli.cli._outputs import PageOptions, refuse_existing

EXAMPLES = (
    "mlcli run experiments/weather.yaml --store runs.db",
    "mlcli run experiments/weather.yaml --dry-run",
    "mlcli run a.yaml b.yaml --store all.db --jobs 2",
)


def run_command(
    *,
    specs: Specs,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the files and show what would run, with estimated time and memory; run nothing.",
            rich_help_panel=RUNNING_PANEL,
        ),
    ] = False,
    store: Store = None,
    jobs: Jobs = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMIT",
            help="The limit of each model on a dataset, such as 60s, or '{cell: 60s, total: 2h, memory: 4GiB}'.",
            rich_help_panel=RUNNING_PANEL,
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Run everything again, even what is stored.", rich_help_panel=RUNNING_PANEL),
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run again what failed earlier.", rich_help_panel=RUNNING_PANEL)
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="PART/PARTS",
            help="Run only this part of the work, such as 2/8, in a store of its own.",
            rich_help_panel=RUNNING_PANEL,
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend", metavar="NAME", help="Run on a cluster: dask or ray.", rich_help_panel=RUNNING_PANEL
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="URL",
            help="The address of the cluster, such as tcp://host:8786. [default: a local one with --jobs workers]",
            rich_help_panel=RUNNING_PANEL,
        ),
    ] = None,
    no_shortcut: NoShortcut = False,
    fail_under: FailUnder = None,
    code: CodeOptions,
    views: ViewOptions,
    pages: PageOptions,
    ci: CiOptions,
    format: Format = "text",
) -> None:
    """Run experiment files; finished results are not run again.

    Results are kept in .mlcli/runs.db beside each file: a second run does only
    what is missing, and Ctrl-C loses nothing that is finished.
    """
    from mlcli.api.running import RunOptions
    from mlcli.cli._running import refuse_views, run_and_show, run_shard
    from mlcli.experiment.spec.entries import budget_from_text
    from mlcli.experiment.spec.file import read_experiment

    if dry_run:
        _show_plan(specs, store, format)
        return
    refuse_existing(ci.junit, pages.force)
    bounds = bounds_of(fail_under)
    experiments = []
    for spec in specs:
        experiment = read_experiment(spec, to_run=True)
        limits = experiment.budget if budget is None else budget_from_text(budget)
        expectations = (*experiment.expect, *bounds)
        experiments.append(replace(experiment, shortcuts=not no_shortcut, budget=limits, expect=expectations))
    options = RunOptions(jobs, fresh, retry, backend, address)
    if shard is None:
        run_and_show(experiments, store, options, views.details(), pages, format, ci)
    else:
        refuse_views(views.show, fail_under, ci, pages)
        run_shard(experiments, shard, store, options, format)


def _show_plan(specs: Sequence[Path], store: Path | None, format: str) -> None:
    """Show what would run; if the files have problems, show these and fail."""
    from mlcli.api.running import dry_run
    from mlcli.cli._console import show_result
    from mlcli.core.errors import ExitCode, ExperimentError
    from mlcli.report.formats import TEXT

    planned = dry_run(specs, store)
    if planned.problems and format == TEXT:
        raise ExperimentError(*(problem for _, problem in planned.problems))
    show_result(planned, format)
    if planned.problems:
        raise typer.Exit(ExitCode.EXPERIMENT)
