"""What a user wrote, and where: values that specs are read from, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

from mlcli.core.errors import MlcliError, Problem, UsageError, placed
from mlcli.core.strict_yaml import Document
from mlcli.core.values import quoted

IGNORED = "x-"
"""Keys that begin so are the user's own."""
MOST_FOUND = 40
"""Fewer than the shell shows, so that it is seen how much was not looked at."""


@dataclass(frozen=True)
class Written:
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


def while_few(items: Sequence[Written], found: list[Problem]) -> Iterator[Written]:
    """The items of a list, until so much is wrong with them that nobody reads on."""
    before = len(found)
    for place, item in enumerate(items):
        if len(found) - before > MOST_FOUND:
            found.append(item.problem(f"{len(items) - place:,} more stand here that were not looked at"))
            return
        yield item


@dataclass(frozen=True)
class Faults:
    """Errors collected until everything has been looked at, so that a user meets all of them at once."""

    errors: list[MlcliError] = field(default_factory=list)

    @contextmanager
    def collected(self, where: str = "") -> Iterator[None]:
        """Run the body; an error of the user's is kept, and stands at ``where`` unless it says better."""
        try:
            yield
        except MlcliError as error:
            self.errors.append(type(error)(*placed(error.problems, where)))

    def problems(self) -> list[Problem]:
        """Every problem, once."""
        return list(dict.fromkeys(problem for error in self.errors for problem in error.problems))

    def raise_any(self, asked: type[MlcliError]) -> None:
        """Raise all as one error: about data or a model file where that is all, else about what was ``asked``."""
        types = {asked if type(error) is UsageError else type(error) for error in self.errors}
        if types:
            raise (types.pop() if len(types) == 1 else asked)(*self.problems())
