"""What is fitted in the splits of a cell: a pipeline built anew for each split, or a saved one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mlcli.core.abilities import LeaveOneOut
from mlcli.core.configuration import parts_of, ready_for
from mlcli.core.effective import effective, without_effect
from mlcli.core.errors import captured_warnings
from mlcli.core.params import models_inside, settings
from mlcli.core.pipeline import Pipeline, learn, set_threshold
from mlcli.core.processes import cores, cores_for_a_fit, one_blas_thread, stdout_as_stderr
from mlcli.core.progress import seconds_of_work
from mlcli.core.required_steps import after
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Schema
from mlcli.core.seeds import rng_for
from mlcli.experiment.results import Trained
from mlcli.experiment.spec.cells import Cell, ModelSpec, Stages, StepSpec
from mlcli.tasks.table import kind_named


@dataclass(frozen=True, eq=False)
class Learner:
    """A pipeline that is built and fitted anew in every split; ``content`` is the hash of the dataset."""

    content: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    seed: int
    shortcuts: bool = True
    stages: Stages = False
    training: bool = False

    def pipeline(self) -> Pipeline:
        """An unfitted pipeline."""
        return Pipeline(steps=tuple(step.built() for step in self.steps), model=self.model.built())

    def identity(self) -> dict[str, Any]:
        """All parameters as plain values, for the key of a cell; options at their defaults are left out."""
        defaults = {"shortcuts": True, "stages": False, "training": False}
        options = {name: getattr(self, name) for name in defaults}
        unusual = {name: value for name, value in options.items() if value != defaults[name]}
        return {**_described(self.pipeline()), **unusual}

    def parts(self) -> Iterator[tuple[str, type]]:
        """The id and class of every model and step in it."""
        return parts_of(self.pipeline())

    @property
    def has_closed_form(self) -> bool:
        """Whether the model may predict all splits of leave-one-out in one computation."""
        needs_each_fit = bool(self.stages) or self.training
        return self.shortcuts and not needs_each_fit and isinstance(self.pipeline().final, LeaveOneOut)

    def fitted(self, rows: RowsOfTable, split: int | str) -> Pipeline:
        """A pipeline fitted to the training rows of a split."""
        pipeline = self.pipeline()
        described = _described(effective(pipeline, rows.task.noun))
        rng = rng_for("fit", self.content, *described["model"], described["steps"], split, self.seed)
        learn(pipeline, rows, rng)
        return pipeline

    def without_effect(self, rows: RowsOfTable) -> tuple[str, ...]:
        """A sentence for each parameter that was set and has no effect."""
        return tuple(without_effect(self.pipeline(), rows.task.noun))

    def asking(self) -> AbstractContextManager[None]:
        """A context for predictions; errors pass through it."""
        return nullcontext()


@dataclass(frozen=True, eq=False)
class SavedLearner:
    """A fitted pipeline from a file, which only predicts."""

    pipeline: Pipeline
    digest: str
    path: Path
    stages: ClassVar[Stages] = False
    training: ClassVar[bool] = False
    has_closed_form: ClassVar[bool] = False

    def identity(self) -> dict[str, Any]:
        """All parameters as plain values, and a hash of everything that it has learned."""
        return {**_described(self.pipeline), "saved": self.digest}

    def parts(self) -> Iterator[tuple[str, type]]:
        """The id and class of every model and step in it."""
        return parts_of(self.pipeline)

    def fitted(self, rows: RowsOfTable, split: int | str) -> Pipeline:
        """The pipeline as it was saved."""
        return self.pipeline

    def asking(self) -> AbstractContextManager[None]:
        """A context for predictions, in which unexpected errors become errors of the file."""
        from mlcli.experiment.saved.model_file import asking

        return asking(self.path)


def train(cell: Cell) -> Trained:
    """Train the model of a cell on all rows of its dataset."""
    assert cell.planned is not None, "only a planned cell has rows"
    all_rows, dataset = cell.planned.all_rows, cell.dataset
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed)
    rows = all_rows.task.rows_to_keep(learner.pipeline().final, all_rows)
    with stdout_as_stderr(), one_blas_thread(), cores_for_a_fit(cores()), captured_warnings() as warned:
        started = seconds_of_work()
        pipeline = learner.fitted(rows, "all")
        set_threshold(pipeline, rows, all_rows)
        seconds = seconds_of_work() - started
    return Trained(pipeline, rows, (*learner.without_effect(rows), *warned), seconds)


def with_nested_steps(model: ModelSpec, steps: tuple[StepSpec, ...], kind: str, schema: Schema) -> ModelSpec:
    """A model whose nested models have the steps that they require behind the steps of the cell."""
    configured = model.built()
    if model.saved is not None or not models_inside(configured):
        return model
    columns = after(tuple(step.built() for step in steps), kind_named(kind).rows.columns_of(schema))
    own_steps = None if model.steps is None else tuple(step.built() for step in model.steps)
    return replace(model, params=settings(ready_for(configured, columns, own_steps)))


def _described(pipeline: Pipeline) -> dict[str, Any]:
    steps = [[step.id, settings(step)] for step in pipeline.steps]
    return {"model": [pipeline.model.id, settings(pipeline.model)], "steps": steps}
