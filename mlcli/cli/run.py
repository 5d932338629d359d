"""run: run the cells of experiment files; what is in the store is not run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import AsJson, Jobs, Store

Specs = Annotated[list[Path], typer.Argument(metavar="SPEC...", help="Experiment files (YAML).")]
Budget = Annotated[
    float | None, typer.Option("--budget", metavar="SECONDS", help="The time that one cell may take, at most.")
]


def run_command(
    specs: Specs, store: Store = None, jobs: Jobs = None, budget: Budget = None, as_json: AsJson = False
) -> None:
    """Run the cells of experiment files.

    Answers are kept in .mlcli/runs.db beside each file, so that a second run
    does only what is missing. Ctrl-C loses nothing that is finished.

    \b
    mlcli run experiments/quickstart.yaml
    mlcli run a.yaml b.yaml --store all.db --jobs 2
    """
    from dataclasses import replace

    from mlcli.cli._running import run_and_show
    from mlcli.experiment.spec import read_experiment
    from mlcli.experiment.store import place_beside

    experiments = [read_experiment(spec) for spec in specs]
    if budget is not None:
        experiments = [replace(experiment, budget=budget) for experiment in experiments]
    run_and_show(experiments, place_of=lambda one: store or place_beside(one), jobs=jobs, as_json=as_json)
