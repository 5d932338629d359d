"""Which parameters of a configuration have an effect, by what they declare; seeds and warnings follow from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mlcli.core.nested import ModelParameter, noun_of
from mlcli.core.params import GIVEN, TASK, AnyBut, Parameter, by_name, parameters, settings
from mlcli.core.pipeline import Pipeline


def has_effect(configured: Any, parameter: Parameter, task: str = "") -> bool:
    """Whether a parameter of a configured model or step has an effect.

    ``task`` is the noun of the model base it is used as, such as "regressor"; empty: unknown.
    """
    return all(_holds(configured, name, wanted, task) for name, wanted in (parameter.matters_when or {}).items())


def _holds(configured: Any, name: str, wanted: Any, task: str) -> bool:
    """Whether a condition holds: a parameter has one of the wanted values."""
    if name == TASK:
        return task in ("", wanted)
    value = _meaning(configured, by_name(type(configured))[name], task)
    if isinstance(wanted, AnyBut):
        return value not in wanted.values
    options = wanted if isinstance(wanted, tuple) else (wanted,)
    values = value if isinstance(value, tuple) and value else (value,)
    return any(value in options for value in values)


def _meaning(configured: Any, parameter: Parameter, task: str) -> Any:
    """The effective value: the default if the parameter has no effect, or what the default stands for."""
    value = parameter.value_in(configured)
    if not has_effect(configured, parameter, task):
        value = parameter.default
    if value == parameter.default and parameter.default_means is not None:
        return parameter.default_means(configured, task)
    return value


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


def _effective_value(configured: Any, parameter: Parameter, task: str) -> Any:
    value = parameter.value_in(configured)
    if value is parameter.default:
        return value
    if not (parameter.changes_answers and has_effect(configured, parameter, task)):
        return parameter.converted(parameter.default, {})
    if isinstance(parameter, ModelParameter):
        if _is_what_default_means(configured, parameter, task):
            return parameter.converted(parameter.default, {})
        nested = tuple(effective(model, _task_inside(parameter, task)) for model in parameter.models(value))
        return nested if parameter.many else next(iter(nested), None)
    if parameter.default_means is not None and value == parameter.default_means(configured, task):
        return parameter.default
    return value


def _is_what_default_means(configured: Any, parameter: ModelParameter, task: str) -> bool:
    """Whether a nested model is the one that its default stands for, whatever its steps."""
    value, use = parameter.value_in(configured), parameter.default_means
    if value is None or use is None or (meaning := use(configured, task)) is None:
        return False
    other = parameter.converted(meaning, {})
    return bool(value.final.id == other.final.id and settings(value.final) == settings(other.final))


def without_effect(configured: Any, task: str = "", varied: Collection[str] = ()) -> Iterator[str]:
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
        elif _differs(configured, parameter, task) and not conditions.keys() & set(varied):
            yield f"{parameter.name} has no effect: it matters {condition_text(conditions)}"


def _differs(configured: Any, parameter: Parameter, task: str) -> bool:
    """Whether a parameter differs from its default, and from what the default stands for."""
    value = parameter.value_in(configured)
    if parameter.default_means is not None and value == parameter.default_means(configured, task):
        return False
    return bool(parameter.plain(value) != parameter.plain(parameter.converted(parameter.default, {})))


def condition_text(matters_when: Mapping[str, Any]) -> str:
    """The conditions in words, such as "where weights is gaussian or laplacian"."""
    where = [_one_condition_text(name, wanted) for name, wanted in matters_when.items() if name != TASK]
    words = [f"for a {matters_when[TASK]}"] if TASK in matters_when else []
    return " ".join([*words, *([f"where {' and '.join(where)}"] if where else [])])


def _one_condition_text(name: str, wanted: Any) -> str:
    if wanted == GIVEN:
        return f"{name} is given"
    verb = "is not" if isinstance(wanted, AnyBut) else "is"
    options = wanted.values if isinstance(wanted, AnyBut) else wanted if isinstance(wanted, tuple) else (wanted,)
    words = ("none" if option in (None, ()) else str(option).lower() for option in options)
    return f"{name} {verb} {' or '.join(words)}"


def _task_inside(parameter: Parameter, task: str) -> str:
    """What a nested model is used as: the same as the wrapper, or else the only base that it may have."""
    nouns = [noun_of(base) for base in getattr(parameter, "of", ())]
    if task in nouns:
        return task
    return nouns[0] if len(nouns) == 1 else ""
