"""compare: test the models of stored runs against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._app import metric_names, run_numbers
from mlcli.cli._options import Format, StoreToRead
from mlcli.core.errors import UsageError

EXAMPLES = (
    "mlcli compare experiments/several_datasets.yaml --store several.db",
    "mlcli compare 1 2 --store runs.db --metric f1-macro --rope 0.02",
    "mlcli compare 1 --store runs.db --metric accuracy --test mcnemar",
    "mlcli compare scores.csv",
)


def compare_command(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|FILE",
            help="Runs by number, an experiment file, or a CSV file of scores.",
            autocompletion=run_numbers,
        ),
    ],
    store: StoreToRead = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="The score to compare, or all; repeatable. [default: the first of the run]",
            autocompletion=metric_names,
        ),
    ] = None,
    rope: Annotated[
        float,
        typer.Option(
            "--rope",
            metavar="SIZE",
            help="The region of practical equivalence: smaller differences count as ties.",
            min=0,
        ),
    ] = 0.01,
    against: Annotated[
        str, typer.Option("--against", metavar="MODEL", help="Compare every model with this one only.")
    ] = "",
    test: Annotated[
        str,
        typer.Option(
            "--test", metavar="NAME", help="mcnemar, 5x2 or corrected-t. [default: by the metric and the splits]"
        ),
    ] = "",
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="The scores of the CSV file are errors.")
    ] = False,
    format: Format = "text",
) -> None:
    """Test the models of stored runs against each other.

    They are compared on each dataset and over all. From five datasets on, ranks
    are tested by Friedman and Nemenyi, pairs by Wilcoxon with Holm's
    correction, and a Bayesian test gives the probability of a gain.
    """
    from mlcli.api.stored_runs import compare_runs, compare_scores
    from mlcli.cli._console import show_result, stored_run_shown
    from mlcli.experiment.store.store import store_of
    from mlcli.scoring.comparison import refuse_unknown_test

    refuse_unknown_test(test)
    if Path(sources[0]).suffix.lower() in (".csv", ".tsv", ".txt"):
        if len(sources) > 1:
            raise UsageError("one CSV of scores is compared at a time", hint="put all scores into one file")
        if test:
            raise UsageError("--test needs the answers of runs", hint="a CSV has scores only")
        if len(metrics or ()) > 1:
            raise UsageError("a CSV of scores is compared by one metric at a time", hint="leave the others out")
        metric = metrics[0] if metrics else ""
        comparison = compare_scores(
            Path(sources[0]), metric, lower_is_better=lower_is_better, rope=rope, against=against
        )
        show_result(comparison, format)
        return
    if lower_is_better:
        raise UsageError("--lower-is-better is for a CSV of scores", hint="a metric knows its direction")
    with stored_run_shown(store_of(sources[0], store)):
        comparison = compare_runs(sources, store, metrics=metrics or (), rope=rope, against=against, test=test)
        show_result(comparison, format)
