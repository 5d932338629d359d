"""plan: show the cells that experiment files would run, and run nothing."""

from __future__ import annotations

from mlcli.cli._options import Format, Specs

EXAMPLES = ("mlcli plan experiments/weather.yaml",)


def plan_command(specs: Specs, format: Format = "text") -> None:
    """Show the cells that experiment files would run, and run nothing.

    Steps that a model needs (impute, one-hot, standardise) are inserted and
    shown; models that cannot do a dataset's task are named with the reason, and
    so is what cannot be done well, such as a class with fewer rows than folds.
    """
    from mlcli.checks.audit import with_serious_issues
    from mlcli.checks.table import BEFORE_IT_RUNS
    from mlcli.cli._console import show_as
    from mlcli.experiment.spec.file import read_experiment
    from mlcli.experiment.spec.plan import plan
    from mlcli.report.lists import plan_as_json, plan_of

    planned = [plan(read_experiment(spec)) for spec in specs]
    cells = [cell for of_one in planned for cell in with_serious_issues(of_one, BEFORE_IT_RUNS)]
    show_as(format, lambda: plan_of(cells), lambda: plan_as_json(cells))
