"""train: train a method on all rows, show what it learned, save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.cli._declaring import option
from mlcli.cli._options import Data, Format, JudgedColumnOptions, Params, Seed, TuningOptions
from mlcli.cli._outputs import PageOptions, in_a_folder
from mlcli.core.registry import MODELS

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
    model: str = option(
        "--model -m",
        "MODEL",
        "An id, or '{use: knn, params: {k: 3}, steps: [standardise]}'.",
        MODELS.names,
        default=...,
    ),
    columns: JudgedColumnOptions,
    tuning: TuningOptions,
    pages: PageOptions,
    params: Params = None,
    output: Path | None = option(
        "--output -o", "FILE", "Save the model here, for predict and eval.", callback=in_a_folder
    ),
    seed: Seed = 1,
    ask: list[str] | None = option(
        "--ask",
        "QUESTION",
        "Of bayes-net and mrf: 'P(a | b=x)', 'argmax a | b=x', or 'a _||_ b | c' (may be repeated).",
    ),
    format: Format = "text",
) -> None:
    """Train a method on all rows, show what it learned, save it.

    How good it is, only rows that it has not seen can tell: see mlcli eval.
    """
    from dataclasses import replace

    from mlcli.cli._console import remark, show_as
    from mlcli.cli._progress import watched
    from mlcli.core.pipeline import answer_to
    from mlcli.data.dataset import Dataset
    from mlcli.experiment.run.learner import Learner, train
    from mlcli.experiment.saved.model_file import refuse_code
    from mlcli.experiment.spec.cells import WHOLE, ProtocolSpec
    from mlcli.report.views.trained_model import trained_as_json, trained_of

    if output is not None:
        _refuse(output, data)
    cell = _cell(columns.of(data), model, params or [], seed, tuning.settings())
    assert isinstance(cell.dataset, Dataset)
    if output is not None:
        refuse_code(Learner(cell.dataset.content, cell.model, cell.steps, seed).parts())
    with watched([replace(cell, protocol=ProtocolSpec(WHOLE))]):
        learned = train(cell)
    answers = tuple(found for question in ask or () for found in answer_to(learned.pipeline, question))
    show_as(format, trained_of, trained_as_json, cell, learned, answers)
    pages.write(lambda: trained_of(cell, learned, answers))
    if output is not None:
        from mlcli.experiment.saved.model_file import save_model
        from mlcli.experiment.saved.saved_model import SavedModel

        save_model(output, SavedModel.of(learned, cell.dataset, seed))
        remark(f"saved as {output}; next: mlcli predict {output} DATA")


def _refuse(output: Path, data: str) -> None:
    from mlcli.cli._outputs import refuse_to_overwrite
    from mlcli.experiment.saved.model_file import refuse_to_replace

    refuse_to_overwrite(output, data)
    refuse_to_replace(output)


def _cell(data: DataSpec, model: str, params: list[str], seed: int, tune: dict[str, str | int] | None) -> Cell:
    """The one cell of the model, with the steps that it needs, planned as in an experiment."""
    from mlcli.core.errors import UsageError
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
