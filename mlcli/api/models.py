"""``mlcli.train`` and ``mlcli.load``: models that are kept, asked with data frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.api.experiments import Entry, entries_of, one_dataset, plain
from mlcli.api.results import Report
from mlcli.core.errors import MlcliWarning, Problem, UsageError, raise_all
from mlcli.core.located_values import YamlNode
from mlcli.core.plugins import add
from mlcli.core.plugins import allow_imports as allow
from mlcli.data.dataset import Dataset
from mlcli.data.number_text import as_numbers, code_among
from mlcli.data.source import source_of_frame
from mlcli.experiment.run.learner import train as train_cell
from mlcli.experiment.saved.model_file import asking, load_model, save_model
from mlcli.experiment.saved.saved_model import SavedModel
from mlcli.experiment.spec.cells import TUNED, UNSPLIT, WHOLE, Cell, Experiment, ProtocolSpec
from mlcli.experiment.spec.entries import models_of, tuning_of
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.suitability import refuse_long_work
from mlcli.report.columns import predictions_of
from mlcli.report.document import Document, Heading, Sentence, explained
from mlcli.report.views.trained_model import trained_of

if TYPE_CHECKING:
    import pandas as pd

    from mlcli.api.experiments import Data
    from mlcli.data.new_rows import AlignedRows

UNSAVED = Path("the model")
"""What messages call a model that has no file."""


@dataclass(frozen=True, eq=False, repr=False)
class Kept(Report):
    """A model that has learned, ready to be asked."""

    saved: SavedModel
    path: Path = UNSAVED
    report: Document | None = None
    """What was shown when it was trained."""

    @property
    def document(self) -> Document:
        """What it has learned."""
        if self.report is not None:
            return self.report
        final = self.saved.pipeline.final
        rows = f"learned from {self.saved.rows:,} rows of {self.saved.dataset} ({self.saved.kind})"
        return (Heading(final.id, 1), Sentence(rows), *explained(self.saved.pipeline.explain()))

    def predict(self, data: Data, *, probabilities: bool = False, log_density: bool = False) -> pd.DataFrame:
        """What it says of new rows, with the columns of ``mlcli predict`` and the index of the frame.

        Columns of the frame that the model does not know are passed over; what is unusual is warned of.
        """
        import pandas as pd

        rows = self._rows(data)
        with asking(self.path):
            columns = predictions_of(self.saved, rows, probabilities=probabilities, evidence=log_density)
        index = None if isinstance(data, str | Path) else data.index
        return pd.DataFrame({name: _typed_cells(cells) for name, cells in columns.items()}, index=index)

    def save(self, path: str | Path) -> None:
        """Write it to a file, for ``mlcli.load``, and for mlcli predict and eval in the shell."""
        save_model(Path(path), self.saved)

    def _rows(self, data: Data) -> AlignedRows:
        if isinstance(data, str | Path):
            rows = self.saved.new_rows(str(data))
        else:
            rows = self.saved.new_rows(source_of_frame(data))
        for unlike_training in rows.warnings():
            warnings.warn(unlike_training, MlcliWarning, stacklevel=3)
        return rows


def load(path: str | Path, *, plugins: Sequence[str | Path] = (), allow_imports: Sequence[str] = ()) -> Kept:
    """A model that was saved by ``mlcli train -o`` or ``save``; of a method of your own with its file.

    Of other packages it may import only the classes in ``allow_imports``.
    """
    add(plugins)
    allow(allow_imports)
    return Kept(load_model(Path(path)), Path(path))


def train(
    data: Data,
    model: Entry,
    *,
    target: str | None = None,
    task: str | None = None,
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    sidecar: Mapping[str, Any] | None = None,
    tune: Any = False,
    seed: int = 1,
    plugins: Sequence[str | Path] = (),
) -> Kept:
    """Let a model learn from all rows; how good it is, ``mlcli.eval`` tells."""
    add(plugins)
    found: list[Problem] = []
    specs = models_of(entries_of([model]), found)
    settings = tuning_of(YamlNode(plain(tune)), found)
    raise_all(UsageError, found)
    if len(specs) != 1 or specs[0].saved is not None:
        what = "has learned already" if specs[0].saved else f"is a grid of {len(specs)} models; train takes one"
        raise UsageError(f"{model} {what}", hint="see mlcli.eval")
    asked = one_dataset(data, target, task, sensitive, drop, positive, sidecar=sidecar)
    cells = plan(Experiment((asked,), tuple(specs), UNSPLIT, seed=seed, tune=settings))
    return _trained_model(next(cell for cell in cells if cell.model.use in (specs[0].use, TUNED)))


def _trained_model(cell: Cell) -> Kept:
    if cell.skipped:
        raise UsageError(cell.skipped)
    assert isinstance(cell.dataset, Dataset)
    refuse_long_work([replace(cell, protocol=ProtocolSpec(WHOLE))])
    learned = train_cell(cell)
    return Kept(SavedModel.of(learned, cell.dataset, cell.seed), report=trained_of(cell, learned))


def _typed_cells(cells: list[str]) -> Any:
    """Numbers where all cells are numbers, whole ones where all are; codes such as 007 stay text."""
    numbers = as_numbers(cells)
    if numbers is None or code_among(cells, numbers):
        return cells
    return numbers.astype(np.int64) if all(cell.lstrip("-").isdigit() for cell in cells) else numbers
