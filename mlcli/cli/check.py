"""check: find every problem of experiment files, and run nothing."""

from __future__ import annotations

import typer

from mlcli.cli._options import Format, Specs

HEADER = ("file", "where", "problem", "advice")
EXAMPLES = ("mlcli check experiments/weather.yaml experiments/quickstart.yaml",)


def check_command(specs: Specs, format: Format = "text") -> None:
    """Find every problem of experiment files, and run nothing.

    Every file is read to its end: names, parameters, datasets, metrics. The
    exit code is 0 when all can be run.
    """
    from mlcli.cli._boundary import print_problems
    from mlcli.cli._console import show_as, show_line
    from mlcli.core.errors import ExitCode, ExperimentError
    from mlcli.experiment.spec.file import check
    from mlcli.report.document import grid
    from mlcli.report.formats._registry import TEXT

    problems = {spec: check(spec) for spec in specs}
    rows = [(str(spec), one.where, one.what, one.hint) for spec, found in problems.items() for one in found]
    if format != TEXT:
        table = grid(HEADER, rows)
        show_as(format, lambda: (table,), lambda: [dict(zip(HEADER, row, strict=True)) for row in rows])
    for spec, found in problems.items() if format == TEXT else ():
        if found:
            print_problems(ExperimentError(*found))
        else:
            show_line(f"{spec}: no problem found")
    if any(problems.values()):
        raise typer.Exit(ExitCode.EXPERIMENT)
