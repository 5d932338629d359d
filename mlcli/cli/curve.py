"""curve: draw learning, validation, stage or bias-variance curves."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import (
    SPLITS_PANEL,
    CodeOptions,
    ColumnOptions,
    Data,
    Format,
    Jobs,
    Metric,
    Models,
    Params,
    ProtocolName,
    Seed,
)

KINDS = ("learning", "validation", "stages", "bias-variance")

EXAMPLES = (
    "mlcli curve learning wdbc -m naive-bayes",
    "mlcli curve validation wdbc -m knn -p k=1..25",
    "mlcli curve stages wdbc -m newton-boosting",
    "mlcli curve bias-variance wdbc -m decision-tree",
)


def curve_command(
    *,
    kind: Annotated[
        str,
        typer.Argument(metavar="CURVE", help=f"One of {', '.join(KINDS)}.", autocompletion=lambda: list(KINDS)),
    ],
    data: Data,
    models: Models,
    params: Params = None,
    code: CodeOptions,
    columns: ColumnOptions,
    protocol: ProtocolName = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="LIST",
            help="Shares or numbers of training rows, such as 0.1,0.5,1.",
            rich_help_panel=SPLITS_PANEL,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="N",
            help="The number of folds. [default: 5 for learning curves, else by the task]",
            rich_help_panel=SPLITS_PANEL,
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            metavar="N",
            help="How often rows are split, or training sets drawn.",
            rich_help_panel=SPLITS_PANEL,
        ),
    ] = None,
    metric: Metric = None,
    seed: Seed = 1,
    jobs: Jobs = None,
    format: Format = "text",
) -> None:
    """Draw learning, validation, stage or bias-variance curves.

    Each point shows the score on test rows with its spread over the splits,
    and the score on training rows.

    learning: would more training rows help? validation: which value of a
    parameter is best (-p k=1..25, -p C=0.1,1,10, or polynomial.degree=1..9 of
    a step)? stages: how many rounds, trees or epochs? bias-variance: how large
    are the bias and variance of predictions, also over values of a parameter?
    """
    from mlcli.api.running import draw_curve
    from mlcli.cli._console import show_result
    from mlcli.cli._running import Progress
    from mlcli.experiment.spec.sweeps import CurveRequest

    split = {name: value for name, value in {"folds": folds, "repeats": repeats}.items() if value is not None}
    request = CurveRequest(kind, tuple(models), tuple(params or ()), sizes, split, protocol)
    curve = draw_curve(request, columns.of(data), metric=metric, seed=seed, jobs=jobs, watch=Progress)
    show_result(curve, format)
