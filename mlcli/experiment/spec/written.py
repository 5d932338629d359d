"""What a user wrote, and where: the values that specs are read from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from mlcli.core.errors import Problem
from mlcli.core.strict_yaml import Document

IGNORED = "x-"
"""Keys that begin so are the user's own."""
LINE = re.compile(r":\d+(:\d+)?$")
"""How a place ends that is more than a file."""


@dataclass(frozen=True)
class Written:
    """A value with its place in a document; one typed in a shell has no place."""

    value: Any
    document: Document | None = None
    keys: tuple[str | int, ...] = ()

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
        return "nothing" if self.value is None else repr(self.value)

    def at(self, key: str | int) -> Written:
        """The value of a key or list item, None where there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else self.value[key]
        return replace(self, value=value, keys=(*self.keys, key))

    def items(self) -> list[Written]:
        """Each item of a list."""
        return [self.at(index) for index in range(len(self.value))]

    def named(self) -> dict[str, Written]:
        """Each value of a mapping by its key, those that begin with "x-" left out."""
        return {key: self.at(key) for key in self.value if not key.startswith(IGNORED)}

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


def placed(problems: Iterable[Problem], where: str) -> list[Problem]:
    """The same problems; those that do not say in which line they are stand at ``where``."""
    return [_placed(problem, where) for problem in problems]


def _placed(problem: Problem, where: str) -> Problem:
    """A file without a line goes into the words: what stands here asks for it."""
    if not where or LINE.search(problem.where):
        return problem
    what = f"{problem.where}: {problem.what}" if problem.where else problem.what
    return replace(problem, what=what, where=where)
