"""What models are called in tables: their own names, with what differs where two would be called the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlcli.experiment.spec.cells import ModelSpec, StepSpec
from mlcli.experiment.spec.inside import all_inside, flat


def told_apart(models: Sequence[ModelSpec]) -> list[str]:
    """A label for each model; those of one method and name add the parameters, and steps, in which they differ."""
    namesakes: dict[tuple[str, str], list[dict[str, str]]] = {}
    for model in models:
        namesakes.setdefault(_name(model), []).append(features(model))
    differing = {name: _differing(every) for name, every in namesakes.items()}
    return [_label(model, differing[_name(model)]) for model in models]


def features(model: ModelSpec) -> dict[str, str]:
    """All in which two models may differ, beside method and name."""
    params = {one.path: said(one.value) for one in flat(model.use, model.params)}
    inside = {f"{one.start}steps": said_of_steps(one.steps) for one in all_inside(model.params)}
    file = {"file": str(model.saved)} if model.saved else {}
    return {**file, **params, **inside, "steps": said_of_steps(model.steps)}


def said(value: Any) -> str:
    """A parameter's value as it would be typed; a nested model is said by its id."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(said, value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_inside(one)}' for key, one in value.items())}}}"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _inside(value: Any) -> str:
    """A value inside a mapping: a list needs brackets there."""
    return f"[{', '.join(map(_inside, value))}]" if isinstance(value, list | tuple) else said(value)


def _name(model: ModelSpec) -> tuple[str, str]:
    return model.use, model.label or model.use


def _differing(every: Sequence[dict[str, str]]) -> set[str]:
    """The features in which namesakes differ; what only some have goes with another in which they do."""
    keys = {key for its in every for key in its}
    return {key for key in keys if len({its[key] for its in every if key in its}) > 1}


def _label(model: ModelSpec, differing: Iterable[str]) -> str:
    shown = " ".join(f"{key}={value}" for key, value in features(model).items() if key in differing)
    return f"{_name(model)[1]} {shown}".strip()


def said_of_steps(steps: Sequence[StepSpec] | None) -> str:
    """Steps in order, or that nothing was said of them."""
    if steps is None:
        return "as needed"
    return "+".join(map(_said_of_step, steps)) or "none"


def _said_of_step(step: StepSpec) -> str:
    params = ", ".join(f"{name}={said(value)}" for name, value in step.params.items())
    return f"{step.use}({params})" if params else step.use
