"""A hyperparameter is declared once, as a dataclass field; checks, help and schemas are read from it."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mlcli.core.errors import Problem, UsageError, placed, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.ranges import Number, Search, as_search
from mlcli.core.values import Value, items_of

Place = Callable[..., str]
"""The place of a parameter in a file, or of what is under further keys in its value, as "file.yaml:3:7"."""
TASK = "task"
"""In ``matters_when``: what a model is used as, such as "regressor"."""
_parameters: dict[type, tuple[Parameter, ...]] = {}


@dataclass(frozen=True)
class AnyBut:
    """In ``matters_when``: every value except these."""

    values: tuple[Any, ...]


GIVEN = AnyBut((None, "none", False, 0, ()))


@dataclass(frozen=True, kw_only=True)
class Parameter(Value):
    """A declared hyperparameter: its name, its default, and the legal values."""

    name: str
    default: Any
    tune: Search | None = None
    """What to try when it is tuned."""
    if_given: bool = False
    """Whether it is part of the settings only if it differs from its default."""
    field: str = ""
    """The field that holds it, if that has another name."""
    matters_when: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)
    """When it has an effect: the values of other parameters, or of TASK; a tuple lists several."""
    default_means: Callable[[Any, str], Any] | None = None
    """The value that the default stands for, given the configured model and its task."""
    changes_answers: bool = True
    """Whether it changes answers, and not only reports or speed."""

    def value_in(self, instance: Any) -> Any:
        """Its value in a configured instance."""
        return getattr(instance, self.field or self.name)

    def problems(self, whose: str, value: Any, inside: Mapping[str, Any], place: Place) -> Iterator[Problem]:
        """Everything that is wrong with a value; ``inside`` are values for the model that it names."""
        if wrong := self.problem_with(value):
            hint = self.help
            if isinstance(value, list) and value and not self.many:
                wrong_items = list(filter(None, map(self.problem_with, value)))
                hint = hint if wrong_items else f"to try several: grid: {{{self.name}: {value}}}"
                wrong = wrong_items[0] if wrong_items and self.choices else wrong
            yield Problem(f"{whose}: {self.name} {wrong}", where=place(self.name), hint=hint)
        for path in inside:
            what = f"{whose}: {self.name} is no model, so it has no parameter '{path}'"
            yield Problem(what, where=place(f"{self.name}.{path}"), hint=self.help)

    def converted(self, value: Any, inside: Mapping[str, Any]) -> Any:
        """A legal value in the declared type: whole numbers become floats if floats are declared."""
        items = tuple(map(self._converted_one, items_of(value)))
        return items if self.many and value is not None else items[0]

    def _converted_one(self, value: Any) -> Any:
        return float(value) if type(value) is int and float in self.types and int not in self.types else value

    def plain(self, value: Any) -> Any:
        """A converted value as plain JSON, with every default resolved."""
        return value

    def models(self, value: Any) -> tuple[Any, ...]:
        """The models in a converted value."""
        return ()

    def within(self, value: Any, inside: Mapping[str, Any], path: str) -> Parameter | None:
        """The parameter at a path into the model that a value names; None if there is none."""
        return None

    def from_text(self, text: str) -> Any:
        """A value typed in a shell (``-p k=3``), read by its declared types."""
        if self.many and not text.startswith("["):
            return [self._one_from_text(part.strip()) for part in text.split(",") if part.strip()]
        return yaml_from_text(text, self.name) if self.many else self._one_from_text(text)

    def _one_from_text(self, text: str) -> Any:
        if self.optional and text.lower() in ("none", "null", ""):
            return None
        if bool in self.types and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if dict in self.types and text.startswith("{"):
            return yaml_from_text(text, self.name)
        for kind in (one for one in (int, float) if one in self.types):
            with suppress(ValueError):
                return kind(text)
        return text

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this parameter."""
        return {**super().schema(), "default": self.default}


def param(
    default: Any,
    help: str,
    *,
    ge: Number | None = None,
    gt: Number | None = None,
    le: Number | None = None,
    lt: Number | None = None,
    choices: Iterable[Any] | None = None,
    tune: Search | tuple[Any, ...] | None = None,
    if_given: bool = False,
    name: str = "",
    matters_when: Mapping[str, Any] | None = None,
    default_means: Callable[[Any, str], Any] | None = None,
    changes_answers: bool = True,
) -> Any:
    """Declare a hyperparameter as a dataclass field; ``name`` is its name for users, by default that of the field.

    ``matters_when={"kernel": ("gaussian", "polynomial")}`` tells in which configurations it has an effect.
    """

    def declared(field: str, hint: Any) -> Parameter:
        kinds, optional, many = _read_type(hint)
        among = None if choices is None else tuple(choices)
        return Parameter(
            help,
            kinds,
            optional,
            many,
            ge=ge,
            gt=gt,
            le=le,
            lt=lt,
            choices=among,
            name=name or field,
            default=default,
            tune=as_search(tune, among),
            if_given=if_given,
            field=field,
            matters_when=matters_when,
            default_means=default_means,
            changes_answers=changes_answers,
        )

    return dataclasses.field(default=default, metadata={"param": declared})


def explain_param(help: str) -> Any:
    """Declare ``explain``: how much detail a method shows; ``full`` shows the steps of the computation."""
    return param("short", help, choices=("short", "full"), if_given=True, name="explain", changes_answers=False)


def learned(*shape: str | int, model: str = "", structure: type | None = None) -> Any:
    """Declare a field that ``fit`` fills, with its shape: ``learned("classes", "columns")`` (see `core.state`).

    ``model`` names the parameter whose fitted model the field holds; ``structure`` is the dataclass of arrays that
    it is an instance of.
    """
    metadata = {"learned": shape, "model": model, "structure": structure}
    return dataclasses.field(init=False, default=None, repr=False, compare=False, metadata=metadata)


def parameters(cls: type) -> tuple[Parameter, ...]:
    """The declared hyperparameters of a class, in order."""
    if cls not in _parameters:
        hints = typing.get_type_hints(cls)
        declared = ((field.name, field.metadata.get("param")) for field in dataclasses.fields(cls))
        _parameters[cls] = tuple(declare(name, hints[name]) for name, declare in declared if declare)
    return _parameters[cls]


def by_name(cls: type) -> dict[str, Parameter]:
    """The declared hyperparameters of a class by name."""
    return {parameter.name: parameter for parameter in parameters(cls)}


def parameter_at(cls: type, values: Mapping[str, Any], path: str) -> Parameter | None:
    """The parameter of a name, or at a path such as ``base.k`` into the model that a value names."""
    name, dot, rest = path.partition(".")
    parameter = by_name(cls).get(name)
    if parameter is None or not dot:
        return parameter
    given, inside = _grouped(values).get(name, ({}, {}))
    return parameter.within(given.get(name, parameter.default), inside, rest)


def learned_fields(cls: type) -> tuple[str, ...]:
    """The names of the fields that ``fit`` fills."""
    return tuple(field.name for field in dataclasses.fields(cls) if "learned" in field.metadata)


def settings(instance: Any) -> dict[str, Any]:
    """The hyperparameters of an instance by name, as plain values, from which ``build`` makes it again."""
    values = ((parameter, parameter.value_in(instance)) for parameter in parameters(type(instance)))
    return {
        parameter.name: parameter.plain(value)
        for parameter, value in values
        if not (parameter.if_given and value == parameter.default)
    }


def models_inside(instance: Any) -> tuple[Any, ...]:
    """The configured models in the parameters of an instance."""
    return tuple(
        model
        for parameter in parameters(type(instance))
        for model in parameter.models(parameter.value_in(instance))
    )


def yaml_from_text(text: str, name: str) -> Any:
    """The value of a parameter typed as YAML in a shell."""
    from mlcli.core.strict_yaml import parse

    return parse(text, f"-p {name}", UsageError).value


def nowhere(*keys: str | int) -> str:
    """The place of values that are in no file."""
    return ""


def problems_with(cls: type, values: Mapping[str, Any], place: Place = nowhere) -> list[Problem]:
    """Everything that is wrong with values for the parameters of a class, each alone or else together.

    ``base.k`` is a parameter of a nested model.
    """
    result = _problems_one_by_one(cls, values, place)
    if not result:
        try:
            build(cls, values)
        except UsageError as error:
            result = placed(error.problems, place())
    return result


def _problems_one_by_one(cls: type, values: Mapping[str, Any], place: Place = nowhere) -> list[Problem]:
    known, problems, label = by_name(cls), list[Problem](), getattr(cls, "id", cls.__name__)
    for name, (given, inside) in _grouped(values).items():
        if name in known:
            value = given.get(name, known[name].default)
            problems += known[name].problems(label, value, inside, place)
        else:
            where = place(next(iter((*given, *(f"{name}.{path}" for path in inside)))))
            hint = did_you_mean(name, known, f"parameters of {label}")
            problems.append(Problem(f"{label} has no parameter '{name}'", where=where, hint=hint))
    return problems


def build(cls: type, values: Mapping[str, Any]) -> Any:
    """An instance with these values; all illegal values are reported at once."""
    raise_all(UsageError, _problems_one_by_one(cls, values))
    known = by_name(cls)
    legal = {
        known[name].field or name: known[name].converted(given.get(name, known[name].default), inside)
        for name, (given, inside) in _grouped(values).items()
    }
    made = cls(**legal)
    conflicts = made.conflicts() if hasattr(made, "conflicts") else []
    raise_all(UsageError, (Problem(f"{getattr(cls, 'id', cls.__name__)}: {text}") for text in conflicts))
    return made


def _grouped(values: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """For each parameter its given value, and the values for its nested model by path."""
    grouped: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for key, value in values.items():
        name, dot, path = key.partition(".")
        given, inside = grouped.setdefault(name, ({}, {}))
        (inside if dot else given)[path if dot else name] = value
    return grouped


def _read_type(hint: Any) -> tuple[tuple[type, ...], bool, bool]:
    """The types of an annotation, whether None is allowed, and whether it is a list."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kinds = [option for option in options if option is not type(None)]
    many = typing.get_origin(kinds[0]) in (list, tuple)
    kinds = [kind for kind in typing.get_args(kinds[0]) if kind is not Ellipsis] if many else kinds
    return tuple(typing.get_origin(kind) or kind for kind in kinds), type(None) in options, many
