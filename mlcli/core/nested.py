"""Models inside models: a parameter that is a model, how it is written, and what follows from that.

A nested model is written as an id, or as a mapping with ``use``, ``params`` and ``steps``; a path such as
``base.k`` gives a parameter inside it. A configured wrapper holds a model with nothing learned (a pipeline where
steps were named), of which it fits copies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.insertion import after, missing_steps
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import (
    Parameter,
    Place,
    build,
    nowhere,
    parameter_at,
    parameters,
    problems_with,
    settings,
    yaml_from_text,
)
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.core.schema import Column
from mlcli.core.step import Step

Inside = Mapping[str, Any]
"""By path, values for parameters of a nested model."""
KEYS = {"model": ("use", "params", "steps"), "step": ("use", "params")}
"""What a mapping may hold, by the noun of what it names."""


def model_param(default: Any, help: str, *, of: Sequence[type[Model]]) -> Any:
    """Declare a parameter that is a model of one of some bases."""
    return _field(ModelParameter("", (), default, help, of=tuple(of)))


def models_param(default: Sequence[Any], help: str, *, of: Sequence[type[Model]]) -> Any:
    """Declare a parameter that is a list of models, each of one of some bases."""
    return _field(ModelParameter("", (), tuple(default), help, many=True, of=tuple(of)))


def _field(declared: ModelParameter) -> Any:
    return dataclasses.field(
        default_factory=lambda: declared.converted(declared.default, {}),
        metadata={"param": lambda name, hint: replace(declared, name=name)},
    )


@dataclass(frozen=True)
class ModelParameter(Parameter):
    """A parameter whose value is a model, or a list of them."""

    of: tuple[type[Model], ...] = ()

    def problems(self, whose: str, value: Any, inside: Inside, place: Place) -> Iterator[Problem]:
        """Everything that is wrong with nested models as they are written."""
        if self.many and not isinstance(value, list | tuple):
            yield Problem(f"{whose}: {self.name} takes a list, was given {value!r}", place(self.name), self.help)
            return
        for problem in self._of_entries(value, inside, place):
            yield replace(problem, what=f"{whose}: {self.name}: {problem.what}")

    def _of_entries(self, value: Any, inside: Inside, place: Place) -> Iterator[Problem]:
        entries = self._entries(value, inside, place)
        for entry in entries:
            found = list(entry.problems())
            if not found and not issubclass(entry.cls, self.of):
                found = [Problem(f"{entry.use} is no {_either(self.of)}", entry.here("use"))]
            yield from found
        ids = [entry.use for entry in entries if entry.use] if self.many else []
        for path in inside if self.many else ():
            if (use := path.partition(".")[0]) not in ids:
                where, hint = place(f"{self.name}.{path}"), did_you_mean(use, ids, "models in it")
                yield Problem(f"there is no model '{use}' in it", where, hint)

    def _entries(self, value: Any, inside: Inside, place: Place = nowhere) -> list[Configuration]:
        """Each nested model as it is written; a path into a list begins with the id of one of its models."""
        if not self.many:
            at = _below(place, f"{self.name}.")
            return [Configuration(MODELS, value, inside, partial(place, self.name), at)]
        entries = []
        for index, one in enumerate(value):
            start = f"{Configuration(MODELS, one).use}."
            own = {path.removeprefix(start): given for path, given in inside.items() if path.startswith(start)}
            at = _below(place, f"{self.name}.{start}")
            entries.append(Configuration(MODELS, one, own, partial(place, self.name, index), at))
        return entries

    def converted(self, value: Any, inside: Inside) -> Any:
        """The configured model, or a tuple of them."""
        models = tuple(entry.built() for entry in self._entries(value, inside))
        return models if self.many else models[0]

    def plain(self, value: Any) -> Any:
        """Each model by its id, with all parameters, and steps where some were named."""
        described = tuple(described_as(model) for model in self.models(value))
        return described if self.many else described[0]

    def models(self, value: Any) -> tuple[Any, ...]:
        """The nested models."""
        return tuple(value) if self.many else (value,)

    def within(self, value: Any, inside: Inside, path: str) -> Parameter | None:
        """The parameter at a path into a nested model, if there is one."""
        entries = self._entries(value, inside)
        if self.many:
            use, _, path = path.partition(".")
            entries = [entry for entry in entries if entry.use == use]
        return next(filter(None, (entry.parameter(path) for entry in entries)), None)

    def from_text(self, text: str) -> Any:
        """Ids, or mappings and lists in YAML."""
        if text.startswith(("{", "[")):
            return yaml_from_text(text, self.name)
        return [part.strip() for part in text.split(",")] if self.many else text

    def illegal_values(self) -> list[Any]:
        """What names no model, names one of another kind, or sets what it has not."""
        some = self.default[0] if self.many else self.default
        other = next(name for name in MODELS.names() if not issubclass(MODELS.load(name), self.of))
        wrong: list[Any] = [None, 1, "no such model", other, {"params": {}}, {"use": some, "steps": "x"}]
        wrong.append({"use": some, "params": {"no_such_parameter": 1}})
        return [some, *([value] for value in wrong)] if self.many else wrong

    def words(self) -> str:
        """What the models have to be, such as "a classifier or regressor"."""
        return f"models, each a {_either(self.of)}" if self.many else f"a {_either(self.of)}"

    def schema(self) -> dict[str, Any]:
        """References to the JSON Schemas of models of these bases."""
        one: dict[str, Any] = {"anyOf": [{"$ref": f"#/$defs/{noun_of(base)}"} for base in self.of]}
        whole: dict[str, Any] = {"type": "array", "items": one} if self.many else one
        return {**whole, "description": self.help, "default": self.default}


@dataclass(frozen=True)
class Configuration:
    """A nested model, or a step of one, as it is written, with values that paths give for parameters inside it."""

    catalogue: Catalogue
    value: Any
    inside: Inside = dataclasses.field(default_factory=dict)
    here: Place = nowhere
    """Where it stands, or what is under some keys in it."""
    at: Place = nowhere
    """Where the value of a path stands."""

    @cached_property
    def written(self) -> Mapping[str, Any]:
        """The mapping; an id alone is short for ``use``, and what is neither is nothing."""
        if isinstance(self.value, Model):
            return described_as(self.value)
        if isinstance(self.value, str):
            return {"use": self.value}
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def use(self) -> str:
        """The id; nothing where there is none."""
        use = self.written.get("use")
        return use if isinstance(use, str) else ""

    @property
    def cls(self) -> type:
        """The class of the id."""
        return self.catalogue.load(self.use)

    @property
    def values(self) -> dict[str, Any]:
        """What is given for its parameters."""
        return {**(self.written.get("params") or {}), **self.inside}

    @property
    def steps(self) -> list[Configuration] | None:
        """The steps that are named before it; None where nothing is said of steps."""
        steps = self.written.get("steps")
        if steps is None:
            return None
        return [
            Configuration(STEPS, step, here=partial(self.here, "steps", index)) for index, step in enumerate(steps)
        ]

    def parameter(self, path: str) -> Parameter | None:
        """Its parameter of a name, or at a path."""
        return parameter_at(self.cls, self.values, path) if self.use in self.catalogue else None

    def built(self) -> Any:
        """What is written, nothing learned."""
        if isinstance(self.value, Model) and not self.inside:
            return self.value
        made = build(self.cls, self.values)
        return (
            made if self.steps is None else Pipeline(steps=tuple(step.built() for step in self.steps), model=made)
        )

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong with it."""
        noun, params, steps = self.catalogue.noun, self.written.get("params"), self.written.get("steps")
        for key in (key for key in self.written if key not in KEYS[noun]):
            hint = did_you_mean(key, KEYS[noun], "keys")
            yield Problem(f"a {noun} has no key '{key}' here", self.here(key), hint)
        if not self.use:
            yield Problem(f"a {noun} is an id, or a mapping such as {{use: ID, params: {{...}}}}", self.here())
        elif isinstance(params, Mapping | None):
            yield from self._problems_of_values()
        else:
            yield Problem(f"'params' takes a mapping, was given {params!r}", self.here("params"))
        if not isinstance(steps, list | tuple | None):
            hint = "such as steps: [standardise]"
            yield Problem(f"'steps' takes a list, was given {steps!r}", self.here("steps"), hint)
        else:
            yield from (problem for step in self.steps or () for problem in step.problems())

    def _problems_of_values(self) -> Iterator[Problem]:
        try:
            cls = self.cls
        except UsageError as error:
            yield from (replace(problem, where=self.here("use")) for problem in error.problems)
            return
        found = [*self._given_twice(), *problems_with(cls, self.values, self._place_of)]
        if not found:
            try:
                build(cls, self.values)
            except UsageError as error:
                found = [replace(problem, where=self.here()) for problem in error.problems]
        yield from found

    def _given_twice(self) -> Iterator[Problem]:
        for path in self.inside:
            if path in (self.written.get("params") or {}):
                yield Problem(f"{self.use}: '{path}' is given twice", self.at(path), "leave out one of them")

    def _place_of(self, name: str, *keys: str | int) -> str:
        return self.at(name, *keys) if name in self.inside else self.here("params", name, *keys)


def described_as(model: Model) -> dict[str, Any]:
    """A configured model as plain values: its id with all parameters, and its steps where it is a pipeline."""
    plain = {"use": model.final.id, "params": settings(model.final)}
    if not isinstance(model, Pipeline):
        return plain
    return plain | {"steps": tuple({"use": step.id, "params": settings(step)} for step in model.steps)}


def parts_of(model: Model) -> Iterator[tuple[str, type]]:
    """Every step and model inside a configured model and the model itself, as (id, class)."""
    yield from ((step.id, type(step)) for step in model.all_steps())
    yield model.final.id, type(model.final)
    for inside in model.final.nested():
        yield from parts_of(inside)


def can_do(model: Model, base: type[Model]) -> bool:
    """Whether a configured model is of the base of a kind of task, and what it is built around as well.

    A wrapper that takes no models of this base has its own way to turn them to the kind.
    """
    final = model.final
    inside = [
        one
        for declared in parameters(type(final))
        if isinstance(declared, ModelParameter) and base in declared.of
        for one in declared.models(getattr(final, declared.name))
    ]
    return isinstance(final, base) and all(can_do(one, base) for one in inside)


def ready_for(model: Model, columns: tuple[Column, ...], given: Sequence[Step] | None = None) -> Model:
    """The same configuration, each model inside it behind the steps that it needs before these columns.

    ``given`` are the steps that are named before the model; None: nothing was said of steps, so that numbers are
    scaled inside where a nested model prefers it, unless the wrapper has them scaled for it.
    """
    said = None if given is None and not model.accepts.prefers_scaled else ()
    changes: dict[str, Any] = {}
    for declared in parameters(type(model)):
        if inside := tuple(
            behind_steps(one, columns, said) for one in declared.models(getattr(model, declared.name))
        ):
            changes[declared.name] = inside if declared.many else inside[0]
    return replace(model, **changes) if changes else model


def behind_steps(model: Model, columns: tuple[Column, ...], given: Sequence[Step] | None = None) -> Model:
    """A configured model behind its own steps and those that it still needs before these columns."""
    own = model.steps if isinstance(model, Pipeline) else given
    steps = tuple(missing_steps(model.final.accepts, columns, own))
    final = ready_for(model.final, after(steps, columns), own)
    return final if own is None and not steps else Pipeline(steps=steps, model=final)


def noun_of(base: type[Model]) -> str:
    """What messages call the models of a base."""
    return base.__name__.lower()


def _either(bases: Sequence[type[Model]]) -> str:
    return " or ".join(map(noun_of, bases))


def _below(place: Place, start: str) -> Place:
    return lambda path, *keys: place(start + path, *keys)
