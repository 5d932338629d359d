"""What a user wrote, and where: values and entries that specs are read from, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from mlcli.core.errors import MlcliError, Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, parameters, problems_with
from mlcli.core.registry import Catalogue
from mlcli.core.strict_yaml import Document

IGNORED = "x-"
"""Keys that begin so are the user's own."""
UNKNOWN = "no parameter"
"""What is said of a name, and not of each of its values."""
MOST_FOUND = 40
"""Fewer than the shell shows, so that it is seen how much was not looked at."""
LINE = re.compile(r":\d+(:\d+)?$")
"""How a place ends that is more than a file."""


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


@dataclass
class Entry:
    """An id, or a mapping that begins with ``use``; whatever is wrong with it is added to ``found``."""

    written: Written
    catalogue: Catalogue
    found: list[Problem]
    before: int = field(init=False)
    """How many problems had been found before."""

    def __post_init__(self) -> None:
        self.before = len(self.found)

    @property
    def legal(self) -> bool:
        """Whether nothing is wrong with it so far."""
        return len(self.found) == self.before

    @cached_property
    def parts(self) -> dict[str, Written]:
        """The parts by key; an id alone is short for ``use``."""
        if isinstance(self.written.value, str):
            return {"use": self.written}
        if isinstance(self.written.value, dict):
            return self.written.named()
        what = f"a {self.noun} is an id or a mapping with 'use'; this is {self.written.given}"
        self.refuse(self.written, what, f"such as {self._example} or {{use: {self._example}}}")
        return {}

    @cached_property
    def cls(self) -> Any:
        """The class that the entry uses, None when there is no such thing."""
        use = self.parts.get("use")
        if use is None or not isinstance(use.value, str):
            self._refuse_use(use)
            return None
        try:
            return self.catalogue.load(use.value)
        except MlcliError as error:
            self.found.extend(placed(error.problems, use.where))
            return None

    @property
    def noun(self) -> str:
        """What is named."""
        return self.catalogue.noun

    def refuse(self, part: Written, what: str, hint: str = "") -> None:
        """Add one problem."""
        self.found.append(part.problem(what, hint))

    def refuse_other_keys(self, keys: Sequence[str]) -> None:
        """Every key but these is a problem."""
        for key, part in self.parts.items():
            if key not in keys:
                self.refuse(part, f"a {self.noun} has no key '{key}'", self._hint_for_key(key, keys))

    def mapping(self, key: str) -> dict[str, Written]:
        """The parts of a key that takes a mapping; nothing when it is not there or is something else."""
        part = self.parts.get(key)
        if part is None:
            return {}
        if not isinstance(part.value, dict):
            self.refuse(part, f"'{key}' takes a mapping, was given {part.given}", f"such as {key}: {{k: ...}}")
            return {}
        return part.named()

    def legal_params(self, combinations: Sequence[Mapping[str, Written]]) -> list[dict[str, Any]]:
        """The values of each combination of parameters, if all are legal and legal together; else none."""
        every = [self._checked(given) for given in combinations]
        for params in every if self.legal else []:
            self._check_together(params)
        return every if self.legal else []

    def _checked(self, given: Mapping[str, Written]) -> dict[str, Any]:
        """The values of some parameters; a problem that is known already is not added again."""
        values = {name: part.bare for name, part in given.items()}

        def place(name: str, *keys: str | int) -> str:
            return given.get(name, self.written).place(*keys)

        known = {one.what for one in self.found[self.before :] if UNKNOWN in one.what}
        wrong = problems_with(self.cls, values, place)
        self.found.extend(one for one in wrong if one not in self.found and one.what not in known)
        return values

    def _check_together(self, params: Mapping[str, Any]) -> None:
        try:
            build(self.cls, params)
        except MlcliError as error:
            self.found.extend(placed(error.problems, self.written.where))

    def _hint_for_key(self, key: str, keys: Sequence[str]) -> str:
        """Often the key is a parameter, or an id, in the wrong place."""
        if self.cls and key in {parameter.name for parameter in parameters(self.cls)}:
            return f"it is a parameter: write params: {{{key}: {self.parts[key].value}}}"
        if key in self.catalogue:
            return f"write {{use: {key}}}, with its parameters under 'params'"
        return did_you_mean(key, keys, "keys")

    def _refuse_use(self, use: Written | None) -> None:
        """The id is missing or is not text; an entry of the wrong form has been refused already."""
        named = [key for key in self.parts if key in self.catalogue]
        if use is None and len(named) == 1:
            inside = self.parts.pop(named[0])
            values = f", params: {inside.value}" if inside.value else ""
            written = f"{{use: {named[0]}{values}}}".replace("'", "")
            self.refuse(inside, f"the id of a {self.noun} stands behind 'use'", f"write {written}")
        elif use is not None:
            self.refuse(use, f"'use' takes the id of a {self.noun}, was given {use.given}")
        elif isinstance(self.written.value, dict):
            missing = f"which {self.noun}? The key 'use' is missing"
            self.refuse(self.written, missing, f"such as {{use: {self._example}}}")

    @property
    def _example(self) -> str:
        return self.catalogue.names()[0]
