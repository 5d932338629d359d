"""curve: draw a score over training rows, values of a parameter, or stages of a fit."""

from __future__ import annotations

from mlcli.cli._completion import metric_names
from mlcli.cli._declaring import argument, option
from mlcli.cli._options import ColumnOptions, Data, Format, Jobs, Params, ProtocolName, Seed
from mlcli.core.registry import MODELS

KINDS = ("learning", "validation", "stages", "bias-variance")

EXAMPLES = (
    "mlcli curve learning wdbc -m naive-bayes",
    "mlcli curve validation wdbc -m knn -p k=1..25",
    "mlcli curve stages wdbc -m newton-boosting",
    "mlcli curve bias-variance wdbc -m decision-tree",
)


def curve_command(
    *,
    kind: str = argument("CURVE", f"One of {', '.join(KINDS)}.", lambda: list(KINDS)),
    data: Data,
    models: list[str] = option("--model -m", "MODEL", "An id or mapping; repeatable.", MODELS.names, default=...),
    columns: ColumnOptions,
    params: Params = None,
    protocol: ProtocolName = None,
    sizes: str | None = option("--sizes", "LIST", "Shares of the training rows, or numbers of them: 0.1,0.5,1."),
    folds: int | None = option(
        "--folds", "N", "Folds, each judged once. [default: 5 of learning curves, else by the task]"
    ),
    repeats: int | None = option("--repeats", "N", "Times that rows are split, or training sets drawn."),
    metric: str | None = option("--metric", "NAME", "The score. [default: the first of the task]", metric_names),
    seed: Seed = 1,
    jobs: Jobs = None,
    format: Format = "text",
) -> None:
    """Draw a score over training rows, values of a parameter, or stages of a fit.

    Each point has the score of judged rows with its spread over splits, and
    that of training rows beside it. learning: are more rows worth having?
    validation: one parameter takes several values (k=1..25, C=0.1,1,10,
    or polynomial.degree=1..9 of a step).
    stages: rounds, trees or epochs of one fit. bias-variance: how far the
    answers of many training sets are off, and how much they differ, also
    over the values of one parameter.
    """
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import watched
    from mlcli.experiment.run.batch import run
    from mlcli.experiment.spec.plan import plan
    from mlcli.experiment.spec.sweeps import CurveRequest, experiment_of
    from mlcli.report.formats._registry import CSV
    from mlcli.report.views.curves import sweep_as_json, sweep_as_table, sweep_of

    split = {"folds": folds, "repeats": repeats}
    given = {name: value for name, value in split.items() if value is not None}
    asked = CurveRequest(kind, tuple(models), tuple(params or ()), sizes, given, protocol)
    sweep = experiment_of(asked, columns.of(data), metric, seed)
    cells = plan(sweep.experiment)
    with watched(cells) as progress:
        results = run(cells, jobs=jobs, on_progress=progress)
    show_as(format, sweep_as_table if format == CSV else sweep_of, sweep_as_json, sweep, results)
