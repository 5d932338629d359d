"""How useful some of the columns are to a model: its loss about training rows that it has not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.configuration import behind_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.registry import MODELS
from mlcli.core.tables import Array, Rows
from mlcli.engines.ensemble import fitted, outputs
from mlcli.prepare._selecting import Selection
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

OWN_BASE = {Classifier: "naive-bayes", Regressor: "linear-regression"}
Places = tuple[int, ...]
"""Some of the columns, in order."""


@dataclass(kw_only=True, eq=False)
class ByModel(Selection):
    """Keeps the columns that serve a model."""

    base: Model | None = model_param(
        None,
        "the model that columns are to serve; none: naive-bayes for classes, linear-regression for numbers",
        of=(Classifier, Regressor),
    )

    @property
    def accepts(self) -> Accepts:
        """Anything: the model stands behind the steps that it needs."""
        return Accepts(nominal=True, missing=True, weights=all(model.accepts.weights for model in self.nested()))

    def base_for(self, data: SupervisedRows) -> Model:
        """The model that was asked for, or that of the kind of task."""
        made: Model = self.base or MODELS.load(OWN_BASE[data.base])()
        return made


@dataclass(frozen=True, eq=False)
class Usefulness:
    """The loss of a model that sees some of the columns, over splits of the training rows."""

    model: Model
    data: SupervisedRows
    splits: Sequence[tuple[Rows, Rows]]
    """The rows that are learned from and the rows that are judged, of each split."""
    seed: int
    known: dict[Places, float] = field(default_factory=dict)

    def loss(self, places: Places) -> float:
        """The mean loss over judged rows: the error of classes, the squared error of values."""
        if places not in self.known:
            losses, weights = zip(*(self._losses(places, *split) for split in self.splits), strict=True)
            self.known[places] = float(np.average(np.concatenate(losses), weights=np.concatenate(weights)))
        return self.known[places]

    def _losses(self, places: Places, train: Rows, test: Rows) -> tuple[Array, Array]:
        columns = self.data.table.columns
        seen = self.data.with_table(self.data.table.select(columns[place].name for place in places))
        model = behind_steps(self.model, seen.table.columns) if places else MODELS.load("zero-r")()
        learned = fitted(model, seen.take(train), np.random.default_rng(self.seed))
        judged, base = seen.take(test), _base_of(seen)
        losses: Array = base.losses(learned.final, judged, outputs(learned, judged.table, base))
        return losses, judged.weights


def _base_of(data: SupervisedRows) -> Any:
    return data.base
