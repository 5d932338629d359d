"""diagnose: say what is wrong with a model on a dataset, and which options repair it."""

from __future__ import annotations

import typer

from mlcli.cli._completion import metric_names
from mlcli.cli._declaring import flag, option
from mlcli.cli._options import All, ColumnOptions, Data, Format, Jobs, Params, ProtocolName, Seed, Strict
from mlcli.core.registry import MODELS

EXAMPLES = ("mlcli diagnose wine -m knn -p k=120", "mlcli diagnose abalone -m linear-regression --strict")


def diagnose_command(
    *,
    data: Data,
    model: str = option("--model -m", "MODEL", "An id or a mapping.", MODELS.names, default=...),
    columns: ColumnOptions,
    params: Params = None,
    protocol: ProtocolName = None,
    metric: str | None = option(
        "--metric", "NAME", "The score that decides. [default: by the task]", metric_names
    ),
    seed: Seed = 1,
    jobs: Jobs = None,
    everything: All = False,
    verbose: bool = flag("--verbose -v", "Show the tables behind each issue, and the curve."),
    strict: Strict = False,
    format: Format = "text",
) -> None:
    """Say what is wrong with a model on a dataset, and which options repair it.

    Does it overfit or underfit, would more rows help, is it worth more than
    the baseline? What may help is tried on the same splits.
    """
    from mlcli.checks.diagnosed import diagnosed_model, plan_to_diagnose
    from mlcli.checks.diagnosis import diagnosis_as_json, diagnosis_of, issues_of_model
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import watched
    from mlcli.core.errors import ExitCode
    from mlcli.core.issues import is_serious
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.entries import models_from_text, protocol_from_text

    models, splits = models_from_text([model], params or []), protocol_from_text(protocol)
    metrics = (metric,) if metric else ()
    experiment = Experiment((columns.of(data),), models, splits, metrics=metrics, seed=seed)
    plan = plan_to_diagnose(experiment)
    with watched(plan) as progress:
        diagnosed = diagnosed_model(experiment, plan, jobs=jobs, on_progress=progress)
        issues = issues_of_model(diagnosed)
    show_as(
        format,
        lambda: diagnosis_of(diagnosed, issues, everything, verbose),
        lambda: diagnosis_as_json(diagnosed, issues),
    )
    if strict and any(map(is_serious, issues)):
        raise typer.Exit(ExitCode.UNMET)
