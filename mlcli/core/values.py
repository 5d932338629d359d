"""Declared values: their types, bounds or choices, what is wrong with a value, and their JSON Schema."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from mlcli.core.names import nearest
from mlcli.core.ranges import Number


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
SCHEMA_OF_FILLED: dict[type, dict[str, int]] = {str: {"minLength": 1}, list: {"minItems": 1}}


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
    choices: tuple[Any, ...] | None = None

    def problem_with(self, value: Any) -> str | None:
        """What is wrong with a value; None if it is legal."""
        if not self.types or (value is None and self.optional):
            return None
        items = items_of(value) if self.many else (value,)
        return next(filter(None, map(self._problem_with_item, items)), None)

    def _problem_with_item(self, value: Any) -> str | None:
        if not any(_has_type(value, kind) for kind in self.types):
            null = "; YAML writes none as null" if self.optional and value == "none" else ""
            return f"takes {self.words()}, was given {quoted(value)}{null}"
        if self.filled and not value:
            return "takes text that is not empty" if value == "" else "takes a list of at least one"
        if self.choices is not None and not isinstance(value, dict) and value not in self.choices:
            given = f"is one of {', '.join(map(str, self.choices))}; was given {value!r}"
            close = nearest(value, self.choices) if isinstance(value, str) else None
            return f"{given} (did you mean '{close}'?)" if close else given
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        broken = [f"{bound.words} {end}" for bound, end in self._bounds() if not bound.holds(value, end)]
        broken = broken if math.isfinite(value) else ["finite"]
        return f"must be {broken[0]}, was given {value!r}" if broken else None

    def _bounds(self) -> Iterator[tuple[BoundKind, Number]]:
        for name, bound in BOUNDS.items():
            end = getattr(self, name)
            if end is not None:
                yield bound, end

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
        bounds = ", ".join(f"{bound.sign} {end}" for bound, end in self._bounds())
        return bounds if self.choices is None else " | ".join(map(str, self.choices))

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        item: dict[str, Any] = {"type": [SCHEMA_TYPES[kind] for kind in self.types]} if self.types else {}
        if self.choices is not None:
            item = {"enum": list(self.choices)}
            item = {"anyOf": [item, {"type": "object"}]} if dict in self.types else item
        item |= {bound.schema: end for bound, end in self._bounds()}
        for kind in self.types if self.filled else ():
            item |= SCHEMA_OF_FILLED[kind]
        whole: dict[str, Any] = {"anyOf": [item, {"type": "array", "items": item}]} if self.many else item
        if self.optional:
            whole = {"anyOf": [whole, {"type": "null"}]}
        return {**whole, "description": self.help}


def quoted(value: Any) -> str:
    """A value as messages quote it."""
    return "nothing" if value is None else repr(value)


def items_of(value: Any) -> list[Any] | tuple[Any, ...]:
    """The items of a list; one alone is short for a list of it."""
    return value if isinstance(value, list | tuple) else (value,)


def _has_type(value: Any, kind: type) -> bool:
    """Whether a value is of a type: a whole number is a number, and neither is a truth value."""
    if kind is AnyText:
        return not isinstance(value, dict | list)
    return kind is bool if isinstance(value, bool) else isinstance(value, (int, float) if kind is float else kind)
