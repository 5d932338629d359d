"""eval: evaluate methods on rows they have not seen; start here."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._completion import data_names, metric_names
from mlcli.cli._options import (
    Classes,
    Cost,
    Curves,
    Decide,
    Drop,
    FailUnder,
    Fair,
    Format,
    Jobs,
    Junit,
    NoShortcut,
    Params,
    Positive,
    ProtocolName,
    Rule,
    Search,
    Seed,
    Sensitive,
    Spread,
    Stages,
    StepSummary,
    Store,
    Target,
    Task,
    Training,
    Trials,
    Tune,
    Verbose,
    tuning,
)
from mlcli.cli._pages import Html, PictureFormat, Pictures
from mlcli.core.registry import MODELS

Data = Annotated[
    list[str],
    typer.Argument(metavar="DATA", autocompletion=data_names, help="CSV files, or shipped datasets such as iris."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        autocompletion=MODELS.names,
        help="An id, '{use: knn, params: {k: 3}}', or a saved model; repeatable. [default: a panel for the task]",
    ),
]
Folds = Annotated[int | None, typer.Option("--folds", metavar="N", help="Folds, each tested once. [default: 10]")]
Repeats = Annotated[int | None, typer.Option("--repeats", metavar="N", help="How many times rows are split anew.")]
TestShare = Annotated[
    float | None, typer.Option("--test-share", metavar="SHARE", help="The share of rows that a holdout tests on.")
]
Average = Annotated[
    str | None,
    typer.Option("--average", metavar="HOW", help="folds: the mean over splits; pooled: all answers at once."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        autocompletion=metric_names,
        help="A score; repeatable, the first decides. [default: by the task]",
    ),
]

Nested = Annotated[
    bool, typer.Option("--nested", help="Judge the best of the models, too, chosen in each split for itself.")
]

EXAMPLES = (
    "mlcli eval iris -m naive-bayes",
    "mlcli eval my.csv --target price --metric rmse --metric mae",
    "mlcli eval iris --tune --nested",
    "mlcli eval arrests --fair",
    "mlcli eval iris -m knn -p k=3 --protocol repeated-stratified-k-fold",
)


def eval_command(
    data: Data,
    models: Models = None,
    params: Params = None,
    target: Target = None,
    task: Task = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    positive: Positive = None,
    protocol: ProtocolName = None,
    folds: Folds = None,
    repeats: Repeats = None,
    test_share: TestShare = None,
    average: Average = None,
    metrics: Metrics = None,
    decide: Decide = None,
    cost: Cost = None,
    seed: Seed = 1,
    jobs: Jobs = None,
    no_shortcut: NoShortcut = False,
    stages: Stages = False,
    training: Training = False,
    tune: Tune = False,
    search: Search = None,
    trials: Trials = None,
    rule: Rule = None,
    nested: Nested = False,
    store: Store = None,
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
    """Evaluate methods on rows they have not seen.

    mlcli eval my.csv is enough: it guesses the target, runs a panel of methods
    beside the baseline, and says which is best and how sure that is.
    """
    from mlcli.api.running import RunOptions
    from mlcli.cli._pages import Pages
    from mlcli.cli._running import ReportFiles, run_and_show
    from mlcli.experiment.spec.cells import DataSpec, Experiment
    from mlcli.experiment.spec.datasets import of_class
    from mlcli.experiment.spec.decisions import costs_from_text, with_costs
    from mlcli.experiment.spec.expectations import fail_under as bounds
    from mlcli.experiment.spec.model_text import models_from_text, protocol_from_text
    from mlcli.report.results import Parts

    pages = Pages(html, pictures, picture_format)
    experiment = Experiment(
        data=tuple(
            DataSpec(reference, target, task, tuple(sensitive or ()), tuple(drop or ()), positive)
            for reference in data
        ),
        models=models_from_text(models or [], params or [], decide) or None,
        protocol=protocol_from_text(protocol, folds=folds, repeats=repeats, test_share=test_share),
        average=_known(average),
        metrics=of_class(metrics or (), positive),
        cost=costs_from_text(cost) if cost else None,
        seed=seed,
        shortcuts=not no_shortcut,
        stages=stages,
        training=training,
        tune=tuning(tune, search=search, trials=trials, rule=rule),
        nested=nested,
        expect=bounds(fail_under or []),
    )
    run_and_show(
        [with_costs(experiment)],
        place_of=lambda _: store,
        options=RunOptions(jobs),
        parts=Parts(verbose, classes, curves, fair, spread),
        files=ReportFiles(junit, summary),
        pages=pages,
        format=format,
    )


def _known(average: str | None) -> str:
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.experiment.spec.cells import AVERAGES

    if average is not None and average not in AVERAGES:
        what = f"--average is one of {', '.join(AVERAGES)}; was given '{average}'"
        raise UsageError(what, hint=did_you_mean(average, AVERAGES, "ways"))
    return average or ""
