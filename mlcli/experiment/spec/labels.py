"""Parameters and steps as text, and distinct labels for the models of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from mlcli.core.params import settings
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.experiment.spec.cells import ModelSpec, StepSpec

NO_DEFAULT = object()


class FlatParameter(NamedTuple):
    """A parameter at a path such as ``base.k``, with its value; for a nested model its id."""

    path: str
    value: Any
    owner: str
    """The id of the model that declares it."""
    name: str


class NestedModel(NamedTuple):
    """A nested model as plain values, and the path at which its parameters begin."""

    model: Mapping[str, Any]
    start: str

    @property
    def steps(self) -> tuple[StepSpec, ...] | None:
        """The steps before it; None if none are named."""
        steps = self.model.get("steps")
        return None if steps is None else tuple(StepSpec(step["use"], step["params"]) for step in steps)


def flat_parameters(use: str, params: Mapping[str, Any], start: str = "") -> Iterator[FlatParameter]:
    """All parameters, with those of a nested model after its id."""
    for name, value in params.items():
        inside = models_in(value, start + name)
        yield FlatParameter(start + name, ids_in(value) if inside else value, use, name)
        for nested in inside:
            yield from flat_parameters(nested.model["use"], nested.model["params"], nested.start)


def nested_models(params: Mapping[str, Any], start: str = "") -> Iterator[NestedModel]:
    """All nested models, at any depth."""
    for name, value in params.items():
        for nested in models_in(value, start + name):
            yield nested
            yield from nested_models(nested.model["params"], nested.start)


def models_in(value: Any, path: str) -> list[NestedModel]:
    """The models in the value of a parameter."""
    if _is_model(value):
        return [NestedModel(value, f"{path}.")]
    if isinstance(value, list | tuple) and value and all(map(_is_model, value)):
        return [NestedModel(model, f"{path}.{model['use']}.") for model in value]
    return []


def ids_in(value: Any) -> Any:
    """The ids of the models in the value of a parameter."""
    return value["use"] if isinstance(value, Mapping) else tuple(model["use"] for model in value)


def _is_model(value: Any) -> bool:
    return isinstance(value, Mapping) and {"use", "params"} <= value.keys()


def as_typed(value: Any) -> str:
    """The value of a parameter as you would type it; a nested model as its id."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(as_typed, value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_typed_inside(name)}' for key, name in value.items())}}}"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _typed_inside(value: Any) -> str:
    """A value inside a mapping, where a list needs brackets."""
    return f"[{', '.join(map(_typed_inside, value))}]" if isinstance(value, list | tuple) else as_typed(value)


def steps_text(steps: Sequence[StepSpec] | None) -> str:
    """Steps in order, or 'as needed' if none are named."""
    if steps is None:
        return "as needed"
    return "+".join(map(_step_text, steps)) or "none"


def _step_text(step: StepSpec) -> str:
    params = settings_of(step, STEPS)
    return f"{step.use}({params})" if params else step.use


def settings_of(asked: ModelSpec | StepSpec, catalogue: Catalogue) -> str:
    """The parameters of a model or step, and of models inside it, that differ from their defaults."""
    chosen = (
        flat_parameter
        for flat_parameter in flat_parameters(asked.use, asked.params)
        if flat_parameter.value != _default(flat_parameter, catalogue)
    )
    return ", ".join(f"{name.path}={as_typed(name.value)}" for name in chosen)


def _default(flat_parameter: FlatParameter, catalogue: Catalogue) -> Any:
    """The default of a parameter, or NO_DEFAULT if its model is not installed, as may be in a stored run."""
    known = MODELS if "." in flat_parameter.path else catalogue
    defaults = settings(known.load(flat_parameter.owner)()) if flat_parameter.owner in known else {}
    if flat_parameter.name not in defaults:
        return NO_DEFAULT
    default = defaults[flat_parameter.name]
    return ids_in(default) if models_in(default, "") else default


def distinct_labels(models: Sequence[ModelSpec]) -> list[str]:
    """A label for each model; models with the same name get the parameters and steps in which they differ."""
    namesakes: dict[tuple[str, str], list[dict[str, str]]] = {}
    for model in models:
        namesakes.setdefault((model.use, model.name), []).append(settings_text(model))
    differing = {name: _differing(every) for name, every in namesakes.items()}
    return [_label(model, differing[model.use, model.name]) for model in models]


def _label(model: ModelSpec, differing: Set[str]) -> str:
    shown = (f"{key}={value}" for key, value in settings_text(model).items() if key in differing)
    return " ".join((model.name, *shown)).strip()


def settings_text(model: ModelSpec) -> dict[str, str]:
    """Everything in which two models with the same name may differ, as text."""
    params = {
        flat_parameter.path: as_typed(flat_parameter.value)
        for flat_parameter in flat_parameters(model.use, model.params)
    }
    inside = {
        f"{nested_model.start}steps": steps_text(nested_model.steps)
        for nested_model in nested_models(model.params)
    }
    file = {"file": str(model.saved)} if model.saved else {}
    return {**file, **params, **inside, "steps": steps_text(model.steps)}


def _differing(namesakes: Sequence[Mapping[str, str]]) -> set[str]:
    """The settings in which models of one name differ, without those of nested models that only some have."""
    keys = {key for its in namesakes for key in its}
    differing = {key for key in keys if len({its[key] for its in namesakes if key in its}) > 1}
    of_some = {key for key in keys if any(key not in its for its in namesakes)}
    return differing | {key for key in of_some if key.partition(".")[0] not in differing}
