"""Parameters and steps as text, and distinct labels for the models of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mlcli.core.params import settings
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.experiment.spec.cells import ModelSpec, StepSpec


class NestedModel(NamedTuple):
    """A nested model as plain values, and the path at which its parameters begin, such as ``base.``."""

    model: Mapping[str, Any]
    start: str

    @property
    def steps(self) -> tuple[StepSpec, ...] | None:
        """The steps before it; None if none are named."""
        steps = self.model.get("steps")
        return None if steps is None else tuple(StepSpec(step["use"], step["params"]) for step in steps)


class FlatParameter(NamedTuple):
    """A parameter at a path such as ``base.k``, with its value; for a nested model its id."""

    path: str
    value: Any
    owner: str
    """The id of the model that declares it."""
    name: str


def flat_parameters(use: str, params: Mapping[str, Any], start: str = "") -> Iterator[FlatParameter]:
    """All parameters, with those of a nested model behind its id."""
    for name, value in params.items():
        inside = _models_in(value, start + name)
        yield FlatParameter(start + name, _ids_in(value) if inside else value, use, name)
        for nested in inside:
            yield from flat_parameters(nested.model["use"], nested.model["params"], nested.start)


def nested_models(params: Mapping[str, Any], start: str = "") -> Iterator[NestedModel]:
    """All nested models, at any depth."""
    for name, value in params.items():
        for nested in _models_in(value, start + name):
            yield nested
            yield from nested_models(nested.model["params"], nested.start)


def _models_in(value: object, path: str) -> list[NestedModel]:
    """The models in the value of a parameter."""

    def is_model(value: object) -> bool:
        return isinstance(value, Mapping) and {"use", "params"} <= value.keys()

    if isinstance(value, Mapping) and is_model(value):
        return [NestedModel(value, f"{path}.")]
    if isinstance(value, list | tuple) and value and all(map(is_model, value)):
        return [NestedModel(model, f"{path}.{model['use']}.") for model in value]
    return []


def _ids_in(value: Any) -> Any:
    """The ids of the models in the value of a parameter."""
    return value["use"] if isinstance(value, Mapping) else tuple(model["use"] for model in value)


def as_typed(value: object) -> str:
    """The value of a parameter as you would type it."""

    def inside(value: object) -> str:  # a list in a mapping needs brackets
        return f"[{', '.join(map(inside, value))}]" if isinstance(value, list | tuple) else as_typed(value)

    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(as_typed, value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {inside(part)}' for key, part in value.items())}}}"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def steps_text(steps: Sequence[StepSpec] | None) -> str:
    """Steps in order, or 'as needed' if none are named."""
    if steps is None:
        return "as needed"
    params = ((step.use, settings_of(step, STEPS)) for step in steps)
    return "+".join(f"{use}({text})" if text else use for use, text in params) or "none"


def settings_of(spec: ModelSpec | StepSpec, catalogue: Catalogue) -> str:
    """The parameters of a model or step, and of models inside it, that differ from their defaults."""
    chosen = []
    for parameter in flat_parameters(spec.use, spec.params):
        owners = MODELS if "." in parameter.path else catalogue
        # A stored run may have a method that is not installed: all its parameters are shown.
        defaults = settings(owners.load(parameter.owner)()) if parameter.owner in owners else {}
        if parameter.name in defaults:
            default = defaults[parameter.name]
            if parameter.value == (_ids_in(default) if _models_in(default, "") else default):
                continue
        chosen.append(f"{parameter.path}={as_typed(parameter.value)}")
    return ", ".join(chosen)


def distinct_labels(models: Sequence[ModelSpec]) -> list[str]:
    """A label for each model; models with the same name get the parameters and steps in which they differ."""
    texts = [settings_text(model) for model in models]
    namesakes: dict[tuple[str, str], list[dict[str, str]]] = {}
    for model, text in zip(models, texts, strict=True):
        namesakes.setdefault((model.use, model.name), []).append(text)
    labels = []
    for model, text in zip(models, texts, strict=True):
        others = namesakes[model.use, model.name]
        keys = {key for other in others for key in other}
        differing = {key for key in keys if len({other[key] for other in others if key in other}) > 1}
        # Parameters of a nested model that only some have do not count if the nested models differ.
        of_some = {key for key in keys if any(key not in other for other in others)}
        differing |= {key for key in of_some if key.partition(".")[0] not in differing}
        labels.append(" ".join((model.name, *(f"{key}={text[key]}" for key in text if key in differing))).strip())
    return labels


def settings_text(model: ModelSpec) -> dict[str, str]:
    """Everything in which two models with the same name may differ, as text."""
    file = {"file": str(model.saved)} if model.saved else {}
    params = {parameter.path: as_typed(parameter.value) for parameter in flat_parameters(model.use, model.params)}
    inside = {f"{nested.start}steps": steps_text(nested.steps) for nested in nested_models(model.params)}
    return {**file, **params, **inside, "steps": steps_text(model.steps)}
