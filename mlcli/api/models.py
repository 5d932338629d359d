"""``mlcli.train`` and ``mlcli.load``: trained models, which predict, explain and draw rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.api import Report, Watch, unwatched
from mlcli.api.experiments import Entry, Settings, dataset_spec, model_entries, plain
from mlcli.api.running import error_of_skipped
from mlcli.core.errors import MlcliWarning, Problem, UsageError, raise_all
from mlcli.core.findings import Explanation
from mlcli.core.names import listed
from mlcli.core.pipeline import answer_to, decision_in_words
from mlcli.core.registry import add_plugins
from mlcli.core.registry import allow_imports as allow
from mlcli.core.strict_yaml import YamlNode
from mlcli.data.dataset import Dataset
from mlcli.data.source import as_numbers, code_among, source_of_frame
from mlcli.experiment.results import Trained
from mlcli.experiment.run.preparation import Learner
from mlcli.experiment.run.preparation import train as train_cell
from mlcli.experiment.saved.model_file import asking, load_model, refuse_code, save_model
from mlcli.experiment.saved.saved_model import SavedModel
from mlcli.experiment.spec.cells import TUNED, UNSPLIT, WHOLE, Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.entries import models_of, tuning_of
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.shorthands import Settings as TuningSettings
from mlcli.experiment.spec.suitability import refuse_long_work
from mlcli.report.columns import Columns, predictions_of, sample_columns
from mlcli.report.document import Document
from mlcli.report.views.trained_model import (
    MOST_EXPLAINED,
    ExplainedAnswer,
    SavedModelRecord,
    TrainedRecord,
    answers_explained,
    explained_answers_of,
    saved_model_of,
    saved_model_record,
    trained_of,
    trained_record,
)

if TYPE_CHECKING:
    import pandas as pd

    from mlcli.api.experiments import Data
    from mlcli.data.new_rows import AlignedRows

UNSAVED = Path("the model")
"""What messages call a model that has no file."""


@dataclass(frozen=True)
class Predictions:
    """Predictions of new rows, as columns of text."""

    count: int
    answers: Columns
    copied: Columns
    """Columns of the rows that the model does not use, such as ids."""
    decision_rule: str
    """How the model decides, where that is set apart from its probabilities; else empty."""

    @property
    def columns(self) -> Columns:
        """The rows numbered from 1, the copied columns, and the predictions."""
        return {"row": [str(number + 1) for number in range(self.count)], **self.copied, **self.answers}


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Report):
    """Explained predictions; ``left_out`` is the number of rows that are not explained."""

    explained: Sequence[ExplainedAnswer]
    left_out: int = 0

    @property
    def document(self) -> Document:
        """The explanation of each row."""
        return explained_answers_of(self.explained, self.left_out)

    @property
    def record(self) -> Sequence[ExplainedAnswer]:
        """The same as ``--json`` prints it."""
        return self.explained


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel(Report):
    """A model that has learned, with what it learned from."""

    saved: SavedModel
    path: Path = UNSAVED
    cell: Cell | None = None
    trained: Trained | None = None
    answers: Explanation = ()
    """Its answers to the questions that were asked of it."""

    @property
    def document(self) -> Document:
        """What it has learned."""
        if self.cell is None or self.trained is None:
            return saved_model_of(self.path.name, self.saved)
        return trained_of(self.cell, self.trained, self.answers)

    @property
    def record(self) -> TrainedRecord | SavedModelRecord:
        """The same as ``--json`` prints it."""
        if self.cell is None or self.trained is None:
            return saved_model_record(self.saved)
        return trained_record(self.cell, self.trained, self.answers)

    def predict(self, data: Data, *, probabilities: bool = False, log_density: bool = False) -> pd.DataFrame:
        """Predictions of new rows, with the columns of ``mlcli predict`` and the index of the frame.

        Columns that the model does not know are ignored. Values unlike those of training are warned of.
        """
        import pandas as pd

        answers = self.predictions(data, probabilities=probabilities, log_density=log_density).answers
        index = None if isinstance(data, str | Path) else data.index
        return pd.DataFrame({name: _typed_cells(cells) for name, cells in answers.items()}, index=index)

    def predictions(
        self, data: Data, *, probabilities: bool = False, log_density: bool = False, confidence: bool = False
    ) -> Predictions:
        """Predictions of new rows as text, with the columns that the model does not use."""
        rows = self._new_rows(data)
        with asking(self.path):
            answers = predictions_of(
                self.saved, rows, probabilities=probabilities, evidence=log_density, confidence=confidence
            )
        copied: Columns = {}
        for name in rows.extra:
            if name in ("row", *answers):
                _warn(f"column '{name}' of the file is not copied: the predictions have a column of that name")
            else:
                copied[name] = rows.text(name)
        return Predictions(len(rows), answers, copied, decision_in_words(self.saved.pipeline))

    def explain(self, data: Data | dict[str, str], rows: Sequence[int] = ()) -> Explanations:
        """Explain the predictions of some rows, numbered from 1; of the first 20 if none are named."""
        new_rows = self._new_rows(data)
        with asking(self.path):
            explained_rows = answers_explained(self.saved, new_rows, rows)
        return Explanations(explained_rows, 0 if rows else max(len(new_rows) - MOST_EXPLAINED, 0))

    def sample(self, count: int = 10, seed: int = 1) -> Columns:
        """New rows drawn from a generative model, as columns of text."""
        return sample_columns(self.saved, count, seed)

    def save(self, path: str | Path) -> None:
        """Write it to a file, for ``mlcli.load``, and for mlcli predict, explain and eval in the shell."""
        save_model(Path(path), self.saved)

    def _new_rows(self, data: Data | dict[str, str]) -> AlignedRows:
        if isinstance(data, str | Path):
            rows = self.saved.new_rows(str(data))
        else:
            rows = self.saved.new_rows(data if isinstance(data, dict) else source_of_frame(data))
        for warning in rows.warnings():
            _warn(warning)
        if absent := [name for name in rows.absent_features if name in self.saved.optional - self.saved.hidden]:
            _warn(f"columns that the data lack count as missing: {listed(absent)}")
        return rows


def _warn(sentence: str) -> None:
    warnings.warn(sentence, MlcliWarning, stacklevel=4)


def load(
    path: str | Path, *, plugins: Sequence[str | Path] = (), allow_imports: Sequence[str] = ()
) -> TrainedModel:
    """A model that was saved by ``mlcli train -o`` or ``save``; of a method of your own with its file.

    Of other packages it may import only the classes in ``allow_imports``.
    """
    add_plugins(plugins)
    allow(allow_imports)
    return TrainedModel(load_model(Path(path)), Path(path))


def train(
    data: Data,
    model: Entry,
    *,
    target: str | None = None,
    task: str | None = None,
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    sidecar: Settings | None = None,
    tune: object = False,
    seed: int = 1,
    plugins: Sequence[str | Path] = (),
) -> TrainedModel:
    """Train a model on all rows; ``mlcli.eval`` tells how well it predicts."""
    add_plugins(plugins)
    problems: list[Problem] = []
    specs = models_of(model_entries([model]), problems)
    settings = tuning_of(YamlNode(plain(tune)), problems)
    raise_all(UsageError, problems)
    dataset = dataset_spec(data, target, task, sensitive, drop, positive, sidecar=sidecar)
    return train_model(dataset, specs, seed=seed, tune=settings)


def train_model(
    dataset: DataSpec,
    models: Sequence[ModelSpec],
    *,
    seed: int = 1,
    tune: TuningSettings | None = None,
    questions: Sequence[str] = (),
    to_save: bool = False,
    watch: Watch = unwatched,
) -> TrainedModel:
    """Train the one model of ``models`` on all rows, with the steps that it needs.

    With ``to_save`` a model that cannot be saved is refused before it is trained.
    """
    cell = _cell_to_train(dataset, models, seed, tune)
    if to_save:
        refuse_code(Learner(cell.dataset.content, cell.model, cell.steps, seed).parts())
    work = [replace(cell, protocol=ProtocolSpec(WHOLE))]
    refuse_long_work(work)
    with watch(work):
        trained = train_cell(cell)
    answers = tuple(answer for question in questions for answer in answer_to(trained.pipeline, question))
    assert isinstance(cell.dataset, Dataset)
    return TrainedModel(SavedModel.of(trained, cell.dataset, seed), UNSAVED, cell, trained, answers)


def _cell_to_train(dataset: DataSpec, models: Sequence[ModelSpec], seed: int, tune: TuningSettings | None) -> Cell:
    """The model with its dataset and steps, planned as in an experiment."""
    if len(models) != 1:
        what = f"one model is trained at a time, and these are {len(models)}"
        raise UsageError(what, hint="train them one by one, or compare them with eval")
    (model,) = models
    if model.saved is not None:
        what = f"{model.label} has learned already"
        raise UsageError(what, hint="use it with mlcli predict, or evaluate it with mlcli eval")
    cells = plan(Experiment((dataset,), tuple(models), UNSPLIT, seed=seed, tune=tune))
    cell = next(cell for cell in cells if cell.model.use in (model.use, TUNED))
    if cell.skipped:
        raise error_of_skipped([cell])
    return cell


def _typed_cells(cells: list[str]) -> Any:
    """Numbers where all cells are numbers, whole ones where all are; codes such as 007 stay text."""
    numbers = as_numbers(cells)
    if numbers is None or code_among(cells, numbers):
        return cells
    return numbers.astype(np.int64) if all(cell.lstrip("-").isdigit() for cell in cells) else numbers
