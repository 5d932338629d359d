"""A hyperparameter is declared once, as a dataclass field; checks, help and schemas are read from it.

A ``Value`` is anything declared: its types, bounds or choices, what is wrong with a value, and its JSON Schema. A
``Parameter`` is the declared value of a field of a model, a step or a protocol.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mlcli.core.errors import Problem, UsageError, placed, raise_all
from mlcli.core.names import did_you_mean, nearest
from mlcli.core.ranges import Number, Search, as_search
from mlcli.core.serialise import Json

if TYPE_CHECKING:
    from mlcli.core.model import Model

T = TypeVar("T")
Place = Callable[..., str]
"""The place of a parameter in a file, or of what is under further keys in its value, as "file.yaml:3:7"."""
Meaning = Callable[[Any, str], object]
"""What a default stands for, given the configured model or step and its task."""
Inside = Mapping[str, object]
"""Values for parameters of a nested model, by path."""
TASK = "task"
"""In ``matters_when``: what a model is used as, such as "regressor"."""
_parameters: dict[type, tuple[Parameter, ...]] = {}


class AnyText:
    """The type of values that are taken as text, whatever they look like."""


TYPE_WORDS = {
    AnyText: "text",
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
}
SCHEMA_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


class BoundKind(NamedTuple):
    """A kind of bound: its words, its sign, its JSON Schema keyword, and its comparison."""

    words: str
    sign: str
    schema: str
    holds: Callable[[Number, Number], bool]


BOUNDS = {
    "ge": BoundKind("at least", "≥", "minimum", operator.ge),
    "gt": BoundKind("above", ">", "exclusiveMinimum", operator.gt),
    "le": BoundKind("at most", "≤", "maximum", operator.le),
    "lt": BoundKind("below", "<", "exclusiveMaximum", operator.lt),
}


@dataclass(frozen=True)
class Value:
    """A declared value with types, bounds or choices, and a line of help."""

    help: str
    types: tuple[type, ...] = ()
    """Empty if the reader of the value checks it."""
    optional: bool = False
    many: bool = False
    filled: bool = False
    """Whether text or a list must not be empty."""
    ge: Number | None = None
    gt: Number | None = None
    le: Number | None = None
    lt: Number | None = None
    choices: tuple[object, ...] | None = None

    def problem_with(self, value: object) -> str | None:
        """What is wrong with a value; None if it is legal."""
        if not self.types or (value is None and self.optional):
            return None
        items = items_of(value) if self.many else (value,)
        return next(filter(None, map(self._problem_with_item, items)), None)

    def _problem_with_item(self, value: object) -> str | None:
        if not any(_has_type(value, kind) for kind in self.types):
            null = "; YAML writes none as null" if self.optional and value == "none" else ""
            return f"takes {self.words()}, was given {quoted(value)}{null}"
        if self.filled and not value:
            return "takes text that is not empty" if value == "" else "takes a list of at least one"
        if self.choices is not None and not isinstance(value, dict) and value not in self.choices:
            problem = f"is one of {', '.join(map(str, self.choices))}; was given {value!r}"
            close = nearest(value, map(str, self.choices)) if isinstance(value, str) else None
            return f"{problem} (did you mean '{close}'?)" if close else problem
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        if not math.isfinite(value):
            return f"must be finite, was given {value!r}"
        broken = [f"{bound.words} {end}" for bound, end in self._bounds() if not bound.holds(value, end)]
        return f"must be {broken[0]}, was given {value!r}" if broken else None

    def _bounds(self) -> list[tuple[BoundKind, Number]]:
        ends = ((bound, getattr(self, name)) for name, bound in BOUNDS.items())
        return [(bound, end) for bound, end in ends if end is not None]

    def words(self) -> str:
        """The type in words, such as "a whole number or none"."""
        kinds = " or ".join(TYPE_WORDS[kind] for kind in self.types) + (" (one or a list)" if self.many else "")
        return f"{kinds} or none" if self.optional else kinds

    @property
    def whole(self) -> bool:
        """Whether its numbers are whole."""
        return int in self.types and float not in self.types

    def range_text(self) -> str:
        """The legal values in short form, such as "≥ 1" or "a | b"."""
        if self.choices is not None:
            return " | ".join(map(str, self.choices))
        return ", ".join(f"{bound.sign} {end}" for bound, end in self._bounds())

    def schema(self) -> Json:
        """The JSON Schema of this value."""
        item: Json = {"type": [SCHEMA_TYPES[kind] for kind in self.types]} if self.types else {}
        if self.choices is not None:
            item = {"enum": list(self.choices)}
            item = {"anyOf": [item, {"type": "object"}]} if dict in self.types else item
        item |= {bound.schema: end for bound, end in self._bounds()}
        if self.filled and str in self.types:
            item["minLength"] = 1
        if self.filled and list in self.types:
            item["minItems"] = 1
        schema: Json = {"anyOf": [item, {"type": "array", "items": item}]} if self.many else item
        if self.optional:
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "description": self.help}


def quoted(value: object) -> str:
    """A value as messages quote it."""
    return "nothing" if value is None else repr(value)


def items_of(value: object) -> list[object] | tuple[object, ...]:
    """The items of a list; one alone is short for a list of it."""
    return value if isinstance(value, list | tuple) else (value,)


def _has_type(value: object, kind: type) -> bool:
    """Whether a value is of a type: a whole number is a number, and neither is a truth value."""
    if kind is AnyText:
        return not isinstance(value, dict | list)
    return kind is bool if isinstance(value, bool) else isinstance(value, (int, float) if kind is float else kind)


@dataclass(frozen=True)
class AnyBut:
    """In ``matters_when``: every value except these."""

    values: tuple[object, ...]


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
    matters_when: Mapping[str, object] | None = dataclasses.field(default=None, hash=False)
    """When it has an effect: the values of other parameters, or of TASK; a tuple lists several."""
    default_means: Meaning | None = None
    changes_answers: bool = True
    """Whether it changes answers, and not only reports or speed."""

    def value_in(self, instance: object) -> Any:
        """Its value in a configured instance."""
        return getattr(instance, self.field or self.name)

    def problems(self, whose: str, value: object, inside: Inside, place: Place) -> Iterator[Problem]:
        """Everything that is wrong with a value; ``inside`` are values for the model that it names."""
        if problem := self.problem_with(value):
            hint = self.help
            if isinstance(value, list) and value and not self.many:
                problems = list(filter(None, map(self.problem_with, value)))
                hint = hint if problems else f"to try several: grid: {{{self.name}: {value}}}"
                problem = problems[0] if problems and self.choices else problem
            yield Problem(f"{whose}: {self.name} {problem}", where=place(self.name), hint=hint)
        for path in inside:
            what = f"{whose}: {self.name} is no model, so it has no parameter '{path}'"
            yield Problem(what, where=place(f"{self.name}.{path}"), hint=self.help)

    def converted(self, value: object, inside: Inside) -> object:
        """A legal value in the declared type: whole numbers become floats if floats are declared."""
        floats = float in self.types and int not in self.types
        items = tuple(float(item) if floats and type(item) is int else item for item in items_of(value))
        return items if self.many and value is not None else items[0]

    def plain(self, value: Any) -> object:
        """A converted value as plain JSON, with every default resolved."""
        return value

    def models(self, value: object) -> tuple[Model, ...]:
        """The models in a converted value."""
        return ()

    def within(self, value: object, inside: Inside, path: str) -> Parameter | None:
        """The parameter at a path into the model that a value names; None if there is none."""
        return None

    def from_text(self, text: str) -> Any:
        """A value typed in a shell (``-p k=3``), read by its declared types."""
        if self.many and text.startswith("["):
            return yaml_from_text(text, self.name)
        if self.many:
            return [self._item_from_text(part.strip()) for part in text.split(",") if part.strip()]
        return self._item_from_text(text)

    def _item_from_text(self, text: str) -> object:
        if self.optional and text.lower() in ("none", "null", ""):
            return None
        if bool in self.types and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if dict in self.types and text.startswith("{"):
            return yaml_from_text(text, self.name)
        if int in self.types:
            with suppress(ValueError):
                return int(text)
        if float in self.types:
            with suppress(ValueError):
                return float(text)
        return text

    def schema(self) -> Json:
        """The JSON Schema of this parameter."""
        return {**super().schema(), "default": self.default}


def param(
    default: T,
    help: str,
    *,
    ge: Number | None = None,
    gt: Number | None = None,
    le: Number | None = None,
    lt: Number | None = None,
    choices: Iterable[object] | None = None,
    tune: Search | tuple[object, ...] | None = None,
    if_given: bool = False,
    name: str = "",
    matters_when: Mapping[str, object] | None = None,
    default_means: Meaning | None = None,
    changes_answers: bool = True,
) -> T:
    """Declare a hyperparameter as a dataclass field; ``name`` is its name for users, by default that of the field.

    ``matters_when={"kernel": ("gaussian", "polynomial")}`` tells in which configurations it has an effect.
    """

    def declared(field: str, hint: object) -> Parameter:
        kinds, optional, many = _read_type(hint)
        options = None if choices is None else tuple(choices)
        return Parameter(
            help,
            kinds,
            optional,
            many,
            ge=ge,
            gt=gt,
            le=le,
            lt=lt,
            choices=options,
            name=name or field,
            default=default,
            tune=as_search(tune, options),
            if_given=if_given,
            field=field,
            matters_when=matters_when,
            default_means=default_means,
            changes_answers=changes_answers,
        )

    return dataclasses.field(default=default, metadata={"param": declared})


def _read_type(hint: object) -> tuple[tuple[type, ...], bool, bool]:
    """The types of an annotation, whether None is allowed, and whether it is a list."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kinds = [option for option in options if option is not type(None)]
    many = typing.get_origin(kinds[0]) in (list, tuple)
    kinds = [kind for kind in typing.get_args(kinds[0]) if kind is not Ellipsis] if many else kinds
    return tuple(typing.get_origin(kind) or kind for kind in kinds), type(None) in options, many


def explain_param(help: str) -> str:
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


def parameter_at(cls: type, values: Mapping[str, object], path: str) -> Parameter | None:
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


def settings(instance: object) -> dict[str, Any]:
    """The hyperparameters of an instance by name, as plain values, from which ``build`` makes it again."""
    values = ((parameter, parameter.value_in(instance)) for parameter in parameters(type(instance)))
    return {
        parameter.name: parameter.plain(value)
        for parameter, value in values
        if not (parameter.if_given and value == parameter.default)
    }


def models_inside(instance: object) -> tuple[Model, ...]:
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


def problems_with(cls: type, values: Mapping[str, object], place: Place = nowhere) -> list[Problem]:
    """Everything that is wrong with values for the parameters of a class, each alone or else together.

    ``base.k`` is a parameter of a nested model.
    """
    problems = _problems_one_by_one(cls, values, place)
    if not problems:
        try:
            build(cls, values)
        except UsageError as error:
            problems = placed(error.problems, place())
    return problems


def _problems_one_by_one(cls: type, values: Mapping[str, object], place: Place = nowhere) -> list[Problem]:
    declared, problems, label = by_name(cls), list[Problem](), getattr(cls, "id", cls.__name__)
    for name, (given, inside) in _grouped(values).items():
        if name in declared:
            value = given.get(name, declared[name].default)
            problems += declared[name].problems(label, value, inside, place)
        else:
            where = place(next(iter((*given, *(f"{name}.{path}" for path in inside)))))
            hint = did_you_mean(name, declared, f"parameters of {label}")
            problems.append(Problem(f"{label} has no parameter '{name}'", where=where, hint=hint))
    return problems


def build(cls: type, values: Mapping[str, object]) -> Any:
    """An instance with these values; all illegal values are reported at once."""
    raise_all(UsageError, _problems_one_by_one(cls, values))
    declared = by_name(cls)
    legal = {
        declared[name].field or name: declared[name].converted(given.get(name, declared[name].default), inside)
        for name, (given, inside) in _grouped(values).items()
    }
    instance = cls(**legal)
    conflicts = instance.conflicts() if hasattr(instance, "conflicts") else []
    raise_all(UsageError, (Problem(f"{getattr(cls, 'id', cls.__name__)}: {text}") for text in conflicts))
    return instance


def _grouped(values: Mapping[str, object]) -> dict[str, tuple[dict[str, object], dict[str, object]]]:
    """For each parameter its given value, and the values for its nested model by path."""
    grouped: dict[str, tuple[dict[str, object], dict[str, object]]] = {}
    for key, value in values.items():
        name, dot, path = key.partition(".")
        given, inside = grouped.setdefault(name, ({}, {}))
        (inside if dot else given)[path if dot else name] = value
    return grouped
