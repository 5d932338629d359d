"""What a user wrote, and where: values with their places, what keys take, and what is wrong with a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from mlcli.core.errors import Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.strict_yaml import Document
from mlcli.core.values import Value, quoted

Keys = Mapping[str, Value]
IGNORED = "x-"
"""Keys that begin so are the user's own."""
MOST_FOUND = 40
"""Fewer than the shell shows, so that it is seen how much was not looked at."""
MOST_NAMED = 20
"""More wrong keys than these are counted only."""
NOWHERE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class YamlNode:
    """A value with its place in a document; one typed in a shell has no place."""

    value: Any
    document: Document | None = None
    keys: tuple[str | int, ...] = ()

    @classmethod
    def typed(cls, text: str, option: str) -> Self:
        """What was typed for an option of a shell: a mapping in braces, or text."""
        if not text.lstrip().startswith("{"):
            return cls(text)
        from mlcli.core.strict_yaml import parse

        document = parse(text, option, UsageError)
        return cls(document.value, document)

    @property
    def where(self) -> str:
        """Where it stands, as "file.yaml:3:7"."""
        return self.place()

    def place(self, *keys: str | int) -> str:
        """Where what is under some keys in it stands."""
        return self.document.place(*self.keys, *keys) if self.document else ""

    @property
    def given(self) -> str:
        """The value as messages quote it."""
        return quoted(self.value)

    def at(self, key: str | int) -> YamlNode:
        """The value of a key or list item, None where there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else self.value[key]
        return replace(self, value=value, keys=(*self.keys, key))

    def items(self) -> list[YamlNode]:
        """Each item of a list."""
        return [self.at(index) for index in range(len(self.value))]

    def named(self) -> dict[str, YamlNode]:
        """Each value of a mapping by its key, those that begin with "x-" left out."""
        return {key: self.at(key) for key in self.value if not key.startswith(IGNORED)}

    @property
    def text(self) -> str:
        """A scalar as it was written, whatever YAML makes of it."""
        return self.document.text(*self.keys) if self.document else str(self.value)

    @property
    def texts(self) -> tuple[str, ...]:
        """The items of a list as they were written, or one scalar alone."""
        return tuple(item.text for item in self.items()) if isinstance(self.value, list) else (self.text,)

    @property
    def bare(self) -> Any:
        """The value without keys of the user's own."""
        return _bare(self.value)

    def problem(self, what: str, hint: str = "") -> Problem:
        """Something that is wrong here."""
        return Problem(what, where=self.where, hint=hint)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(part) for key, part in value.items() if not str(key).startswith(IGNORED)}
    return [_bare(part) for part in value] if isinstance(value, list) else value


def until_too_many_problems(items: Sequence[YamlNode], problems: list[Problem]) -> Iterator[YamlNode]:
    """The items of a list, until so much is wrong with them that nobody reads on."""
    before = len(problems)
    for index, item in enumerate(items):
        if len(problems) - before > MOST_FOUND:
            problems.append(item.problem(f"{len(items) - index:,} more stand here that were not looked at"))
            return
        yield item


def legal_parts(
    keys: Keys,
    written: YamlNode,
    problems: list[Problem],
    required: Sequence[str] = (),
    elsewhere: Mapping[str, str] = NOWHERE,
) -> dict[str, YamlNode]:
    """The parts of a mapping that are as its keys say; what is wrong with the others is added to ``problems``.

    ``elsewhere`` says of keys that it does not have where such a thing stands.
    """
    parts = written.named()
    elsewhere = {**elsewhere, **indented_below(written.value)}
    legal = {key: part for key, part in parts.items() if key in keys and not keys[key].problem_with(part.value)}
    wrong = [key for key in parts if key not in legal]
    missing = [key for key in required if key not in parts]
    problems += [written.problem(f"the key '{key}' is missing", keys[key].help) for key in missing]
    problems += [_problem_with(keys, key, parts[key], elsewhere) for key in wrong[:MOST_NAMED]]
    if len(wrong) > MOST_NAMED:
        problems.append(written.problem(f"{len(wrong) - MOST_NAMED:,} more keys are wrong here"))
    return legal


def indented_below(mapping: Mapping[str, Any]) -> dict[str, str]:
    """What to do with keys that stand beside a key without a value instead of below it."""
    hints, empty = dict[str, str](), ""
    for key, value in mapping.items():
        if empty:
            hints[key] = f"if it belongs to '{empty}', indent it by two blanks more"
        empty = key if value is None else empty
    return hints


def _problem_with(keys: Keys, key: str, part: YamlNode, elsewhere: Mapping[str, str]) -> Problem:
    if key not in keys:
        right = elsewhere.get(key, "").replace("KEY", key).replace("VALUE", str(part.value))
        return part.problem(f"there is no key '{key}' here", right or did_you_mean(key, keys, "keys"))
    wrong = keys[key].problem_with(part.value)
    one_item = keys[key].types == (list,) and isinstance(part.value, str)
    hint = f"such as {key}: [{part.value}]" if one_item else keys[key].help
    return part.problem(f"'{key}' {wrong}", hint)
