"""Parameters whose values are models, and which parameters of a configuration have an effect.

A nested model is written as an id, or as a mapping with ``use``, ``params`` and ``steps``; a path such as
``base.k`` names a parameter inside it. A configured wrapper holds a model with nothing learned (a pipeline if
steps are named), and fits copies of it. Whether a parameter has an effect follows from what it declares.

What is configured is a model, a step or a protocol. ``task`` is what a model is used as, such as "regressor", or
empty if that is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mlcli.core.configuration import Configuration, below, described_as
from mlcli.core.errors import Problem
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import (
    GIVEN,
    TASK,
    AnyBut,
    Inside,
    Meaning,
    Parameter,
    Place,
    by_name,
    nowhere,
    parameters,
    settings,
    yaml_from_text,
)
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS
from mlcli.core.serialise import Json


def model_param(
    default: object, help: str, *, of: Sequence[type[Model]], default_means: Meaning | None = None
) -> Any:
    """Declare a parameter that is a model of one of these bases; it is optional if the default is None."""
    declared = ModelParameter(
        help, name="", default=default, optional=default is None, of=tuple(of), default_means=default_means
    )
    return _field(declared)


def models_param(default: Sequence[object], help: str, *, of: Sequence[type[Model]]) -> Any:
    """Declare a parameter that is a list of models, each of one of these bases."""
    return _field(ModelParameter(help, name="", default=tuple(default), many=True, of=tuple(of)))


def _field(declared: ModelParameter) -> object:
    return field(
        default_factory=lambda: declared.converted(declared.default, {}),
        metadata={"param": lambda name, hint: replace(declared, name=name)},
    )


@dataclass(frozen=True)
class ModelParameter(Parameter):
    """A parameter whose value is a model, or a list of them."""

    of: tuple[type[Model], ...] = ()

    def problems(self, whose: str, value: object, inside: Inside, place: Place) -> Iterator[Problem]:
        """Everything that is wrong with the nested models as written."""
        if value is None and self.optional:
            for path in inside:
                what = f"{whose}: {self.name} names no model that '{path}' is of"
                yield Problem(what, place(f"{self.name}.{path}"))
            return
        if self.many and not isinstance(value, list | tuple):
            yield Problem(f"{whose}: {self.name} takes a list, was given {value!r}", place(self.name), self.help)
            return
        if self.many and not value:
            yield Problem(f"{whose}: {self.name} takes one model or more", place(self.name), self.help)
        entries = self._entries(value, inside, place)
        problems = [problem for entry in entries for problem in self._problems_with(entry)]
        ids = [entry.use for entry in entries if entry.use]
        for path in inside if self.many else ():
            use = path.partition(".")[0]
            if use not in ids:
                where, hint = place(f"{self.name}.{path}"), did_you_mean(use, ids, "models in it")
                problems.append(Problem(f"there is no model '{use}' in it", where, hint))
        for problem in problems:
            yield replace(problem, what=f"{whose}: {self.name}: {problem.what}")

    def _problems_with(self, entry: Configuration) -> list[Problem]:
        problems = list(entry.problems())
        if not problems and not issubclass(entry.cls, self.of):
            return [Problem(f"{entry.use} is no {self._nouns()}", entry.here("use"))]
        return problems

    def _nouns(self) -> str:
        return " or ".join(map(noun_of, self.of))

    def _entries(self, value: Any, inside: Inside, place: Place = nowhere) -> list[Configuration]:
        """The nested models as written; a path into a list begins with the id of one of its models."""
        if not self.many or value is None:
            if value is None and self.optional:
                return []
            if value is self.default and isinstance(
                value, Mapping
            ):  # given parameters replace those of the default
                params = {name: given for name, given in value.get("params", {}).items() if name not in inside}
                value = {**value, "params": params}
            at = nowhere if value is None else below(place, f"{self.name}.")
            return [Configuration(MODELS, value, inside, partial(place, self.name), at)]
        entries = []
        for index, item in enumerate(value):
            start = f"{Configuration(MODELS, item).use}."
            own = {path.removeprefix(start): given for path, given in inside.items() if path.startswith(start)}
            at = below(place, f"{self.name}.{start}")
            entries.append(Configuration(MODELS, item, own, partial(place, self.name, index), at))
        return entries

    def converted(self, value: object, inside: Inside) -> Any:
        """The configured model, or a tuple of them; None if it is left out."""
        models = tuple(entry.built() for entry in self._entries(value, inside))
        return models if self.many else next(iter(models), None)

    def plain(self, value: object) -> object:
        """The id of each model with all parameters, and its steps if there are any."""
        described = tuple(described_as(model) for model in self.models(value))
        return described if self.many else next(iter(described), None)

    def models(self, value: Any) -> tuple[Model, ...]:
        """The nested models."""
        if value is None:
            return ()
        return tuple(value) if self.many else (value,)

    def within(self, value: object, inside: Inside, path: str) -> Parameter | None:
        """The parameter at a path into a nested model; None if there is none."""
        entries = self._entries(value, inside)
        if self.many:
            use, _, path = path.partition(".")
            entries = [entry for entry in entries if entry.use == use]
        return next(filter(None, (entry.parameter(path) for entry in entries)), None)

    def from_text(self, text: str) -> Any:
        """Ids, or mappings and lists in YAML."""
        if self.optional and text.lower() in ("none", "null", ""):
            return None
        if text.startswith(("{", "[")):
            return yaml_from_text(text, self.name)
        return [part.strip() for part in text.split(",")] if self.many else text

    def words(self) -> str:
        """The legal models, such as "a classifier or regressor"."""
        if self.many:
            return f"models, each a {self._nouns()}"
        return f"a {self._nouns()} or none" if self.optional else f"a {self._nouns()}"

    def schema(self) -> Json:
        """References to the JSON Schemas of models of these bases."""
        references = [{"$ref": f"#/$defs/{noun_of(base)}"} for base in self.of]
        schema: Json = {"anyOf": references}
        if self.many:
            schema = {"type": "array", "minItems": 1, "items": schema}
        if self.optional:
            schema = {"anyOf": [*references, {"type": "null"}]}
        return {**schema, "description": self.help, "default": self.default}


def can_do(model: Model, base: type[Model]) -> bool:
    """Whether a configured model, and every model that it is built around, has the base of a kind of task.

    Models in parameters that do not take this base are not considered: the wrapper adapts them itself.
    """
    final = model.final
    nested = [
        inside
        for parameter in parameters(type(final))
        if isinstance(parameter, ModelParameter) and base in parameter.of
        for inside in parameter.models(parameter.value_in(final))
    ]
    return isinstance(final, base) and all(can_do(inside, base) for inside in nested)


def noun_of(base: type[Model]) -> str:
    """What messages call a model of a base, such as classifier."""
    return base.__name__.lower()


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
