"""What learns in the splits of a cell: a pipeline by its ids, or one that has learned before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mlcli.core.abilities import LeaveOneOut
from mlcli.core.configuration import parts_of, ready_for
from mlcli.core.effective import effective, without_effect
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import models_inside, settings
from mlcli.core.pipeline import Pipeline, learn, set_threshold
from mlcli.core.processes import stdout_as_stderr
from mlcli.core.progress import seconds_of_work
from mlcli.core.required_steps import after
from mlcli.core.schema import Schema
from mlcli.core.seeds import rng_for
from mlcli.core.step import Step
from mlcli.core.threads import cores, cores_for_a_fit, one_blas_thread
from mlcli.experiment.spec.cells import Cell, ModelSpec, Stages, StepSpec
from mlcli.tasks.table import kind_named

DEFAULTS = {"shortcuts": True, "stages": False, "training": False}
"""What is not in the identity of a learner."""
NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Warnings for programmers; all others are shown beside the results."""


@dataclass(frozen=True, eq=False)
class Learner:
    """A pipeline by its ids, learning anew in every split; ``content`` is the dataset it learns from."""

    content: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    seed: int
    shortcuts: bool = True
    stages: Stages = False
    training: bool = False

    def pipeline(self) -> Pipeline:
        """A fresh pipeline."""
        return Pipeline(steps=_built(self.steps), model=self.model.built())

    def identity(self) -> dict[str, Any]:
        """What is learned with, all parameters resolved, as plain values."""
        asked = {name: getattr(self, name) for name in DEFAULTS}
        unusual = {name: value for name, value in asked.items() if value != DEFAULTS[name]}
        return {**_described(self.pipeline()), **unusual}

    def parts(self) -> Iterator[tuple[str, type]]:
        """Every model and step in it, by id and class."""
        return parts_of(self.pipeline())

    @property
    def has_closed_form(self) -> bool:
        """Whether all splits may be answered in closed form."""
        each_split = bool(self.stages) or self.training
        return self.shortcuts and not each_split and isinstance(self.pipeline().final, LeaveOneOut)

    def fitted(self, rows: Any, split: int | str) -> Pipeline:
        """A pipeline that has learned from the training rows of a split."""
        pipeline = self.pipeline()
        seeded_by = _described(effective(pipeline, rows.task.noun))
        rng = rng_for("fit", self.content, *seeded_by["model"], seeded_by["steps"], split, self.seed)
        learn(pipeline, rows, rng)
        return pipeline

    def without_effect(self, rows: Any) -> tuple[str, ...]:
        """A sentence for each parameter that was set and has no effect."""
        return tuple(without_effect(self.pipeline(), rows.task.noun))

    def asking(self) -> AbstractContextManager[None]:
        """What the body ends in is the method's own."""
        return nullcontext()


@dataclass(frozen=True, eq=False)
class SavedLearner:
    """A pipeline that was learned before and is only asked."""

    pipeline: Pipeline
    digest: str
    path: Path
    stages: ClassVar[Stages] = False
    training: ClassVar[bool] = False
    has_closed_form: ClassVar[bool] = False

    def identity(self) -> dict[str, Any]:
        """What is asked, and a hash of everything that it has learned."""
        return {**_described(self.pipeline), "saved": self.digest}

    def parts(self) -> Iterator[tuple[str, type]]:
        """Every model and step in it, by id and class."""
        return parts_of(self.pipeline)

    def fitted(self, rows: Any, split: int | str) -> Pipeline:
        """The pipeline as it was saved."""
        return self.pipeline

    def asking(self) -> AbstractContextManager[None]:
        """What the body ends in that is not said in words is the fault of the file."""
        from mlcli.experiment.saved.model_file import asking

        return asking(self.path)


@dataclass(frozen=True, eq=False)
class Trained:
    """A pipeline that has learned from all rows of a dataset, and what was warned of meanwhile."""

    pipeline: Pipeline
    rows: Any
    warnings: tuple[str, ...]
    seconds: float


def train(cell: Cell) -> Trained:
    """Let the model of a cell learn from all rows of its dataset that its kind of task learns from."""
    assert cell.planned is not None, "only a planned cell has rows"
    data, dataset = cell.planned.all_rows, cell.dataset
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed)
    rows = data.task.rows_to_keep(learner.pipeline().final, data)
    with stdout_as_stderr(), one_blas_thread(), cores_for_a_fit(cores()), captured_warnings() as warned:
        started = seconds_of_work()
        pipeline = learner.fitted(rows, "all")
        set_threshold(pipeline, rows, data)
        seconds = seconds_of_work() - started
    return Trained(pipeline, rows, (*learner.without_effect(rows), *warned), seconds)


def with_nested_steps(model: ModelSpec, steps: tuple[StepSpec, ...], kind: str, schema: Schema) -> ModelSpec:
    """A model with every nested one behind the steps that it is run behind, of rows of a kind and schema."""
    configured = model.built()
    if model.saved is not None or not models_inside(configured):
        return model
    before = _built(steps)
    columns = after(before, kind_named(kind).rows.columns_of(schema))
    own = None if model.steps is None else _built(model.steps)
    return replace(model, params=settings(ready_for(configured, columns, own)))


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """What the body warns of, each sentence once, in order; the list is filled when the body ends."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in NOT_FOR_USERS:
            warnings.simplefilter("ignore", category)
        yield sentences
    sentences += dict.fromkeys(map(_sentence, caught))


def _sentence(warning: warnings.WarningMessage) -> str:
    text = str(warning.message)
    return text if issubclass(warning.category, MlcliWarning) else f"{warning.category.__name__}: {text}"


def _built(steps: tuple[StepSpec, ...]) -> tuple[Step, ...]:
    return tuple(step.built() for step in steps)


def _described(pipeline: Pipeline) -> dict[str, Any]:
    steps = [[step.id, settings(step)] for step in pipeline.steps]
    return {"model": [pipeline.model.id, settings(pipeline.model)], "steps": steps}
