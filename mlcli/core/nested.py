"""Parameters whose values are models.

A nested model is written as an id, or as a mapping with ``use``, ``params`` and ``steps``; a path such as
``base.k`` names a parameter inside it. A configured wrapper holds a model with nothing learned (a pipeline if
steps are named), and fits copies of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mlcli.core.configuration import Configuration, below, described_as
from mlcli.core.errors import Problem
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import Inside, Meaning, Parameter, Place, nowhere, parameters, yaml_from_text
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
