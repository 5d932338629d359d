"""What methods there are, and the page of one: read from its declaration and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mlcli.core.params import Parameter, build, by_name, parameters
from mlcli.core.ranges import in_words
from mlcli.core.registry import MODELS, Entry
from mlcli.core.serialise import shown
from mlcli.report.document import (
    Content,
    Document,
    Element,
    Grid,
    GridCell,
    Heading,
    Preformatted,
    Sentence,
    grid,
    notes,
    strong,
)
from mlcli.tasks.table import kinds_from_bases, kinds_of

Mentions = dict[str, str]
"""By id, the first passage of its page that has the words."""


def listing(entries: Iterable[Entry], steps: Iterable[Entry]) -> Document:
    """Every method by family, with the kinds of task it can do, and every step."""
    families: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.family):
        families.setdefault(_family_of(entry).replace("_", " ") or "plugins", []).append(entry)
    families["steps"] = list(steps)
    elements: list[Element] = []
    for family, members in families.items():
        rows: list[list[Content]] = []
        for entry in members:
            kinds = ", ".join(kind.name for kind in kinds_from_bases(entry.bases))
            rows.append([strong(entry.name), summary_of(entry), GridCell(kinds, "weak")])
        elements += [Heading(family), grid(["", "", ""], rows)]
    return (*elements, notes("mlcli models ID shows the parameters of one, with its formula and its source"))


def _family_of(entry: Entry) -> str:
    """The folder of a method; steps are one family."""
    return "steps" if entry.noun == "step" else entry.family


def summary_of(entry: Entry) -> str:
    """What a method does, without its name; for a plugin, where it comes from."""
    if entry.distribution != "mlcli":
        return f"from {entry.distribution}"
    _, colon, rest = entry.summary.partition(": ")
    return rest if colon else entry.summary


@dataclass(frozen=True)
class EntryRecord:
    """A method or a step."""

    id: str
    summary: str
    family: str
    kinds: tuple[str, ...]
    distribution: str = field(metadata=shown("from"))


@dataclass(frozen=True)
class ParameterRecord:
    """A parameter of a method."""

    name: str
    default: object
    takes: str
    help: str
    tune: str = field(metadata=shown(optional=True))


@dataclass(frozen=True)
class PageRecord:
    """A method with its parameters."""

    entry: EntryRecord = field(metadata=shown(merged=True))
    params: tuple[ParameterRecord, ...]
    stages: str
    reference: str


@dataclass(frozen=True)
class CatalogueRecord:
    """Every method and step."""

    models: tuple[EntryRecord, ...]
    steps: tuple[EntryRecord, ...]


@dataclass(frozen=True)
class PagesRecord:
    """Some methods or steps with their parameters."""

    models: tuple[PageRecord, ...]


@dataclass(frozen=True)
class MentionRecord:
    """A method or step whose page has some words, and the first passage that has them."""

    id: str
    passage: str


@dataclass(frozen=True)
class MentionsRecord:
    """Whose pages have some words."""

    words: str
    mentions: tuple[MentionRecord, ...]


def catalogue_record(entries: Iterable[Entry], steps: Iterable[Entry]) -> CatalogueRecord:
    """What ``--json`` writes of all methods."""
    return CatalogueRecord(tuple(map(_entry_record, entries)), tuple(map(_entry_record, steps)))


def _entry_record(entry: Entry) -> EntryRecord:
    kinds = tuple(kind.name for kind in kinds_from_bases(entry.bases))
    return EntryRecord(entry.name, summary_of(entry), _family_of(entry), kinds, entry.distribution)


def pages_record(entries: Iterable[Entry]) -> PagesRecord:
    """What ``--json`` writes of some methods; their modules are imported for it."""
    pages = []
    for entry in entries:
        cls = entry.load()
        params = tuple(
            ParameterRecord(
                parameter.name,
                parameter.default,
                _range_text(parameter),
                parameter.help,
                in_words(parameter.tune) if parameter.tune else "",
            )
            for parameter in parameters(cls)
        )
        stages, reference = getattr(cls, "stage_name", ""), getattr(cls, "reference", "")
        pages.append(PageRecord(_entry_record(entry), params, stages, reference))
    return PagesRecord(tuple(pages))


def mentions_record(words: str, mentions: Mentions) -> MentionsRecord:
    """What ``--json`` writes of a search for words."""
    return MentionsRecord(words, tuple(MentionRecord(name, passage) for name, passage in mentions.items()))


def pages_of(entries: Iterable[Entry]) -> Document:
    """The pages of some methods; their modules are imported for it."""
    return tuple(element for entry in entries for element in _page(entry))


def _page(entry: Entry) -> Iterator[Element]:
    """The facts of a method, its parameters, and the sections of its docstring."""
    from mlcli.core.abilities import Generative
    from mlcli.experiment.spec.shorthands import can_be_tuned

    cls = entry.load()
    first, _, rest = inspect.cleandoc(inspect.getmodule(cls).__doc__ or "").partition("\n")
    accepts = build(cls, {}).accepts
    accepted = {
        "numbers": accepts.numbers,
        "nominal columns": accepts.nominal,
        "empty cells": accepts.missing,
        "row weights": accepts.weights,
        "rows without a class": accepts.unlabelled,
    }
    scaled = "; learns better from numbers of one scale" if accepts.prefers_scaled else ""
    # A wrapper whose base may be generative is not meant.
    is_generative = issubclass(cls, Generative) and "base" not in by_name(cls)
    facts = {
        "kind of task": ", ".join(kind.name for kind in kinds_of(cls)),
        "family": _family_of(entry).replace("_", " "),
        "accepts": ", ".join(word for word, is_accepted in accepted.items() if is_accepted) + scaled,
        "stages": getattr(cls, "stage_name", ""),
        "generative": "mlcli sample draws rows of it" if is_generative else "",
        "reference": getattr(cls, "reference", ""),
        "from": entry.distribution,
    }
    yield Heading(entry.name, 1)
    yield Sentence(first)
    yield grid(["", ""], [fact for fact in facts.items() if fact[1]])
    declared = parameters(cls)
    if declared:
        rows = (
            (strong(parameter.name), _default_text(parameter.default), _range_text(parameter), parameter.help)
            for parameter in declared
        )
        yield Heading("Parameters")
        yield grid(["name", "default", "takes", "meaning"], rows)
    else:
        yield Sentence("It has no parameters.")
    tuned = [(parameter.name, in_words(parameter.tune)) for parameter in declared if parameter.tune]
    if tuned:
        # Inner splits cannot compare models that learn without a target.
        is_compared_by_hand = entry.name in MODELS and not can_be_tuned(entry.name)
        by_hand = "Values to compare, by mlcli curve validation"
        yield Heading(by_hand if is_compared_by_hand else "Search space of --tune")
        yield grid(["name", "values"], tuned)
    for paragraph in filter(None, map(str.rstrip, rest.split("\n\n"))):
        lines = paragraph.strip("\n").splitlines()
        if not lines[0].startswith(" ") and lines[0].endswith(":"):
            yield Heading(lines.pop(0).rstrip(":"))
        # Within a section, a paragraph that is indented once more keeps its lines.
        if lines and all(line.startswith(" " * 8) for line in lines):
            yield Preformatted(tuple(line.removeprefix("    ") for line in lines))
        elif lines:
            yield Sentence(" ".join(line.strip() for line in lines).replace("``", ""))


def _range_text(parameter: Parameter) -> str:
    takes = parameter.range_text() if parameter.choices else f"{parameter.words()} {parameter.range_text()}"
    return takes.strip()


def _default_text(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_default_text(text)}' for name, text in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_default_text, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def mentions(words: str, entries: Iterable[Entry]) -> Mentions:
    """The methods whose pages have the words one after another, or else all of them in one passage."""
    parts: list[str] = []
    for word in filter(None, re.split(r"[\s_-]+", words.strip())):
        stem = re.escape(word.removesuffix("s"))  # singular or plural: boundary, boundaries
        parts.append(rf"{stem[:-1]}(y|ies)" if stem.endswith("y") else rf"{stem}(s|es)?")
    if not parts:
        return {}
    passages = {entry.name: _passages(entry) for entry in entries}
    return _first_passages(passages, [r"[\s_-]*".join(parts)]) or _first_passages(passages, parts)


def _first_passages(passages: dict[str, list[str]], patterns: Sequence[str]) -> Mentions:
    """By id, the first passage that matches all patterns, as whole words in any case."""
    compiled = [re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE) for pattern in patterns]
    first: Mentions = {}
    for name, texts in passages.items():
        for text in texts:
            if text and all(pattern.search(text) for pattern in compiled):
                first[name] = text
                break
    return first


def _passages(entry: Entry) -> list[str]:
    """The sentences of a page, and the lines of its tables and formulas."""
    passages: list[str] = []
    for element in _page(entry):
        match element:
            case Sentence():
                passages += re.split(r"(?<=[.;:])\s+(?=[A-Z])", element.text)
            case Preformatted():
                passages += map(str.strip, element.lines)
            case Grid():
                passages += ("  ".join(cell.text for cell in row) for row in element.rows)
    return passages


def mentions_of(words: str, mentions: Mentions) -> Document:
    """A row for each method, with the passage."""
    return (
        Heading(f"What speaks of '{words}'"),
        grid(["", "first passage"], ((strong(name), passage) for name, passage in mentions.items())),
        notes("mlcli models ID shows the whole page of one"),
    )
