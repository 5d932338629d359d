"""A model under diagnosis: judged beside its baselines and a strong rival, for checks of models to look at."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.checks.association import share_explained, share_right
from mlcli.checks.context import RIVALS
from mlcli.core.errors import MlcliError, UsageError
from mlcli.core.findings import Explanation
from mlcli.core.tables import Array, is_missing
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import shipped_path
from mlcli.experiment.results import Trained
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import OnProgress
from mlcli.experiment.run.learner import train
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import Plan, plan
from mlcli.metrics.base import Metric
from mlcli.scoring.curves import ScoreCurve, curves_over
from mlcli.scoring.differences import difference_between, score_of
from mlcli.scoring.importance import PermutationImportance, permutation_importance
from mlcli.scoring.model_results import ModelResult, badness, judged_answers, score_result

SIZES = (0.25, 0.5, 1.0)
"""The shares of the training rows at which learning curves are looked at."""


@dataclass(frozen=True)
class Gain:
    """How much better a model is than another, whether that is more than chance, and what shows it."""

    better: float
    sure: bool
    evidence: str


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """What is known of a model on a dataset; what takes long is done once, and only if a check asks for it."""

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
        """What it was judged on."""
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
        """The score that decides."""
        return self.model.metrics[0]

    def scores(self, model_result: ModelResult) -> Array:
        """The deciding score of each split, where it is defined."""
        values = [self.metric.compute(answers) for answers in judged_answers(model_result.cell_result)]
        return np.array([value for value in values if isinstance(value, float)])

    def score_of(self, model_result: ModelResult) -> float | None:
        """The deciding score over all splits, where it is a number."""
        return score_of(model_result, self.metric)

    def gain_over(self, other: ModelResult) -> Gain | None:
        """How much better the model is than another; None where that is not defined."""
        mine, theirs = self.score_of(self.model), self.score_of(other)
        if mine is None or theirs is None:
            return None
        found = difference_between(self.model, other, self.metric)
        test = f" ({found.test}, p = {found.p:.2g})" if found.p is not None else ""
        evidence = f"{self.metric.name} {mine:.4g} beside {theirs:.4g}{test}"
        better = badness(self.metric, theirs) - badness(self.metric, mine)
        return Gain(better, found.distinguishable, evidence)

    def is_surely_beaten_by(self, other: ModelResult) -> bool:
        """Whether a test tells another from the model, and it is the better one."""
        gain = self.gain_over(other)
        return gain is not None and gain.better < 0 and gain.sure

    def scored_beside(self, models: Sequence[ModelSpec], protocol: ProtocolSpec) -> list[ModelResult]:
        """Other models on the same rows, in order; nothing where they cannot be planned."""
        spec = DataSpec(self.dataset.name, source=self.dataset)
        metrics = (self.metric.name,)
        asked = Experiment((spec,), tuple(models), protocol, metrics=metrics, seed=self.cell.seed, training=True)
        try:
            cells = plan(asked)
        except MlcliError:
            return []
        uses = {model.use for model in models}
        wanted = [cell for cell in cells if cell.model.use in uses]  # the plan adds baselines
        return [score_result(result, metrics) for result in run(wanted, jobs=self.jobs)]

    @cached_property
    def learning_curve(self) -> ScoreCurve | None:
        """The learning curve of the model; none where its rows cannot be split so."""
        if self.cell.model.saved is not None or self.cell.kind not in RIVALS or self.model.is_baseline:
            return None
        protocol = ProtocolSpec("training-size", {"sizes": list(SIZES)})
        found = self.scored_beside([self.cell.model], protocol)
        curves = (curve for one in found for curve in curves_over(one, self.cell.label, "series"))
        return next(curves, None)

    @cached_property
    def right_alone(self) -> dict[str, float]:
        """For each feature the share of rows that it alone tells right, or of the variance that it explains."""
        target = self.dataset.schema.the("target")
        if target is None or self.cell.kind not in RIVALS:
            return {}
        truth = self.dataset.table.cells(target.name)
        known = ~is_missing(truth)
        cells = {
            feature.name: self.dataset.table.cells(feature.name)[known]
            for feature in self.dataset.schema.features()
        }
        if not target.coded:
            return {
                name: share_explained(of_one, truth[known].astype(np.float64)) for name, of_one in cells.items()
            }
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
    def importance(self) -> PermutationImportance | None:
        """What each column is worth to it on rows that it has not seen."""
        return None if self.cell.model.saved is not None else permutation_importance(self.cell, self.metric)

    @cached_property
    def trained(self) -> Trained:
        """The model, learned from all rows."""
        return train(self.cell)


def plan_to_diagnose(experiment: Experiment) -> Plan:
    """The one model of an experiment on its one dataset, beside its baselines and its rival."""
    made = plan(replace(experiment, training=True))
    asked = _diagnosed_cell(made, experiment.models or ())
    beside = RIVALS.get(asked.kind, "")
    if not beside or beside == asked.model.use:
        return made
    models = (*(experiment.models or ()), ModelSpec(beside))
    assert isinstance(asked.dataset, Dataset)
    data = tuple(replace(spec, source=asked.dataset) for spec in experiment.data)
    return plan(replace(experiment, training=True, models=models, data=data))


def diagnosed_model(
    experiment: Experiment, plan: Plan, *, jobs: int | None = None, on_progress: OnProgress | None = None
) -> Diagnosed:
    """The model of an experiment under diagnosis, by its plan; training rows are answered, too."""
    asked = _diagnosed_cell(plan, experiment.models or ())
    model_results = [
        score_result(result, experiment.metrics) for result in run(plan, jobs=jobs, on_progress=on_progress)
    ]
    of_cell = dict(zip(plan, model_results, strict=True))
    beside = RIVALS.get(asked.kind, "")
    rival = next((result for result in model_results if result.cell.model.use == beside and result.done), None)
    baseline = next(result for result in model_results if result.is_baseline)
    model = of_cell[asked]
    if not model.done:
        raise UsageError(f"{asked.label} on {asked.dataset.name} did not end well: {model.cell_result.why}")
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
