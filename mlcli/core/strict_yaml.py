"""YAML without surprises: what is ambiguous, doubled or dangerous is refused, with file, line and column.

Plain scalars follow the JSON schema of YAML 1.2: ``null``, ``~`` and nothing are null, ``true`` and ``false`` are
booleans, decimal numbers (``3``, ``-0.5``, ``1e-3``) are numbers, and everything else is text: ``no``, ``on``,
``True``, ``2024-01-01``, ``12:30:45``, ``0x1F``, and ``010``, since a leading zero says that it is a code rather
than a count. ``inf`` and ``nan`` are refused unless they are quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mlcli.core.errors import MlcliError, Problem

MAX_NODES = 100_000
"""How many values a document may have once its aliases are written out."""
MAX_ALIASES = 100
MAX_DEPTH = 100
MAX_DIGITS = 300

MERGE = "<<"
CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.?(inf|infinity|nan)", re.IGNORECASE)

INDENTED = re.compile(r"(?P<before> *(- +)*)(?P<rest>.*)")

Keys = tuple[str | int, ...]
Mark = tuple[int, int]


@dataclass(frozen=True)
class Document:
    """One YAML document: its value, and where each part of it stands."""

    value: Any
    name: str
    marks: dict[Keys, Mark] = field(repr=False)
    texts: dict[Keys, str] = field(repr=False)
    source: str = field(repr=False)
    """The whole text."""

    def place(self, *keys: str | int) -> str:
        """Where a key or list item stands, as "file.yaml:3:7"; its nearest ancestor when it is not there."""
        while keys and keys not in self.marks:
            keys = keys[:-1]
        return _place(self.name, self.marks.get(keys, (1, 1)))

    def text(self, *keys: str | int) -> str:
        """A scalar as it was written, without its quotes."""
        return self.texts[keys]


def read(path: Path, error: type[MlcliError]) -> Document:
    """The one document of a file; ``error`` is raised with every problem in it."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise error("there is no such file", where=str(path)) from None
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", where=str(path)) from None
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        where = _place(str(path), (line, 1))
        raise error("is not UTF-8 text", where=where, hint="save it in the encoding UTF-8") from None
    return parse(text, str(path), error)


def parse(text: str, name: str, error: type[MlcliError]) -> Document:
    """The one document of a text; ``name`` stands in places, ``error`` is raised with every problem in it."""
    import yaml

    reader = _YamlReader(name, text)
    try:
        document = reader.document()
    except yaml.MarkedYAMLError as problem:
        raise error(_syntax_problem(name, text, problem), *reader.problems) from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        where = _place(name, (line, 1))
        raise error("holds a character that YAML does not allow", where=where) from None
    if reader.problems:
        raise error(*reader.problems)
    return document


class _Anchor(NamedTuple):
    """What an alias stands for: a value of so many nodes, so deep, and where everything in it stands."""

    value: Any
    size: int
    depth: int
    marks: list[tuple[Keys, Mark]]
    texts: list[tuple[Keys, str]]


class _Stop(Exception):  # noqa: N818
    """The rest of the document is not worth reading."""


class _YamlReader:
    """Builds plain values from parser events, so that nothing is expanded or constructed on the way."""

    def __init__(self, name: str, text: str) -> None:
        from yaml import events

        self.name = name
        self.source = text
        self._kinds = events
        self.events = _events(text)
        self.problems: list[Problem] = []
        self.marks: dict[Keys, Mark] = {}
        self.texts: dict[Keys, str] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.nodes = 0
        self.aliases = 0

    def document(self) -> Document:
        """The first document; a second one is refused."""
        value = None
        with suppress(_Stop):  # what stopped it is among the problems
            starts = (event for event in self.events if isinstance(event, self._kinds.DocumentStartEvent))
            for count, event in enumerate(starts):
                if count:
                    self._refuse(event, "a second document begins here", "one file holds one document")
                    break
                value = self._node(next(self.events), ())
        return Document(value, self.name, self.marks, self.texts, self.source)

    def _node(self, event: Any, keys: Keys) -> Any:
        self.marks.setdefault(keys, _mark(event))
        self._count(event, 1)
        if isinstance(event, self._kinds.AliasEvent):
            return self._alias(event, keys)
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f"the tag {event.tag} is not allowed", "write the plain value")
        if len(keys) > MAX_DEPTH:
            self._refuse(event, f"nested more than {MAX_DEPTH} deep")
            raise _Stop
        before, marks, texts = self.nodes, len(self.marks) - 1, len(self.texts)
        if isinstance(event, self._kinds.ScalarEvent):
            value = self._scalar(event, keys)
        elif isinstance(event, self._kinds.SequenceStartEvent):
            value = self._sequence(keys)
        else:
            value = self._mapping(keys)
        if event.anchor is not None:
            below = list(islice(self.marks.items(), marks, None)), list(islice(self.texts.items(), texts, None))
            self.anchors[event.anchor] = _Anchor(value, self.nodes - before + 1, len(keys), *below)
        return value

    def _alias(self, event: Any, keys: Keys) -> Any:
        if event.anchor not in self.anchors:
            self._refuse(event, f"nothing before this place is called &{event.anchor}")
            return None
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self._refuse(event, f"more than {MAX_ALIASES} uses of aliases")
            raise _Stop
        anchor = self.anchors[event.anchor]
        self._count(event, anchor.size)
        for path, mark in anchor.marks:
            self.marks.setdefault(keys + path[anchor.depth :], mark)
        for path, text in anchor.texts:
            self.texts.setdefault(keys + path[anchor.depth :], text)
        return anchor.value

    def _count(self, event: Any, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            self._refuse(event, f"more than {MAX_NODES} values, aliases counted")
            raise _Stop

    def _scalar(self, event: Any, keys: Keys) -> Any:
        text = event.value
        self.texts[keys] = text
        if event.style not in (None, ""):
            return text
        if event.start_mark.line < event.end_mark.line:
            self._refuse_swallowed_item(event)
        if text in CONSTANTS:
            return CONSTANTS[text]
        if WHOLE.fullmatch(text):
            return self._whole(event, text)
        number = float(text) if DECIMAL.fullmatch(text) else None
        if NOT_FINITE.fullmatch(text) or (number is not None and not math.isfinite(number)):
            self._refuse(event, f"{text} is not a finite number", f"if it is meant as text, write '{text}'")
        return text if number is None else number

    def _refuse_swallowed_item(self, event: Any) -> None:
        """Refuse text that goes on in a line that was meant as an item of a list."""
        lines = self.source.splitlines()[event.start_mark.line + 1 : event.end_mark.line + 1]
        if any(line.lstrip().startswith("- ") for line in lines):
            hint = "begin all items of a list in the same column"
            self._refuse(event, "this text goes on in the next line, which looks like an item of a list", hint)

    def _whole(self, event: Any, text: str) -> int | None:
        if len(text) > MAX_DIGITS:
            what = f"a whole number of more than {MAX_DIGITS} digits"
            self._refuse(event, what, "if it is meant as text, quote it")
            return None
        return int(text)

    def _sequence(self, keys: Keys) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), self._kinds.SequenceEndEvent):
            items.append(self._node(event, (*keys, len(items))))
        return items

    def _mapping(self, keys: Keys) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := next(self.events), self._kinds.MappingEndEvent):
            key = self._key(event, keys)
            if key in entries:
                first = "line {}, column {}".format(*self.marks[*keys, key])
                self._refuse(event, f"the key '{key}' stands here twice", f"first at {first}")
                key = f"{key}\0again"
            self.marks[*keys, key] = _mark(event)
            entries[key] = self._node(next(self.events), (*keys, key))
        return entries

    def _key(self, event: Any, keys: Keys) -> str:
        """The text of a key; one that is not text is refused, and reading goes on."""
        if not isinstance(event, self._kinds.ScalarEvent):
            self._refuse(event, "a key must be text")
            self._node(event, (*keys, f"\0{_mark(event)}"))
            return f"\0{_mark(event)}"
        if event.value == MERGE and event.style in (None, ""):
            self._refuse(event, "merging mappings with << is not part of YAML 1.2", "write the keys out")
        known = len(self.problems)
        value = self._scalar(event, (*keys, "\0key"))
        if not isinstance(value, str) and len(self.problems) == known:
            self._refuse(event, f"the key {event.value or 'null'} is not text", f'quote it: "{event.value}"')
        return str(event.value)

    def _refuse(self, event: Any, what: str, hint: str = "") -> None:
        self.problems.append(Problem(what, where=_place(self.name, _mark(event)), hint=hint))


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return iter(yaml.parse(text, Loader=loader))


def _mark(event: Any) -> Mark:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _place(name: str, mark: Mark) -> str:
    return f"{name}:{mark[0]}:{mark[1]}"


def _syntax_problem(name: str, text: str, problem: Any) -> Problem:
    mark = problem.problem_mark or problem.context_mark
    where = _place(name, (mark.line + 1, mark.column + 1)) if mark else name
    context = f" {problem.context}" if problem.context else ""
    hint = _indentation_hint(text, mark.line) if mark else ""
    hint = hint or next((hint for words, hint in SYNTAX_HINTS.items() if words in (problem.problem or "")), "")
    return Problem(f"is not valid YAML: {problem.problem}{context}", where=where, hint=hint)


def _indentation_hint(text: str, line: int) -> str:
    """In which column a line should begin, where it begins in no column that the lines above leave it."""
    lines = [
        (number, _columns(name)) for number, name in enumerate(text.splitlines()[: line + 1], 1) if _columns(name)
    ]
    if len(lines) < 2:
        return ""
    *above, (number, (own, *_)) = lines
    before, columns = above[-1]
    is_item = text.splitlines()[number - 1].lstrip().startswith("- ")
    legal = {column for _, begins in above for column in (begins if is_item else begins[-1:])}
    opens = text.splitlines()[before - 1].rstrip().endswith((":", "-", "|", ">", "[", "{", ","))
    if own in legal or (own > columns[-1] and opens):
        return ""
    right = [columns[-1]] if own > columns[-1] else sorted(index for index in legal if index <= columns[-1])
    places = " or ".join(str(column + 1) for column in right)
    return f"line {number} begins in column {own + 1}; below line {before} it can begin in column {places}"


def _columns(line: str) -> list[int]:
    """The columns in which the parts of a line begin: its dashes, and what stands behind them."""
    match = INDENTED.match(line)
    if match is None or not match["rest"] or match["rest"].startswith("#"):
        return []
    dashes = [index for index, sign in enumerate(match["before"]) if sign == "-"]
    return [*dashes, len(match["before"])]


SYNTAX_HINTS = {
    "cannot start any token": "indent with blanks, not with tabs; quote text that begins with a special character",
    "mapping values are not allowed": "text with a colon and a blank in it must be quoted",
    "did not find expected key": "look at the indentation, and for a missing quote or bracket",
    "did not find expected ',' or": "look for a missing comma, quote or bracket",
}
