"""eval: evaluate methods on rows they have not seen; start here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlcli.cli._completion import data_names, metric_names
from mlcli.cli._declaring import argument, flag, option
from mlcli.cli._options import (
    Format,
    GateOptions,
    Jobs,
    JudgedColumnOptions,
    NoShortcut,
    Params,
    ProtocolName,
    Seed,
    Store,
    TuningOptions,
    ViewOptions,
)
from mlcli.cli._outputs import PageOptions
from mlcli.core.registry import MODELS

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import ModelSpec, ProtocolSpec
    from mlcli.experiment.spec.shorthands import Settings


@dataclass(frozen=True)
class ModelOptions:
    """Which models, and how they decide."""

    models: list[str] | None = option(
        "--model -m",
        "MODEL",
        "An id, '{use: knn, params: {k: 3}}', or a saved model; repeatable. [default: a panel for the task]",
        MODELS.names,
    )
    params: Params = None
    decide: str | None = option(
        "--decide",
        "RULE",
        "How classes are decided: f1, youden, cost, expected-cost, equalised-odds,"
        " or '{by: f1, folds: 10}'; which rows are flagged: own, 'top 5', 'share 0.05', 'p < 0.05'.",
    )

    def specs(self, tune: Settings | None) -> tuple[ModelSpec, ...] | None:
        """The models that are asked for, if any, with the settings of tuning that all share."""
        from mlcli.experiment.spec.entries import models_from_text

        return models_from_text(self.models or (), self.params or (), self.decide, tune) or None


@dataclass(frozen=True)
class SplitOptions:
    """How rows are split."""

    protocol: ProtocolName = None
    folds: int | None = option("--folds", "N", "Folds, each tested once. [default: 10]")
    repeats: int | None = option("--repeats", "N", "How many times rows are split anew.")
    test_share: float | None = option("--test-share", "SHARE", "The share of rows that a holdout tests on.")

    def spec(self) -> ProtocolSpec | None:
        """The protocol that is asked for, if any."""
        from mlcli.experiment.spec.entries import protocol_from_text

        return protocol_from_text(
            self.protocol, folds=self.folds, repeats=self.repeats, test_share=self.test_share
        )


@dataclass(frozen=True)
class ScoreOptions:
    """What is measured."""

    average: str | None = option("--average", "HOW", "folds: the mean over splits; pooled: all answers at once.")
    metrics: list[str] | None = option(
        "--metric", "NAME", "A score; repeatable, the first decides. [default: by the task]", metric_names
    )
    cost: str | None = option(
        "--cost", "COSTS", "What answers cost: '{actual: {predicted: value}}'; adds a score."
    )


@dataclass(frozen=True)
class FitOptions:
    """How models are fitted, and of what else they are asked."""

    seed: Seed = 1
    no_shortcut: NoShortcut = False
    stages: bool = flag("--stages", "Judge models at stages of their fits, too, such as rounds of boosting.")
    training: bool = flag("--training", "Judge models on their training rows, too.")
    nested: bool = flag("--nested", "Judge the best of the models, too, chosen in each split for itself.")


EXAMPLES = (
    "mlcli eval iris -m naive-bayes",
    "mlcli eval my.csv --target price --metric rmse --metric mae",
    "mlcli eval iris --tune --nested",
    "mlcli eval arrests --fair",
    "mlcli eval iris -m knn -p k=3 --protocol repeated-stratified-k-fold",
)


def eval_command(
    *,
    data: list[str] = argument(
        "DATA", "CSV files, folders of them, or shipped datasets such as iris.", data_names
    ),
    models: ModelOptions,
    columns: JudgedColumnOptions,
    splits: SplitOptions,
    scores: ScoreOptions,
    fits: FitOptions,
    tuning: TuningOptions,
    views: ViewOptions,
    gates: GateOptions,
    pages: PageOptions,
    store: Store = None,
    jobs: Jobs = None,
    format: Format = "text",
) -> None:
    """Evaluate methods on rows they have not seen.

    mlcli eval my.csv is enough: it guesses the target, runs a panel of methods
    beside the baseline, and says which is best and how sure that is.
    """
    from mlcli.api.running import RunOptions
    from mlcli.cli._running import run_and_show
    from mlcli.data.shipped import table_files
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.datasets import metrics_of_class
    from mlcli.experiment.spec.shorthands import costs_from_text, with_costs

    experiment = Experiment(
        data=tuple(columns.of(file) for one in data for file in table_files(one)),
        models=models.specs(tuning.settings()),
        protocol=splits.spec(),
        average=_legal_average(scores.average),
        metrics=metrics_of_class(scores.metrics or (), columns.positive),
        cost=costs_from_text(scores.cost) if scores.cost else None,
        seed=fits.seed,
        shortcuts=not fits.no_shortcut,
        stages=fits.stages,
        training=fits.training,
        tune=tuning.settings(),
        nested=fits.nested,
        expect=gates.bounds(),
        yardsticks=True,
    )
    run_and_show([with_costs(experiment)], lambda _: store, RunOptions(jobs), views, gates, pages, format)


def _legal_average(average: str | None) -> str:
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.experiment.spec.cells import AVERAGES

    if average is not None and average not in AVERAGES:
        what = f"--average is one of {', '.join(AVERAGES)}; was given '{average}'"
        raise UsageError(what, hint=did_you_mean(average, AVERAGES, "ways"))
    return average or ""
