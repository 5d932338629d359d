"""YAML without surprises: what is ambiguous, doubled or dangerous is refused, with file, line and column.

Plain scalars follow the JSON schema of YAML 1.2: ``null``, ``~`` and nothing are null, ``true`` and ``false`` are
booleans, decimal numbers (``3``, ``-0.5``, ``1e-3``) are numbers, and everything else is text: ``no``, ``on``,
``True``, ``2024-01-01``, ``12:30:45``, ``0x1F``, and ``010``, since a leading zero says that it is a code rather
than a count. ``inf`` and ``nan`` are refused unless they are quoted.

``read`` and ``parse`` give a ``Document``. A ``YamlNode`` is a value in it with its place, and ``legal_parts``
checks a mapping against the keys that it may have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from mlcli.core.errors import MlcliError, Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import Value, quoted

if TYPE_CHECKING:
    import yaml
    from yaml import events

# PyYAML is imported when there is a text to parse: a short command has none.

MAX_NODES = 100_000
"""How many values a document may have once its aliases are written out."""
MAX_ALIASES = 100
MAX_DEPTH = 100
MAX_DIGITS = 300

CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.?(inf|infinity|nan)", re.IGNORECASE)

IGNORED = "x-"
"""Keys that begin so are the user's own."""
MOST_FOUND = 40
"""After so many problems the rest is not checked; the shell shows fewer."""
SYNTAX_HINTS = {
    "cannot start any token": "indent with blanks, not with tabs; quote text that begins with a special character",
    "mapping values are not allowed": "text with a colon and a blank in it must be quoted",
    "did not find expected key": "look at the indentation, and for a missing quote or bracket",
    "did not find expected ',' or": "look for a missing comma, quote or bracket",
}

KeyPath = tuple[str | int, ...]
Mark = tuple[int, int]
Keys = Mapping[str, Value]
"""What each key of a mapping takes."""


@dataclass(frozen=True)
class Document:
    """One YAML document: its value, and where each part of it stands."""

    value: Any
    name: str
    marks: dict[KeyPath, Mark] = field(repr=False)
    texts: dict[KeyPath, str] = field(repr=False)
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
        where = _place(str(path), (problem.object.count(b"\n", 0, problem.start) + 1, 1))
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
        where = _place(name, (text.count("\n", 0, problem.position) + 1, 1))
        raise error("holds a character that YAML does not allow", where=where) from None
    if reader.problems:
        raise error(*reader.problems)
    return document


class _Anchor(NamedTuple):
    """What an alias stands for: a value of so many nodes, so deep, and where everything in it stands."""

    value: object
    size: int
    depth: int
    marks: list[tuple[KeyPath, Mark]]
    texts: list[tuple[KeyPath, str]]


class _Stop(Exception):  # noqa: N818
    """The rest of the document is not worth reading."""


class _YamlReader:
    """Builds plain values from parser events, so that nothing is expanded or constructed on the way."""

    def __init__(self, name: str, text: str) -> None:
        import yaml

        self.name = name
        self.source = text
        self.events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.problems: list[Problem] = []
        self.marks: dict[KeyPath, Mark] = {}
        self.texts: dict[KeyPath, str] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.nodes = 0
        self.aliases = 0

    def document(self) -> Document:
        """The first document; a second one is refused."""
        from yaml import events

        value = None
        with suppress(_Stop):  # the reason is among the problems
            starts = (event for event in self.events if isinstance(event, events.DocumentStartEvent))
            for count, event in enumerate(starts):
                if count:
                    self._refuse(event, "a second document begins here", "one file holds one document")
                    break
                value = self._node(next(self.events), ())
        return Document(value, self.name, self.marks, self.texts, self.source)

    def _node(self, event: events.Event, keys: KeyPath) -> object:
        from yaml import events

        self.marks.setdefault(keys, _mark(event))
        self._count(event, 1)
        if isinstance(event, events.AliasEvent):
            return self._alias(event, keys)
        assert isinstance(event, events.ScalarEvent | events.CollectionStartEvent)
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f"the tag {event.tag} is not allowed", "write the plain value")
        if len(keys) > MAX_DEPTH:
            self._refuse(event, f"nested more than {MAX_DEPTH} deep")
            raise _Stop
        before, marks, texts = self.nodes, len(self.marks) - 1, len(self.texts)
        value: object
        if isinstance(event, events.ScalarEvent):
            value = self._scalar(event, keys)
        elif isinstance(event, events.SequenceStartEvent):
            items: list[object] = []
            while not isinstance(start := next(self.events), events.SequenceEndEvent):
                items.append(self._node(start, (*keys, len(items))))
            value = items
        else:
            value = self._mapping(keys)
        if event.anchor is not None:
            below = list(islice(self.marks.items(), marks, None)), list(islice(self.texts.items(), texts, None))
            self.anchors[event.anchor] = _Anchor(value, self.nodes - before + 1, len(keys), *below)
        return value

    def _alias(self, event: events.AliasEvent, keys: KeyPath) -> object:
        anchor = self.anchors.get(event.anchor or "")
        if anchor is None:
            self._refuse(event, f"nothing before this place is called &{event.anchor}")
            return None
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self._refuse(event, f"more than {MAX_ALIASES} uses of aliases")
            raise _Stop
        self._count(event, anchor.size)
        for path, mark in anchor.marks:
            self.marks.setdefault(keys + path[anchor.depth :], mark)
        for path, text in anchor.texts:
            self.texts.setdefault(keys + path[anchor.depth :], text)
        return anchor.value

    def _count(self, event: events.Event, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            self._refuse(event, f"more than {MAX_NODES} values, aliases counted")
            raise _Stop

    def _scalar(self, event: events.ScalarEvent, keys: KeyPath) -> str | float | bool | None:
        text = event.value
        self.texts[keys] = text
        if event.style not in (None, ""):
            return text
        start, end = _mark(event)[0], event.end_mark.line + 1 if event.end_mark else 0
        if start < end and any(line.lstrip().startswith("- ") for line in self.source.splitlines()[start:end]):
            hint = "begin all items of a list in the same column"
            self._refuse(event, "this text goes on in the next line, which looks like an item of a list", hint)
        if text in CONSTANTS:
            return CONSTANTS[text]
        if WHOLE.fullmatch(text):
            if len(text) <= MAX_DIGITS:
                return int(text)
            what = f"a whole number of more than {MAX_DIGITS} digits"
            self._refuse(event, what, "if it is meant as text, quote it")
            return None
        number = float(text) if DECIMAL.fullmatch(text) else None
        if NOT_FINITE.fullmatch(text) or (number is not None and not math.isfinite(number)):
            self._refuse(event, f"{text} is not a finite number", f"if it is meant as text, write '{text}'")
        return text if number is None else number

    def _mapping(self, keys: KeyPath) -> dict[str, object]:
        from yaml import events

        entries: dict[str, object] = {}
        while not isinstance(event := next(self.events), events.MappingEndEvent):
            key = self._key(event, keys)
            if key in entries:
                first = "line {}, column {}".format(*self.marks[*keys, key])
                self._refuse(event, f"the key '{key}' stands here twice", f"first at {first}")
                key = f"{key}\0again"
            self.marks[*keys, key] = _mark(event)
            entries[key] = self._node(next(self.events), (*keys, key))
        return entries

    def _key(self, event: events.Event, keys: KeyPath) -> str:
        """The text of a key; one that is not text is refused, and reading goes on."""
        from yaml import events

        if not isinstance(event, events.ScalarEvent):
            self._refuse(event, "a key must be text")
            self._node(event, (*keys, f"\0{_mark(event)}"))
            return f"\0{_mark(event)}"
        if event.value == "<<" and event.style in (None, ""):
            self._refuse(event, "merging mappings with << is not part of YAML 1.2", "write the keys out")
        problems = len(self.problems)
        value = self._scalar(event, (*keys, "\0key"))
        if not isinstance(value, str) and len(self.problems) == problems:
            self._refuse(event, f"the key {event.value or 'null'} is not text", f'quote it: "{event.value}"')
        return event.value

    def _refuse(self, event: events.Event, what: str, hint: str = "") -> None:
        self.problems.append(Problem(what, where=_place(self.name, _mark(event)), hint=hint))


def _mark(event: events.Event) -> Mark:
    assert event.start_mark is not None
    return event.start_mark.line + 1, event.start_mark.column + 1


def _place(name: str, mark: Mark) -> str:
    return f"{name}:{mark[0]}:{mark[1]}"


def _syntax_problem(name: str, text: str, problem: yaml.MarkedYAMLError) -> Problem:
    mark = problem.problem_mark or problem.context_mark
    where = _place(name, (mark.line + 1, mark.column + 1)) if mark else name
    context = f" {problem.context}" if problem.context else ""
    hint = _indentation_hint(text, mark.line) if mark else ""
    hint = hint or next((hint for words, hint in SYNTAX_HINTS.items() if words in (problem.problem or "")), "")
    return Problem(f"is not valid YAML: {problem.problem}{context}", where=where, hint=hint)


def _indentation_hint(text: str, line: int) -> str:
    """In which column a line should begin, if it begins in none that the lines above allow."""
    lines = text.splitlines()
    numbered = [
        (number, columns) for number, line in enumerate(lines[: line + 1], 1) if (columns := _columns(line))
    ]
    if len(numbered) < 2:
        return ""
    *above, (number, (own, *_)) = numbered
    before, columns = above[-1]
    is_item = lines[number - 1].lstrip().startswith("- ")
    legal = {column for _, begins in above for column in (begins if is_item else begins[-1:])}
    opens = lines[before - 1].rstrip().endswith((":", "-", "|", ">", "[", "{", ","))
    if own in legal or (own > columns[-1] and opens):
        return ""
    right = [columns[-1]] if own > columns[-1] else sorted(column for column in legal if column <= columns[-1])
    places = " or ".join(str(column + 1) for column in right)
    return f"line {number} begins in column {own + 1}; below line {before} it can begin in column {places}"


def _columns(line: str) -> list[int]:
    """The columns in which the parts of a line begin: its dashes, and the text behind them."""
    match = re.match(r"(?P<before> *(- +)*)(?P<rest>.*)", line)
    if match is None or not match["rest"] or match["rest"].startswith("#"):
        return []
    dashes = [index for index, sign in enumerate(match["before"]) if sign == "-"]
    return [*dashes, len(match["before"])]


@dataclass(frozen=True)
class YamlNode:
    """A value with its place in a document; one typed in a shell has no place."""

    value: Any
    document: Document | None = None
    keys: KeyPath = ()

    @classmethod
    def typed(cls, text: str, option: str) -> Self:
        """What was typed for an option of a shell: a mapping in braces, or text."""
        if not text.lstrip().startswith("{"):
            return cls(text)
        document = parse(text, option, UsageError)
        return cls(document.value, document)

    @property
    def where(self) -> str:
        """Where it stands, as "file.yaml:3:7"."""
        return self.place()

    def place(self, *keys: str | int) -> str:
        """Where the part under some keys stands."""
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
        """Each value of a mapping by its key, without keys of the user's own."""
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
        return _without_ignored(self.value)

    def problem(self, what: str, hint: str = "") -> Problem:
        """Something that is wrong here."""
        return Problem(what, where=self.where, hint=hint)


def _without_ignored(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_ignored(part) for key, part in value.items() if not str(key).startswith(IGNORED)}
    return [_without_ignored(part) for part in value] if isinstance(value, list) else value


def until_too_many_problems(items: Sequence[YamlNode], problems: list[Problem]) -> Iterator[YamlNode]:
    """The items of a list, up to the limit of reported problems."""
    before = len(problems)
    for index, item in enumerate(items):
        if len(problems) - before > MOST_FOUND:
            problems.append(item.problem(f"{len(items) - index:,} more stand here that were not looked at"))
            return
        yield item


def legal_parts(
    keys: Keys,
    node: YamlNode,
    problems: list[Problem],
    required: Sequence[str] = (),
    elsewhere: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, YamlNode]:
    """The parts of a mapping that are as its keys say; what is wrong with the others is added to ``problems``.

    ``elsewhere`` has hints for keys that belong to another place.
    """
    parts = node.named()
    hints = {**elsewhere, **indented_below(node.value)}
    legal = {key: part for key, part in parts.items() if key in keys and not keys[key].problem_with(part.value)}
    problems += [
        node.problem(f"the key '{key}' is missing", keys[key].help) for key in required if key not in parts
    ]
    wrong, named = [key for key in parts if key not in legal], 20
    for key in wrong[:named]:
        part = parts[key]
        if key in keys:
            one_item = keys[key].types == (list,) and isinstance(part.value, str)
            hint = f"such as {key}: [{part.value}]" if one_item else keys[key].help
            problems.append(part.problem(f"'{key}' {keys[key].problem_with(part.value)}", hint))
        else:
            hint = hints.get(key, "").replace("KEY", key).replace("VALUE", str(part.value))
            hint = hint or did_you_mean(key, keys, "keys")
            problems.append(part.problem(f"there is no key '{key}' here", hint))
    if len(wrong) > named:
        problems.append(node.problem(f"{len(wrong) - named:,} more keys are wrong here"))
    return legal


def indented_below(mapping: Mapping[str, object]) -> dict[str, str]:
    """Hints for keys that stand beside a key without a value instead of below it."""
    hints, empty = dict[str, str](), ""
    for key, value in mapping.items():
        if empty:
            hints[key] = f"if it belongs to '{empty}', indent it by two blanks more"
        empty = key if value is None else empty
    return hints
