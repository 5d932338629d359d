"""train: train a method on all rows, show what it learned, and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import (
    OUTPUT_PANEL,
    CodeOptions,
    Data,
    Format,
    JudgedColumnOptions,
    Models,
    Params,
    Seed,
    TuningOptions,
)
from mlcli.cli._outputs import PageOptions, refuse_to_replace

EXAMPLES = (
    "mlcli train weather_nominal -m naive-bayes",
    "mlcli train iris -m svm --tune -o svm.mlcli",
    "mlcli train weather_nominal -m bayes-net --ask 'P(play | outlook=sunny)'",
    "mlcli train penguins -m decision-tree -p max_depth=3 -o tree.mlcli",
)


def train_command(
    *,
    data: Data,
    models: Models,
    params: Params = None,
    code: CodeOptions,
    columns: JudgedColumnOptions,
    seed: Seed = 1,
    tuning: TuningOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Save the model to this file, for mlcli predict, explain and eval.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            "--ask",
            metavar="QUESTION",
            help="Ask a bayes-net or mrf: 'P(a | b=x)', 'argmax a | b=x', or 'a _||_ b | c'; repeatable.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    pages: PageOptions,
    format: Format = "text",
) -> None:
    """Train a method on all rows, show what it learned, and save it.

    How well it predicts, only rows that it has not seen can tell: mlcli eval.
    """
    from mlcli.api.models import train_model
    from mlcli.cli._console import remark, show_result
    from mlcli.cli._running import Progress
    from mlcli.experiment.spec.entries import models_from_text

    refuse_to_replace(output, pages.force)
    tune = tuning.settings()
    model = train_model(
        columns.of(data),
        models_from_text(models, params or (), tune=tune),
        seed=seed,
        tune=tune,
        questions=ask or (),
        to_save=output is not None,
        watch=Progress,
    )
    show_result(model, format)
    pages.write(lambda: model.document)
    if output is not None:
        model.save(output)
        remark(f"saved as {output}; next: mlcli predict {output} DATA")
