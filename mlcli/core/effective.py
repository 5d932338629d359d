"""Which parameters of a configuration have an effect, by what they declare; seeds and warnings follow from it.

What is configured is a model, a step or a protocol. ``task`` is what a model is used as, such as "regressor", or
empty if that is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mlcli.core.nested import ModelParameter, noun_of
from mlcli.core.params import GIVEN, TASK, AnyBut, Parameter, by_name, parameters, settings
from mlcli.core.pipeline import Pipeline


def has_effect(configured: object, parameter: Parameter, task: str = "") -> bool:
    """Whether a parameter has an effect in this configuration."""
    return all(_holds(configured, name, values, task) for name, values in (parameter.matters_when or {}).items())


def _holds(configured: object, name: str, values: object, task: str) -> bool:
    """Whether a condition holds: the effective value of a parameter is among some values."""
    if name == TASK:
        return task in ("", values)
    parameter = by_name(type(configured))[name]
    value = parameter.value_in(configured) if has_effect(configured, parameter, task) else parameter.default
    if value == parameter.default and parameter.default_means is not None:
        value = parameter.default_means(configured, task)
    if isinstance(values, AnyBut):
        return value not in values.values
    options = values if isinstance(values, tuple) else (values,)
    items = value if isinstance(value, tuple) and value else (value,)
    return any(item in options for item in items)


def effective(configured: Any, task: str = "") -> Any:
    """The same configuration, with defaults for parameters that have no effect or mean the same as the default.

    Two configurations describe the same model if their effective configurations are equal.
    """
    if isinstance(configured, Pipeline):
        steps = tuple(effective(step, task) for step in configured.steps)
        return replace(configured, steps=steps, model=effective(configured.model, task))
    changes = {
        parameter.field or parameter.name: _effective_value(configured, parameter, task)
        for parameter in parameters(type(configured))
    }
    return replace(configured, **changes)


def _effective_value(configured: object, parameter: Parameter, task: str) -> object:
    value, default = parameter.value_in(configured), parameter.default
    if value is default:
        return value
    if not (parameter.changes_answers and has_effect(configured, parameter, task)):
        return parameter.converted(default, {})
    means = parameter.default_means
    meaning = None if means is None else means(configured, task)
    if not isinstance(parameter, ModelParameter):
        return default if means is not None and value == meaning else value
    if value is not None and meaning is not None:
        (model,) = parameter.models(parameter.converted(meaning, {}))
        if value.final.id == model.final.id and settings(value.final) == settings(
            model.final
        ):  # whatever its steps
            return parameter.converted(default, {})
    nested = tuple(effective(model, _task_inside(parameter, task)) for model in parameter.models(value))
    return nested if parameter.many else next(iter(nested), None)


def without_effect(configured: object, task: str = "", varied: Collection[str] = ()) -> Iterator[str]:
    """A sentence for each parameter that differs from its default without effect.

    Conditions on parameters that a wrapper varies (``varied``) are ignored.
    """
    if isinstance(configured, Pipeline):
        for step in configured.steps:
            yield from (f"{step.id}: {sentence}" for sentence in without_effect(step, task))
        yield from without_effect(configured.model, task, varied)
        return
    for parameter in parameters(type(configured)):
        value, conditions = parameter.value_in(configured), parameter.matters_when or {}
        if has_effect(configured, parameter, task):
            inside, ranges = _task_inside(parameter, task), getattr(configured, "ranges", None) or ()
            for model in parameter.models(value):
                yield from (f"{model.final.id}: {text}" for text in without_effect(model, inside, ranges))
        elif not conditions.keys() & set(varied):
            default = parameter.plain(parameter.converted(parameter.default, {}))
            means = parameter.default_means
            same = parameter.plain(value) == default or (means is not None and value == means(configured, task))
            if not same:
                yield f"{parameter.name} has no effect: it matters {condition_text(conditions)}"


def _task_inside(parameter: Parameter, task: str) -> str:
    """What a nested model is used as: the same as the wrapper, or else the only base that it may have."""
    nouns = [noun_of(base) for base in parameter.of] if isinstance(parameter, ModelParameter) else []
    if task in nouns:
        return task
    return nouns[0] if len(nouns) == 1 else ""


def condition_text(matters_when: Mapping[str, object]) -> str:
    """The conditions in words, such as "where weights is gaussian or laplacian"."""
    conditions = []
    for name, values in matters_when.items():
        if values == GIVEN:
            conditions.append(f"{name} is given")
        elif name != TASK:
            verb = "is not" if isinstance(values, AnyBut) else "is"
            options = values.values if isinstance(values, AnyBut) else values
            options = options if isinstance(options, tuple) else (options,)
            words = ("none" if option in (None, ()) else str(option).lower() for option in options)
            conditions.append(f"{name} {verb} {' or '.join(words)}")
    where = [f"where {' and '.join(conditions)}"] if conditions else []
    return " ".join([f"for a {matters_when[TASK]}", *where] if TASK in matters_when else where)
