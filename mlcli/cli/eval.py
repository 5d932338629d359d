"""eval: evaluate methods on rows they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli.cli._app import data_names, metric_names
from mlcli.cli._options import (
    MODELS_PANEL,
    SCORES_PANEL,
    SPLITS_PANEL,
    TUNING_PANEL,
    CodeOptions,
    FailUnder,
    Format,
    Jobs,
    JudgedColumnOptions,
    Params,
    ProtocolName,
    Seed,
    Store,
    TuningOptions,
    ViewOptions,
    bounds_of,
)
from mlcli.cli._outputs import PageOptions
from mlcli.core.registry import MODELS

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import ModelSpec, ProtocolSpec

EXAMPLES = (
    "mlcli eval iris -m naive-bayes",
    "mlcli eval my.csv --target price --metric rmse --metric mae",
    "mlcli eval iris --tune --nested",
    "mlcli eval arrests --show fairness",
    "mlcli eval iris -m knn -p k=3 --protocol repeated-stratified-k-fold",
)
ALSO_SHOWN = ("stages", "training")


@dataclass(frozen=True)
class ModelOptions:
    """Which models are evaluated, and how they decide."""

    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="An id, a mapping such as '{use: knn, params: {k: 3}}', or a saved model; repeatable. "
            "[default: a panel of methods for the task]",
            autocompletion=MODELS.names,
            rich_help_panel=MODELS_PANEL,
        ),
    ] = None
    params: Params = None
    decide: Annotated[
        str | None,
        typer.Option(
            "--decide",
            metavar="RULE",
            help="How classes are chosen: f1, youden, cost, expected-cost, equalised-odds, or a mapping such as "
            "'{by: f1, folds: 10}'. How anomalies are flagged: own, 'top 5', 'share 0.05' or 'p < 0.05'.",
            rich_help_panel=MODELS_PANEL,
        ),
    ] = None

    def specs(self, tune: Mapping[str, Any] | None) -> tuple[ModelSpec, ...] | None:
        """The models, if any are named; ``tune`` holds the settings of tuning that they share."""
        from mlcli.experiment.spec.entries import models_from_text

        return models_from_text(self.models or (), self.params or (), self.decide, tune) or None


@dataclass(frozen=True)
class SplitOptions:
    """How rows are split."""

    protocol: ProtocolName = None
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds", metavar="N", help="The number of folds. [default: 10]", rich_help_panel=SPLITS_PANEL
        ),
    ] = None
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats", metavar="N", help="How often rows are split anew.", rich_help_panel=SPLITS_PANEL
        ),
    ] = None
    test_share: Annotated[
        float | None,
        typer.Option(
            "--test-share",
            metavar="SHARE",
            help="The share of rows that a holdout tests on.",
            rich_help_panel=SPLITS_PANEL,
        ),
    ] = None
    seed: Seed = 1

    def spec(self) -> ProtocolSpec | None:
        """The protocol, if anything was said of it."""
        from mlcli.experiment.spec.entries import protocol_from_text

        return protocol_from_text(
            self.protocol, folds=self.folds, repeats=self.repeats, test_share=self.test_share
        )


@dataclass(frozen=True)
class ScoreOptions:
    """What is measured."""

    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="A score; repeatable, the first one ranks the models. [default: by the task]",
            autocompletion=metric_names,
            rich_help_panel=SCORES_PANEL,
        ),
    ] = None
    average: Annotated[
        str | None,
        typer.Option(
            "--average",
            metavar="HOW",
            help="folds: the mean over the splits; pooled: the score of all predictions together. "
            "[default: by the metric]",
            rich_help_panel=SCORES_PANEL,
        ),
    ] = None
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            metavar="COSTS",
            help="What wrong predictions cost: '{actual: {predicted: value}}'. Adds the score cost.",
            rich_help_panel=SCORES_PANEL,
        ),
    ] = None
    fail_under: FailUnder = None


def eval_command(
    *,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="CSV files, folders of them, or shipped datasets such as iris.",
            autocompletion=data_names,
        ),
    ],
    models: ModelOptions,
    columns: JudgedColumnOptions,
    splits: SplitOptions,
    scores: ScoreOptions,
    tuning: TuningOptions,
    nested: Annotated[
        bool,
        typer.Option(
            "--nested",
            help="Add a row for the best of the models, selected anew in each split.",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = False,
    code: CodeOptions,
    views: ViewOptions,
    pages: PageOptions,
    format: Format = "text",
    store: Store = None,
    jobs: Jobs = None,
) -> None:
    """Evaluate methods on rows they have not seen.

    mlcli eval my.csv is enough: it guesses the target, runs a panel of methods
    and a baseline, and says which is best and how sure that is.

    --show also takes stages (scores at stages of a fit, such as rounds of
    boosting) and training (scores on training rows). What else an experiment
    can set, such as budgets and averages, belongs into a file: mlcli init.
    """
    from mlcli.api.running import RunOptions
    from mlcli.cli._running import run_and_show
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.data.shipped import table_files
    from mlcli.experiment.spec.cells import AVERAGES, Experiment
    from mlcli.experiment.spec.datasets import metrics_of_class
    from mlcli.experiment.spec.shorthands import costs_from_text, with_costs

    shown = views.wanted(ALSO_SHOWN)
    if scores.average is not None and scores.average not in AVERAGES:
        what = f"--average is one of {', '.join(AVERAGES)}; was given '{scores.average}'"
        raise UsageError(what, hint=did_you_mean(scores.average, AVERAGES, "ways"))
    experiment = Experiment(
        data=tuple(columns.of(file) for name in data for file in table_files(name)),
        models=models.specs(tuning.settings()),
        protocol=splits.spec(),
        average=scores.average or "",
        metrics=metrics_of_class(scores.metrics or (), columns.positive),
        cost=costs_from_text(scores.cost) if scores.cost else None,
        seed=splits.seed,
        stages="stages" in shown,
        training="training" in shown,
        tune=tuning.settings(),
        nested=nested,
        expect=bounds_of(scores.fail_under),
        reference_models=True,
    )
    details = views.details(ALSO_SHOWN)
    run_and_show([with_costs(experiment)], store, RunOptions(jobs), details, pages, format)
