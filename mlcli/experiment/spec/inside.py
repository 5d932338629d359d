"""Models inside models, as specs hold them: their parameters by path, and the steps that they are run behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from mlcli.core.configuration import ready_for
from mlcli.core.insertion import after
from mlcli.core.params import build, settings
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Schema
from mlcli.experiment.spec.cells import ModelSpec, StepSpec
from mlcli.tasks.table import kind_named


class Value(NamedTuple):
    """The value of a parameter, at a path such as ``base.k``; of a nested model its id."""

    path: str
    value: Any
    owner: str
    """The id of the model that declares it."""
    name: str


class Nested(NamedTuple):
    """A nested model as plain values, and the path at which its parameters begin."""

    model: Mapping[str, Any]
    start: str

    @property
    def steps(self) -> tuple[StepSpec, ...] | None:
        """The steps before it; None where nothing is said of steps."""
        steps = self.model.get("steps")
        return None if steps is None else tuple(StepSpec(step["use"], step["params"]) for step in steps)


def flat(use: str, params: Mapping[str, Any], start: str = "") -> Iterator[Value]:
    """Parameters one by one, those of a nested model after its id."""
    for name, value in params.items():
        inside = models_in(value, start + name)
        yield Value(start + name, ids_in(value) if inside else value, use, name)
        for nested in inside:
            yield from flat(nested.model["use"], nested.model["params"], nested.start)


def models_in(value: Any, path: str) -> list[Nested]:
    """The models that a resolved parameter holds."""
    if _is_model(value):
        return [Nested(value, f"{path}.")]
    if isinstance(value, list | tuple) and value and all(map(_is_model, value)):
        return [Nested(model, f"{path}.{model['use']}.") for model in value]
    return []


def ids_in(value: Any) -> Any:
    """The ids of the models that a resolved parameter holds."""
    return value["use"] if isinstance(value, Mapping) else tuple(model["use"] for model in value)


def all_inside(params: Mapping[str, Any], start: str = "") -> Iterator[Nested]:
    """Every nested model, at any depth."""
    for name, value in params.items():
        for nested in models_in(value, start + name):
            yield nested
            yield from all_inside(nested.model["params"], nested.start)


def as_run(model: ModelSpec, steps: tuple[StepSpec, ...], kind: str, schema: Schema) -> ModelSpec:
    """A model with every nested one behind the steps that it is run behind, of rows of a kind and schema."""
    configured = build(MODELS.load(model.use), model.params)
    if model.saved is not None or not configured.nested():
        return model
    before = tuple(build(STEPS.load(step.use), step.params) for step in steps)
    columns = after(before, kind_named(kind).container.columns_of(schema))
    return replace(model, params=settings(ready_for(configured, columns, None if model.steps is None else before)))


def _is_model(value: Any) -> bool:
    return isinstance(value, Mapping) and {"use", "params"} <= value.keys()
