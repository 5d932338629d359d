"""A model on trial: judged beside its baselines and a strong rival, which is what checks of models look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.tables import Array
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.learner import Trained, train
from mlcli.experiment.spec.cells import Cell, Experiment, ModelSpec
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.base import Metric
from mlcli.report.scored import Scored, judged, scored

RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple method for each kind of task: what is worse or slower needs a reason."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What is known of a model on a dataset; what takes long is done once, and only if a check asks for it."""

    model: Scored
    baseline: Scored
    rival: Scored | None = None
    """None where the model is the rival, or its kind of task has none."""

    @property
    def cell(self) -> Cell:
        """The model with its dataset, steps and protocol."""
        return self.model.result.cell

    @property
    def dataset(self) -> Dataset:
        """What it was judged on."""
        assert isinstance(self.cell.dataset, Dataset)
        return self.cell.dataset

    @property
    def metric(self) -> Metric:
        """The score that decides."""
        return self.model.metrics[0]

    def scores(self, one: Scored) -> Array:
        """The deciding score of each split, where it is defined."""
        values = [self.metric.compute(answers) for answers in judged(one.result)]
        return np.array([value for value in values if isinstance(value, float)])

    @cached_property
    def trained(self) -> Trained:
        """The model, learned from all rows."""
        return train(self.dataset, self.cell.kind, self.cell.model, self.cell.steps, self.cell.seed)


def tried(experiment: Experiment, *, jobs: int | None = None) -> Trial:
    """The trial of the one model of an experiment on its one dataset; training rows are answered, too."""
    cells = plan(replace(experiment, training=True))
    asked = _the_one(cells, experiment.models or ())
    beside = RIVALS.get(asked.kind, "")
    if beside and beside != asked.model.use:
        cells = plan(replace(experiment, training=True, models=(*(experiment.models or ()), ModelSpec(beside))))
        asked = _the_one(cells, experiment.models or ())
    found = [scored(result, experiment.metrics) for result in run(cells, jobs=jobs)]
    of_cell = dict(zip(cells, found, strict=True))
    rival = next((one for one in found if one.result.cell.model.use == beside and one.done), None)
    baseline = next(one for one in found if one.is_baseline)
    model = of_cell[asked]
    if not model.done:
        raise UsageError(f"{asked.label} on {asked.dataset.name} did not end well: {model.result.why}")
    return Trial(model, baseline, rival if rival is not model else None)


def _the_one(cells: Sequence[Cell], models: Sequence[ModelSpec]) -> Cell:
    """The cell of the model that is on trial."""
    if len(models) != 1 or len({cell.dataset.name for cell in cells}) != 1:
        raise UsageError("one model on one dataset is looked at", hint="such as mlcli diagnose iris -m knn")
    wanted = models[0]
    cell = next(cell for cell in cells if cell.model.saved == wanted.saved and wanted.use in ("", cell.model.use))
    if cell.skipped:
        raise UsageError(cell.skipped)
    return cell
