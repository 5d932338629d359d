"""check: find every problem of experiment files, and run nothing."""

from __future__ import annotations

import typer

from mlcli.cli._options import Specs

EXAMPLES = ("mlcli check experiments/weather.yaml experiments/quickstart.yaml",)


def check_command(specs: Specs) -> None:
    """Find every problem of experiment files, and run nothing.

    Every file is read to its end: names, parameters, datasets, metrics. The
    exit code is 0 when all can be run.
    """
    from mlcli.cli._boundary import print_problems
    from mlcli.cli._console import show_line
    from mlcli.core.errors import ExitCode, ExperimentError
    from mlcli.experiment.spec.file import check

    problems = {spec: check(spec) for spec in specs}
    for spec, found in problems.items():
        if found:
            print_problems(ExperimentError(*found))
        else:
            show_line(f"{spec}: no problem found")
    if any(problems.values()):
        raise typer.Exit(ExitCode.EXPERIMENT)
