"""Models as configurations: how they are written, their plain values, and the steps that they require.

Required steps follow from what a model accepts and what the columns are, never from cells. A step declares in
``register`` the purpose for which it is inserted, such as filling gaps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from mlcli.core.schema import Accepts, Column
from mlcli.core.strict_yaml import indented_below

MOST_LEVELS = 50
"""If a nominal column has more levels, rare ones are merged before it is one-hot encoded."""


def missing_steps(
    accepts: Accepts,
    features: Sequence[Column],
    given: Sequence[Step] | None,
    *,
    own_level: bool = True,
    keep_scaling: bool = True,
) -> list[Step]:
    """All steps in order: the given ones, and those that they and the model still require.

    Sensitive and context columns are dropped first. Missing cells are then imputed, so that every step sees
    complete columns. Levels are encoded just in front of what requires numbers, so that 0/1 columns are not
    scaled; before that, rare levels of columns with very many are merged. Numbers are scaled for a model that
    prefers it if no steps are given (None), and with ``keep_scaling`` also if the given steps include no scaler.
    Without ``own_level`` a missing cell never becomes a level of its own.
    """
    scaler, own = None, list(given or ())
    if accepts.prefers_scaled and (given is None or (keep_scaling and leaves_scaling(given))):
        scaler, index = _inserted("scale"), len(own)
        while index and (own[index - 1].follows_scaling or not own[index - 1].accepts.nominal):
            index -= 1
        own.insert(index, scaler)
    hiding = _hiding(accepts, features, given or ())
    features = columns = after(hiding, tuple(features))
    gaps, steps, merged = set[str](), list[Step](), set[str]()
    for step in own:
        if step is scaler and all(column.coded for column in columns):
            continue
        seen = step.seen_of(columns)
        if not step.accepts.missing:
            gaps |= {column.name for column in seen if column.missing}
        steps += [*_encoding(step.accepts, seen, merged, only=step.columns is not None), step]
        merged |= {column.name for column in seen if step.merges_levels}
        columns = after(steps, features)
    if not accepts.missing:
        gaps |= {column.name for column in columns if column.missing}
    filling = _filling(gaps, features, given or (), own_level=own_level)
    return [*hiding, *filling, *steps, *_encoding(accepts, columns, merged)]


def leaves_scaling(given: Sequence[Step] | None) -> bool:
    """Whether given steps leave scaling to mlcli: there are some, and none is a scaler."""
    return given is None or (len(given) > 0 and not any(step.scales for step in given))


def _hiding(accepts: Accepts, features: Sequence[Column], given: Sequence[Step]) -> list[Step]:
    """The step that drops sensitive and context columns, except those that the model or a step uses."""
    shows_sensitive = accepts.sensitive or any(step.shows_sensitive for step in given)
    used = {name for step in given for name in step.columns or ()}
    hidden = tuple(
        column.name
        for column in features
        if (column.sensitive and not shows_sensitive) or (column.context and not accepts.context)
    )
    hidden = tuple(name for name in hidden if name not in used)
    return [_inserted("hidden columns", hidden)] if hidden else []


def _filling(
    gaps: Collection[str], features: Sequence[Column], given: Sequence[Step], *, own_level: bool
) -> list[Step]:
    """The step that imputes all gaps, or only the named ones beside steps that are for some columns.

    Without ``own_level``, often missing cells get the most frequent level: as a level of their own they would
    dominate densities, distances and pictures.
    """
    if not gaps:
        return []
    with_gaps = [column for column in features if column.name in gaps]
    only_these = any(step.columns is not None for step in given) and len(with_gaps) == len(gaps)
    often = not own_level and any(column.often_missing for column in with_gaps)
    settings = {"levels": "most-frequent"} if often else {}
    return [_inserted("gaps", tuple(column.name for column in with_gaps) if only_these else None, **settings)]


def _encoding(
    accepts: Accepts, columns: Sequence[Column], merged: Collection[str], *, only: bool = False
) -> list[Step]:
    """The steps that turn levels into numbers, or numbers into levels; with ``only``, of these columns alone.

    Rare levels of ``merged`` columns have been merged already.
    """
    if accepts.levels_only:
        return [] if all(column.coded for column in columns) else [_inserted("numbers")]
    if accepts.nominal:
        return []
    steps = []
    many = tuple(column.name for column in columns if has_too_many_levels(column) and column.name not in merged)
    if many:
        steps.append(_inserted("rare levels", many if only or merged else None, most=MOST_LEVELS))
    ordinal = tuple(column.name for column in columns if column.kind == "ordinal")
    if ordinal:
        steps.append(_inserted("ordinal levels", ordinal if only else None))
    nominal = tuple(column.name for column in columns if column.coded and column.kind != "ordinal")
    if nominal:
        steps.append(_inserted("nominal levels", nominal if only else None))
    return steps


def _inserted(purpose: str, columns: tuple[str, ...] | None = None, **settings: str | int) -> Step:
    """A new step that is inserted for a purpose, by default for all columns."""
    step: Step = STEPS.inserted_for(purpose)(columns=columns, **settings)
    return step


def has_too_many_levels(column: Column) -> bool:
    """Whether rare levels are merged before the column is one-hot encoded."""
    return column.kind == "nominal" and len(column.levels) > MOST_LEVELS


def encoded_width(accepts: Accepts, columns: Iterable[Column]) -> int:
    """About how many columns a method sees behind the steps that it requires."""
    if accepts.nominal:
        return len(tuple(columns))
    return sum(min(len(column.levels), MOST_LEVELS + 1) if column.kind == "nominal" else 1 for column in columns)


def after(steps: Iterable[Step], columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns behind some steps."""
    columns = tuple(columns)
    for step in steps:
        columns = step.columns_left(columns)
    return columns


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
