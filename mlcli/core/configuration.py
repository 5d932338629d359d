"""Models as configurations: how they are written, their plain values, and the steps of nested models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from mlcli.core.errors import MlcliError, Problem, placed
from mlcli.core.model import Model, Step
from mlcli.core.names import did_you_mean
from mlcli.core.params import (
    Inside,
    Parameter,
    Place,
    build,
    by_name,
    models_inside,
    nowhere,
    parameter_at,
    parameters,
    problems_with,
    quoted,
    settings,
)
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import STEPS, Catalogue
from mlcli.core.required_steps import after, leaves_scaling, missing_steps
from mlcli.core.schema import Column
from mlcli.core.strict_yaml import indented_below

KEYS = {"model": ("use", "params", "steps"), "step": ("use", "params"), "protocol": ("use",)}
"""The keys of a mapping, by noun."""


@dataclass(frozen=True)
class Configuration:
    """A model, step or protocol as written: an id, or a mapping with the key ``use``."""

    catalogue: Catalogue
    value: object
    inside: Inside = field(default_factory=dict)
    """Values that are given elsewhere, by path: ``k``, ``base.max_depth`` of a model in it, ``pca.components`` of
    a step before it."""
    here: Place = nowhere
    """The place of the configuration in a file, or of what is under some keys in it."""
    at: Place = nowhere
    """The place of values that are given elsewhere."""
    further_keys: Sequence[str] = ()
    """Keys beside the usual ones, which the caller reads."""

    @cached_property
    def written(self) -> Mapping[str, Any]:
        """The mapping; an id alone is short for ``use``, anything else gives an empty mapping."""
        if isinstance(self.value, Model):
            return described_as(self.value)
        if isinstance(self.value, str):
            return {"use": self.value}
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def use(self) -> str:
        """The id; empty if there is none."""
        use = self.written.get("use")
        return use if isinstance(use, str) else ""

    @property
    def cls(self) -> type:
        """The class of the id."""
        return self.catalogue.load(self.use)

    @property
    def cls_or_none(self) -> type | None:
        """The class of the id; None if there is none."""
        with suppress(MlcliError):
            return self.cls
        return None

    @property
    def values(self) -> dict[str, Any]:
        """The values given for its parameters, and for those of models in it."""
        own = {path: value for path, value in self.inside.items() if not self._is_of_step(path)}
        return {**self._params, **own}

    @property
    def _params(self) -> Mapping[str, object]:
        params = self.written.get("params")
        return params if isinstance(params, Mapping) else {}

    @property
    def steps(self) -> list[Configuration] | None:
        """The steps that are named before it, with their values; None if steps are not mentioned."""
        steps = self.written.get("steps")
        if not isinstance(steps, list | tuple):
            return None
        configurations = []
        for index, step in enumerate(steps):
            start = f"{Configuration(STEPS, step).use}."
            paths = [path for path in self.inside if path.startswith(start)] if self._is_of_step(start) else []
            own = {path.removeprefix(start): self.inside[path] for path in paths}
            here = partial(self.here, "steps", index)
            configurations.append(Configuration(STEPS, step, own, here, below(self.at, start)))
        return configurations

    def _is_of_step(self, path: str) -> bool:
        """Whether a path leads into a step; a parameter with the name of a step goes first."""
        start, dot, _ = path.partition(".")
        steps = self.written.get("steps")
        if not dot or not isinstance(steps, list | tuple):
            return False
        cls = self.cls_or_none
        named = any(Configuration(STEPS, step).use == start for step in steps)
        return named and (cls is None or start not in by_name(cls))

    def parameter(self, path: str) -> Parameter | None:
        """The parameter at a path, if there is one."""
        if self.use not in self.catalogue:
            return None
        if not self._is_of_step(path):
            return parameter_at(self.cls, self.values, path)
        use, _, name = path.partition(".")
        return next((step.parameter(name) for step in self.steps or () if step.use == use), None)

    def built(self) -> Any:
        """The configured model, step or protocol, with nothing learned."""
        if isinstance(self.value, Model) and not self.inside:
            return self.value
        built, steps = build(self.cls, self.values), self.steps
        return built if steps is None else Pipeline(steps=tuple(step.built() for step in steps), model=built)

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong with it."""
        yield from self.problems_with_form()
        yield from self.problems_with_values()

    def problems_with_form(self) -> Iterator[Problem]:
        """What is wrong with it apart from the values of its parameters."""
        problem = self._problem_with_use()
        if problem is not None:
            yield problem
        else:
            yield from self._problems_with_id_and_keys()
        steps = self.written.get("steps", ())
        if not isinstance(steps, list | tuple):
            what = f"'steps' takes a list, was given {quoted(steps)}"
            yield Problem(what, self.here("steps"), "such as steps: [standardise]")
        for step in self.steps or ():
            yield from step.problems()

    def problems_with_values(self) -> list[Problem]:
        """What is wrong with the values of its parameters; empty if it has no class."""
        cls = self.cls_or_none
        if cls is None:
            return []
        twice = [
            Problem(f"{self.use}: '{path}' is given twice", self.at(path), "leave out one of them")
            for path in self.inside
            if path in self._params
        ]

        def place(*keys: str | int) -> str:
            if keys and keys[0] in self.inside:
                return self.at(*keys)
            return self.here("params", *keys) if keys else self.here()

        return [*twice, *problems_with(cls, self.values, place)]

    def _problem_with_use(self) -> Problem | None:
        """What is wrong with how its id is written, whether the id exists or not."""
        noun, example = self.catalogue.noun, self.catalogue.example
        if not isinstance(self.value, str | Mapping | Model):
            what = f"a {noun} is an id or a mapping with 'use'; this is {quoted(self.value)}"
            return Problem(what, self.here(), f"such as {example} or {{use: {example}}}")
        if self.use or isinstance(self.value, str):
            return None
        if "use" in self.written:
            what = f"'use' takes the id of a {noun}, was given {quoted(self.written['use'])}"
            return Problem(what, self.here("use"))
        ids = [key for key in self.written if key in self.catalogue]
        if len(ids) != 1:
            return Problem(f"which {noun}? The key 'use' is missing", self.here(), f"such as {{use: {example}}}")
        params = self.written[ids[0]]
        right = f"{{use: {ids[0]}{f', params: {params}' if params else ''}}}".replace("'", "")
        return Problem(f"the id of a {noun} stands behind 'use'", self.here(ids[0]), f"write {right}")

    def _problems_with_id_and_keys(self) -> Iterator[Problem]:
        noun = self.catalogue.noun
        try:
            cls = self.cls
        except MlcliError as error:
            yield from placed(error.problems, self.here("use"))
            return
        keys = (*KEYS[noun], *self.further_keys)
        indented = indented_below(self.written)
        for key in self.written:
            if key in keys:
                continue
            # often the key is not indented, or it is a parameter or an id in the wrong place
            if key in indented:
                hint = indented[key]
            elif key in by_name(cls):
                hint = f"it is a parameter: write params: {{{key}: {self.written[key]}}}"
            elif key in self.catalogue:
                hint = f"write {{use: {key}}}, with its parameters under 'params'"
            else:
                hint = did_you_mean(key, keys, "keys")
            yield Problem(f"a {noun} has no key '{key}'", self.here(key), hint)
        params = self.written.get("params", {})
        if not isinstance(params, Mapping):
            what = f"'params' takes a mapping, was given {quoted(params)}"
            yield Problem(what, self.here("params"), "such as params: {k: ...}")


def below(place: Place, start: str) -> Place:
    """The places of values whose paths no longer have their beginning."""
    return lambda path, *keys: place(start + path, *keys)


def described_as(model: Model) -> dict[str, Any]:
    """A configured model as plain values: its id, all parameters, and the steps of a pipeline."""
    plain = {"use": model.final.id, "params": settings(model.final)}
    if not isinstance(model, Pipeline):
        return plain
    return plain | {"steps": tuple({"use": step.id, "params": settings(step)} for step in model.steps)}


def parts_of(model: Model) -> Iterator[tuple[str, type]]:
    """The id and the class of a configured model, of its steps, and of all models inside them."""
    parts: tuple[Step | Model, ...] = (*model.all_steps(), model.final)
    for part in parts:
        yield part.id, type(part)
        for inside in models_inside(part):
            yield from parts_of(inside)


def ready_for(
    model: Model,
    columns: tuple[Column, ...],
    own_steps: Sequence[Step] | None = None,
    *,
    keep_scaling: bool = True,
) -> Model:
    """The same configuration with every nested model behind the steps that it requires for these columns.

    ``own_steps`` are the named steps in front of the model (None: steps are not mentioned). If they leave scaling
    to mlcli, numbers are scaled for nested models that prefer it, unless the wrapper has them scaled. Pass
    ``keep_scaling=False`` if the required steps are there already. Nested models do not see context columns that
    the wrapper uses.
    """
    columns = tuple(column for column in columns if not (column.context and model.accepts.context))
    scaled = own_steps is None or (keep_scaling and leaves_scaling(own_steps))
    steps = None if scaled and not model.accepts.prefers_scaled else ()
    changes: dict[str, Any] = {}
    for parameter in parameters(type(model)):
        nested = parameter.models(parameter.value_in(model))
        if ready := tuple(with_steps(inside, columns, steps, keep_scaling=keep_scaling) for inside in nested):
            changes[parameter.name] = ready if parameter.many else ready[0]
    return replace(model, **changes) if changes else model


def with_steps(
    model: Model,
    columns: tuple[Column, ...],
    own_steps: Sequence[Step] | None = None,
    *,
    keep_scaling: bool = False,
) -> Model:
    """A configured model behind its own steps and those that it still requires for these columns.

    While an experiment is planned, ``keep_scaling`` adds a scaler if the steps that a user named have none; the
    steps of a model that is about to be fitted are complete.
    """
    final = model.final
    own = [step.serving(final) for step in model.steps] if isinstance(model, Pipeline) else own_steps
    steps = missing_steps(final.accepts, columns, own, own_level=final.supervised, keep_scaling=keep_scaling)
    final = ready_for(final, after(steps, columns), own, keep_scaling=keep_scaling)
    return final if own is None and not steps else Pipeline(steps=tuple(steps), model=final)
