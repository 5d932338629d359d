"""run: run experiment files; what is in the store is not run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Experiment

Budget = Annotated[
    float | None, typer.Option("--budget", metavar="SECONDS", help="Seconds that one cell may take, at most.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run again what is in the store, too.")]
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
    from mlcli.cli._running import ReportFiles, run_and_show
    from mlcli.experiment.spec.expectations import fail_under as bounds
    from mlcli.experiment.spec.file import read_experiment
    from mlcli.report.results import Parts

    pages = Pages(html, pictures, picture_format)
    read = [replace(read_experiment(spec), shortcuts=not no_shortcut) for spec in specs]
    asked = bounds(fail_under or [])
    experiments = [replace(experiment, expect=(*experiment.expect, *asked)) for experiment in read]
    if budget is not None:
        experiments = [replace(experiment, budget=budget) for experiment in experiments]
    run_and_show(
        experiments,
        place_of=lambda one: store or _beside(one),
        options=RunOptions(jobs, fresh, retry),
        parts=Parts(verbose, classes, curves, fair, spread),
        files=ReportFiles(junit, summary),
        pages=pages,
        format=format,
    )


def _beside(experiment: Experiment) -> Path:
    from mlcli.experiment.store.store import DEFAULT_PLACE

    assert experiment.source is not None
    return experiment.source.parent / DEFAULT_PLACE
