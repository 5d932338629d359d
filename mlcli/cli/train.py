"""train: train a method on all rows, show what it learned, and save it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from mlcli.core.errors import UsageError

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Cell, DataSpec

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
    from mlcli.cli._console import remark, show_as
    from mlcli.cli._progress import watched
    from mlcli.core.pipeline import answer_to
    from mlcli.data.dataset import Dataset
    from mlcli.experiment.run.learner import Learner, train
    from mlcli.experiment.saved.model_file import refuse_code
    from mlcli.experiment.spec.cells import WHOLE, ProtocolSpec
    from mlcli.report.views.trained_model import trained_of, trained_record

    refuse_to_replace(output, pages.force)
    if len(models) != 1:
        what = f"mlcli train takes one model, was given {len(models)}"
        raise UsageError(what, hint="train them one by one, or compare them with mlcli eval")
    cell = _cell(columns.of(data), models[0], params or [], seed, tuning.settings())
    assert isinstance(cell.dataset, Dataset)
    if output is not None:
        refuse_code(Learner(cell.dataset.content, cell.model, cell.steps, seed).parts())
    with watched([replace(cell, protocol=ProtocolSpec(WHOLE))]):
        learned = train(cell)
    answers = tuple(found for question in ask or () for found in answer_to(learned.pipeline, question))
    show_as(format, trained_of, trained_record, cell, learned, answers)
    pages.write(lambda: trained_of(cell, learned, answers))
    if output is not None:
        from mlcli.experiment.saved.model_file import save_model
        from mlcli.experiment.saved.saved_model import SavedModel

        save_model(output, SavedModel.of(learned, cell.dataset, seed))
        remark(f"saved as {output}; next: mlcli predict {output} DATA")


def _cell(data: DataSpec, model: str, params: list[str], seed: int, tune: Mapping[str, Any] | None) -> Cell:
    """The one cell of the model, with the steps that it needs, planned as in an experiment."""
    from mlcli.experiment.spec.cells import TUNED, UNSPLIT, Experiment
    from mlcli.experiment.spec.entries import models_from_text
    from mlcli.experiment.spec.plan import plan

    models = models_from_text([model], params, tune=tune)
    if len(models) != 1:
        raise UsageError(f"train takes one model, and this grid makes {len(models)}", hint="see mlcli eval")
    if models[0].saved is not None:
        what = f"{model} has learned already"
        raise UsageError(what, hint="ask it with mlcli predict, or judge it with mlcli eval")
    cells = plan(Experiment((data,), models, UNSPLIT, seed=seed, tune=tune))
    meant = (models[0].use,) if tune is None else (models[0].use, TUNED)
    cell = next(cell for cell in cells if cell.model.use in meant)
    if cell.skipped:
        from mlcli.cli._running import error_of_skipped

        raise error_of_skipped([cell])
    return cell
