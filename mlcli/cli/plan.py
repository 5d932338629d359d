"""plan: show the cells that experiment files would run, and run nothing."""

from __future__ import annotations

from mlcli.cli._options import Format, Specs

EXAMPLES = ("mlcli plan experiments/weather.yaml",)


def plan_command(specs: Specs, format: Format = "text") -> None:
    """Show the cells that experiment files would run, and run nothing.

    Steps that a model needs (impute, one-hot, standardise) are inserted and
    shown; models that cannot do a dataset's task are named with the reason.
    """
    from mlcli.cli._console import show_as
    from mlcli.experiment.spec.file import read_experiment
    from mlcli.experiment.spec.plan import plan
    from mlcli.report.lists import plan_as_json, plan_of

    cells = [cell for spec in specs for cell in plan(read_experiment(spec))]
    show_as(format, lambda: plan_of(cells), lambda: plan_as_json(cells))
