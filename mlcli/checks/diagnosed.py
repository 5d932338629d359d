"""A model under diagnosis: scored beside its baselines and a strong rival, for checks of models to look at."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.checks.context import RIVALS, share_explained, share_right
from mlcli.core.errors import MlcliError, UsageError
from mlcli.core.findings import Explanation
from mlcli.core.tables import Array, is_missing
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import shipped_path
from mlcli.experiment.results import Trained
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import OnProgress
from mlcli.experiment.run.preparation import train
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import Plan, plan
from mlcli.metrics.base import Metric
from mlcli.scoring.curves import ScoreCurve, curves_over
from mlcli.scoring.differences import difference_between, score_of
from mlcli.scoring.importance import PermutationImportance, permutation_importance
from mlcli.scoring.model_results import ModelResult, badness, judged_answers, score_result


@dataclass(frozen=True)
class Gain:
    """How much better a model is than another, whether the difference is significant, and the evidence."""

    better: float
    sure: bool
    evidence: str


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """The results of a model on a dataset; what takes long is computed once, and only if a check needs it."""

    model: ModelResult
    baseline: ModelResult
    rival: ModelResult | None = None
    """None where the model is the rival, or its kind of task has none."""
    jobs: int | None = None

    @property
    def cell(self) -> Cell:
        """The model with its dataset, steps and protocol."""
        return self.model.cell

    @property
    def dataset(self) -> Dataset:
        """The dataset that it was scored on."""
        assert isinstance(self.cell.dataset, Dataset)
        return self.cell.dataset

    @property
    def reference(self) -> str:
        """The dataset as it is typed in a shell."""
        path = self.dataset.path
        shipped = path is None or shipped_path(self.dataset.name) == path
        return shlex.quote(self.dataset.name if shipped else str(path))

    @property
    def metric(self) -> Metric:
        """The first metric, by which models are compared."""
        return self.model.metrics[0]

    def scores(self, model_result: ModelResult) -> Array:
        """The score of each split, if it is defined."""
        values = [self.metric.compute(answers) for answers in judged_answers(model_result.cell_result)]
        return np.array([value for value in values if isinstance(value, float)])

    def score_of(self, model_result: ModelResult) -> float | None:
        """The score over all splits, if it is a number."""
        return score_of(model_result, self.metric)

    def gain_over(self, other: ModelResult) -> Gain | None:
        """How much better the model is than another, if that is defined."""
        mine, theirs = self.score_of(self.model), self.score_of(other)
        if mine is None or theirs is None:
            return None
        difference = difference_between(self.model, other, self.metric)
        test = f" ({difference.test}, p = {difference.p:.2g})" if difference.p is not None else ""
        evidence = f"{self.metric.name} {mine:.4g} beside {theirs:.4g}{test}"
        better = badness(self.metric, theirs) - badness(self.metric, mine)
        return Gain(better, difference.distinguishable, evidence)

    def is_surely_beaten_by(self, other: ModelResult) -> bool:
        """Whether another model is significantly better."""
        gain = self.gain_over(other)
        return gain is not None and gain.better < 0 and gain.sure

    def scored_beside(self, models: Sequence[ModelSpec], protocol: ProtocolSpec) -> list[ModelResult]:
        """Other models on the same rows, in order; none if they cannot be planned."""
        data, metrics, seed = (
            (DataSpec(self.dataset.name, source=self.dataset),),
            (self.metric.name,),
            self.cell.seed,
        )
        try:
            cells = plan(Experiment(data, tuple(models), protocol, metrics=metrics, seed=seed, training=True))
        except MlcliError:
            return []
        uses = {model.use for model in models}
        cells_of_models = [cell for cell in cells if cell.model.use in uses]  # the plan adds baselines
        return [score_result(result, metrics) for result in run(cells_of_models, jobs=self.jobs)]

    @cached_property
    def learning_curve(self) -> ScoreCurve | None:
        """The learning curve of the model; None if its rows cannot be split so."""
        if self.cell.model.saved is not None or self.cell.kind not in RIVALS or self.model.is_baseline:
            return None
        protocol = ProtocolSpec("training-size", {"sizes": [0.25, 0.5, 1.0]})
        results = self.scored_beside([self.cell.model], protocol)
        curves = (curve for result in results for curve in curves_over(result, self.cell.label, "series"))
        return next(curves, None)

    @cached_property
    def right_alone(self) -> dict[str, float]:
        """For each feature the accuracy that it has alone, or its R²."""
        target = self.dataset.schema.the("target")
        if target is None or self.cell.kind not in RIVALS:
            return {}
        truth = self.dataset.table.cells(target.name)
        known = ~is_missing(truth)
        cells = {
            feature.name: self.dataset.table.cells(feature.name)[known].astype(np.float64)
            for feature in self.dataset.schema.features()
        }
        if not target.coded:
            numbers = truth[known].astype(np.float64)
            return {name: share_explained(column, numbers) for name, column in cells.items()}
        classes = truth[known].astype(np.int32)
        return {name: share_right(column, classes, len(target.levels)) for name, column in cells.items()}

    @cached_property
    def alone(self) -> dict[str, float]:
        """The same as a share of what the most frequent class leaves to be predicted."""
        target = self.dataset.schema.the("target")
        if target is None or not target.coded:
            return self.right_alone
        codes = self.dataset.table.cells(target.name).astype(np.intp)
        most = float(np.bincount(codes[codes >= 0]).max() / max(1, (codes >= 0).sum()))
        return {name: (right - most) / (1 - most) if most < 1 else 0.0 for name, right in self.right_alone.items()}

    @cached_property
    def explanation(self) -> Explanation:
        """The explanation of the model fitted to all rows."""
        return self.trained.pipeline.explain()

    @cached_property
    def importance(self) -> PermutationImportance | None:
        """The permutation importance of each column on test rows."""
        return None if self.cell.model.saved is not None else permutation_importance(self.cell, self.metric)

    @cached_property
    def trained(self) -> Trained:
        """The model fitted to all rows."""
        return train(self.cell)


def plan_to_diagnose(experiment: Experiment) -> Plan:
    """The one model of an experiment on its one dataset, beside its baselines and its rival."""
    planned = plan(replace(experiment, training=True))
    cell = _diagnosed_cell(planned, experiment.models or ())
    rival = RIVALS.get(cell.kind, "")
    if not rival or rival == cell.model.use:
        return planned
    models = (*(experiment.models or ()), ModelSpec(rival))
    assert isinstance(cell.dataset, Dataset)
    data = tuple(replace(spec, source=cell.dataset) for spec in experiment.data)
    return plan(replace(experiment, training=True, models=models, data=data))


def diagnosed_model(
    experiment: Experiment, plan: Plan, *, jobs: int | None = None, on_progress: OnProgress | None = None
) -> Diagnosed:
    """Run the plan of an experiment; training rows are predicted, too."""
    cell = _diagnosed_cell(plan, experiment.models or ())
    cell_results = run(plan, jobs=jobs, on_progress=on_progress)
    results = [score_result(result, experiment.metrics) for result in cell_results]
    use = RIVALS.get(cell.kind, "")
    rival = next((result for result in results if result.cell.model.use == use and result.done), None)
    baseline = next(result for result in results if result.is_baseline)
    model = dict(zip(plan, results, strict=True))[cell]
    if not model.done:
        raise UsageError(f"{cell.label} on {cell.dataset.name} did not end well: {model.cell_result.why}")
    return Diagnosed(model, baseline, rival if rival is not model else None, jobs)


def _diagnosed_cell(cells: Sequence[Cell], models: Sequence[ModelSpec]) -> Cell:
    """The cell of the model that is under diagnosis."""
    if len(models) != 1 or len({cell.dataset.name for cell in cells}) != 1:
        raise UsageError("one model is audited at a time", hint="such as mlcli audit iris -m knn")
    spec = models[0]
    cell = next(cell for cell in cells if cell.model.saved == spec.saved and spec.use in ("", cell.model.use))
    if cell.skipped:
        raise UsageError(cell.skipped)
    return cell
