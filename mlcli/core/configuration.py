"""Models as configurations: how one is written, its plain values, its parts, and steps for models inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.insertion import after, missing_steps
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, Place, build, nowhere, parameter_at, parameters, problems_with, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import STEPS, Catalogue
from mlcli.core.schema import Column
from mlcli.core.step import Step

Inside = Mapping[str, Any]
"""By path, values for parameters of a model."""
KEYS = {"model": ("use", "params", "steps"), "step": ("use", "params")}
"""What a mapping may hold, by the noun of what it names."""


@dataclass(frozen=True)
class Configuration:
    """A nested model, or a step of one, as it is written, with values that paths give for parameters inside it."""

    catalogue: Catalogue
    value: Any
    inside: Inside = field(default_factory=dict)
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
        places = (partial(self.here, "steps", index) for index in range(len(steps)))
        return [Configuration(STEPS, step, here=place) for step, place in zip(steps, places, strict=True)]

    def parameter(self, path: str) -> Parameter | None:
        """Its parameter of a name, or at a path."""
        return parameter_at(self.cls, self.values, path) if self.use in self.catalogue else None

    def built(self) -> Any:
        """What is written, nothing learned."""
        if isinstance(self.value, Model) and not self.inside:
            return self.value
        made, steps = build(self.cls, self.values), self.steps
        return made if steps is None else Pipeline(steps=tuple(step.built() for step in steps), model=made)

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
    parts: tuple[Step | Model, ...] = (*model.all_steps(), model.final)
    for part in parts:
        yield part.id, type(part)
        for inside in part.nested():
            yield from parts_of(inside)


def ready_for(model: Model, columns: tuple[Column, ...], given: Sequence[Step] | None = None) -> Model:
    """The same configuration, each model inside it behind the steps that it needs before these columns.

    ``given`` are the steps that are named before the model; None: nothing was said of steps, so that numbers are
    scaled inside where a nested model prefers it, unless the wrapper has them scaled for it. Columns of context
    stay with the wrapper that looks at them.
    """
    columns = tuple(column for column in columns if not (column.context and model.accepts.context))
    steps = None if given is None and not model.accepts.prefers_scaled else ()
    changes: dict[str, Any] = {}
    for declared in parameters(type(model)):
        nested = declared.models(declared.value_in(model))
        ready = tuple(behind_steps(one, columns, steps) for one in nested)
        changes |= {declared.name: ready if declared.many else ready[0]} if ready else {}
    return replace(model, **changes) if changes else model


def behind_steps(model: Model, columns: tuple[Column, ...], given: Sequence[Step] | None = None) -> Model:
    """A configured model behind its own steps and those that it still needs before these columns."""
    own = model.steps if isinstance(model, Pipeline) else given
    steps = tuple(missing_steps(model.final.accepts, columns, own, own_level=model.final.supervised))
    final = ready_for(model.final, after(steps, columns), own)
    return final if own is None and not steps else Pipeline(steps=steps, model=final)
