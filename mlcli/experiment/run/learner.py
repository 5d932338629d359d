"""What learns in the splits of a cell: a pipeline by its ids, or one that has learned before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from mlcli.core.configuration import parts_of
from mlcli.core.learning import learn
from mlcli.core.params import build, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.seeds import rng_for
from mlcli.experiment.spec.cells import ModelSpec, Stages, StepSpec

USUAL = {"shortcuts": True, "stages": False, "training": False}
"""What is not in the identity of a learner."""


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
        steps = tuple(build(STEPS.load(step.use), step.params) for step in self.steps)
        return Pipeline(steps=steps, model=build(MODELS.load(self.model.use), self.model.params))

    def identity(self) -> dict[str, Any]:
        """What is learned with, all parameters resolved, as plain values."""
        asked = {name: getattr(self, name) for name in USUAL}
        unusual = {name: value for name, value in asked.items() if value != USUAL[name]}
        return {**_described(self.pipeline()), **unusual}

    def parts(self) -> Iterator[tuple[str, type]]:
        """Every model and step in it, by id and class."""
        return parts_of(self.pipeline())

    @property
    def may_hold_out(self) -> bool:
        """Whether all splits may be answered at once."""
        fitted = bool(self.stages) or self.training
        return self.shortcuts and not fitted and self.pipeline().may_hold_out

    def learned(self, rows: Any, split: int | str) -> Pipeline:
        """A pipeline that has learned from the training rows of a split."""
        pipeline = self.pipeline()
        seeded_by = _described(pipeline)
        rng = rng_for("fit", self.content, *seeded_by["model"], seeded_by["steps"], split, self.seed)
        learn(pipeline, rows, rng)
        return pipeline


@dataclass(frozen=True, eq=False)
class SavedLearner:
    """A pipeline that was learned before and is only asked."""

    pipeline: Pipeline
    digest: str
    stages: ClassVar[Stages] = False
    training: ClassVar[bool] = False

    def identity(self) -> dict[str, Any]:
        """What is asked, and a hash of everything that it has learned."""
        return {**_described(self.pipeline), "saved": self.digest}

    def parts(self) -> Iterator[tuple[str, type]]:
        """Every model and step in it, by id and class."""
        return parts_of(self.pipeline)

    @property
    def may_hold_out(self) -> bool:
        """It has learned already."""
        return False

    def learned(self, rows: Any, split: int | str) -> Pipeline:
        """The pipeline as it was saved."""
        return self.pipeline


def _described(pipeline: Pipeline) -> dict[str, Any]:
    steps = [[step.id, settings(step)] for step in pipeline.steps]
    return {"model": [pipeline.model.id, settings(pipeline.model)], "steps": steps}
