"""A model on trial: judged beside its baselines and a strong rival, which is what checks of models look at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.checks.association import share_explained, share_right
from mlcli.checks.audited import RIVALS
from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation
from mlcli.core.tables import Array
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.learner import Trained, train
from mlcli.experiment.run.ledger import OnProgress
from mlcli.experiment.spec.cells import Cell, Experiment, ModelSpec
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.base import Metric
from mlcli.report.scoring.differences import difference_between
from mlcli.report.scoring.importance import PermutationImportance, permutation_importance
from mlcli.report.scoring.scored import Scored, badness, judged, scored


@dataclass(frozen=True)
class Gain:
    """How much better a model is than another, whether that is more than chance, and by which test."""

    better: float
    sure: bool
    test: str


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """What is known of a model on a dataset; what takes long is done once, and only if a check asks for it."""

    model: Scored
    baseline: Scored
    rival: Scored | None = None
    """None where the model is the rival, or its kind of task has none."""
    jobs: int | None = None

    @property
    def cell(self) -> Cell:
        """The model with its dataset, steps and protocol."""
        return self.model.cell

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

    def mean(self, one: Scored) -> float:
        """The deciding score over all splits, NaN where it is not defined."""
        summary = one.summaries.get(self.metric.name)
        return summary.mean if summary is not None and summary.mean is not None else math.nan

    def gain_over(self, other: Scored) -> Gain | None:
        """How much better the model is than another; None where that is not defined."""
        mine, theirs = self.mean(self.model), self.mean(other)
        if not (math.isfinite(mine) and math.isfinite(theirs)):
            return None
        found = difference_between(self.model, other, self.metric)
        test = f" ({found.test}, p = {found.p:.2g})" if found.p is not None else ""
        return Gain(badness(self.metric, theirs) - badness(self.metric, mine), found.distinguishable, test)

    @cached_property
    def right_alone(self) -> dict[str, float]:
        """For each feature the share of rows that it alone tells right, or of the variance that it explains."""
        target = self.dataset.schema.the("target")
        if target is None or self.cell.kind not in RIVALS:
            return {}
        truth = self.dataset.table.cells(target.name).astype(np.float64)
        known = truth >= 0 if target.coded else ~np.isnan(truth)
        cells = {one.name: self.dataset.table.cells(one.name)[known] for one in self.dataset.schema.features()}
        if not target.coded:
            return {name: share_explained(of_one, truth[known]) for name, of_one in cells.items()}
        classes = truth[known].astype(np.int32)
        return {name: share_right(of_one, classes, len(target.levels)) for name, of_one in cells.items()}

    @cached_property
    def alone(self) -> dict[str, float]:
        """The same as a part of what the most frequent class leaves to be told."""
        target = self.dataset.schema.the("target")
        if target is None or not target.coded:
            return self.right_alone
        codes = self.dataset.table.cells(target.name).astype(np.intp)
        most = float(np.bincount(codes[codes >= 0]).max() / max(1, (codes >= 0).sum()))
        return {name: (right - most) / (1 - most) if most < 1 else 0.0 for name, right in self.right_alone.items()}

    @cached_property
    def explanation(self) -> Explanation:
        """What the model says of itself, learned from all rows."""
        return self.trained.pipeline.explain()

    @cached_property
    def worth(self) -> PermutationImportance | None:
        """What each column is worth to it on rows that it has not seen."""
        return None if self.cell.model.saved is not None else permutation_importance(self.cell, self.metric)

    @cached_property
    def trained(self) -> Trained:
        """The model, learned from all rows."""
        return train(self.dataset, self.cell.kind, self.cell.model, self.cell.steps, self.cell.seed)


def cells_of_trial(experiment: Experiment) -> list[Cell]:
    """The one model of an experiment on its one dataset, beside its baselines and its rival."""
    cells = plan(replace(experiment, training=True))
    asked = _the_one(cells, experiment.models or ())
    beside = RIVALS.get(asked.kind, "")
    if not beside or beside == asked.model.use:
        return cells
    models = (*(experiment.models or ()), ModelSpec(beside))
    assert isinstance(asked.dataset, Dataset)
    data = tuple(replace(one, source=asked.dataset) for one in experiment.data)
    return plan(replace(experiment, training=True, models=models, data=data))


def tried(
    experiment: Experiment, cells: list[Cell], *, jobs: int | None = None, on_progress: OnProgress | None = None
) -> Diagnosed:
    """The trial of an experiment by its cells; training rows are answered, too."""
    asked = _the_one(cells, experiment.models or ())
    found = [scored(result, experiment.metrics) for result in run(cells, jobs=jobs, on_progress=on_progress)]
    of_cell = dict(zip(cells, found, strict=True))
    beside = RIVALS.get(asked.kind, "")
    rival = next((one for one in found if one.cell.model.use == beside and one.done), None)
    baseline = next(one for one in found if one.is_baseline)
    model = of_cell[asked]
    if not model.done:
        raise UsageError(f"{asked.label} on {asked.dataset.name} did not end well: {model.result.why}")
    return Diagnosed(model, baseline, rival if rival is not model else None, jobs)


def _the_one(cells: Sequence[Cell], models: Sequence[ModelSpec]) -> Cell:
    """The cell of the model that is on trial."""
    if len(models) != 1 or len({cell.dataset.name for cell in cells}) != 1:
        raise UsageError("one model on one dataset is looked at", hint="such as mlcli diagnose iris -m knn")
    wanted = models[0]
    cell = next(cell for cell in cells if cell.model.saved == wanted.saved and wanted.use in ("", cell.model.use))
    if cell.skipped:
        raise UsageError(cell.skipped)
    return cell
