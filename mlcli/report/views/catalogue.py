"""What methods there are, and the page of one: read from its declaration and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

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

TAKEN = {
    "numbers": "numbers",
    "nominal": "nominal columns",
    "missing": "empty cells",
    "weights": "row weights",
    "unlabelled": "rows without a class",
}
STEPS_FAMILY = "steps"
Mentions = dict[str, str]
"""By id, the first passage of its page that has the words."""
INDENTED = " " * 8
"""How a paragraph begins that keeps its lines, within a section."""


def listing(entries: Iterable[Entry], steps: Iterable[Entry]) -> Document:
    """Every method by family, with the kinds of task it can do, and every step."""
    families: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.family):
        families.setdefault(_family_of(entry).replace("_", " ") or "plugins", []).append(entry)
    every = {**families, STEPS_FAMILY: steps}
    tables: Document = ()
    for family, members in every.items():
        tables += (Heading(family), grid(["", "", ""], map(_entry_cells, members)))
    return (*tables, notes("mlcli models ID shows the parameters of one, with its formula and its source"))


def _family_of(entry: Entry) -> str:
    """The folder of a method; steps are one family."""
    return STEPS_FAMILY if entry.noun == "step" else entry.family


def _entry_cells(entry: Entry) -> list[Content]:
    kinds = ", ".join(kind.name for kind in kinds_from_bases(entry.bases))
    return [strong(entry.name), summary_of(entry), GridCell(kinds, "weak")]


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
    default: Any
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
    """All that is known of some methods; their modules are imported for it."""
    return tuple(element for entry in entries for element in _page(entry))


def _page(entry: Entry) -> Document:
    cls = entry.load()
    first, _, rest = inspect.cleandoc(inspect.getmodule(cls).__doc__ or "").partition("\n")
    facts = {
        "kind of task": ", ".join(kind.name for kind in kinds_of(cls)),
        "family": _family_of(entry).replace("_", " "),
        "accepts": _accepts_text(build(cls, {}).accepts),
        "stages": getattr(cls, "stage_name", ""),
        "generative": "mlcli sample draws rows of it" if _draws_rows(cls) else "",
        "reference": getattr(cls, "reference", ""),
        "from": entry.distribution,
    }
    return (
        Heading(entry.name, 1),
        Sentence(first),
        grid(["", ""], [fact for fact in facts.items() if fact[1]]),
        *_parameter_elements(parameters(cls), _search_title(entry.name)),
        *_sections(rest),
    )


def _draws_rows(cls: type) -> bool:
    """Whether it is a model of how rows come about, and no wrapper whose base may be one."""
    from mlcli.core.abilities import Generative

    return issubclass(cls, Generative) and "base" not in by_name(cls)


def _accepts_text(accepts: Any) -> str:
    taken = [word for name, word in TAKEN.items() if getattr(accepts, name)]
    wish = "; learns better from numbers of one scale" if accepts.prefers_scaled else ""
    return ", ".join(taken) + wish


def _search_title(name: str) -> str:
    """What the values worth trying are for: inner splits cannot compare models that learn without a target."""
    from mlcli.experiment.spec.shorthands import can_be_tuned

    is_compared_by_hand = name in MODELS and not can_be_tuned(name)
    return "Values to compare, by mlcli curve validation" if is_compared_by_hand else "Search space of --tune"


def _parameter_elements(declared: tuple[Parameter, ...], title: str) -> Iterator[Element]:
    if not declared:
        yield Sentence("It has no parameters.")
        return
    yield Heading("Parameters")
    rows = (
        (strong(parameter.name), _default_text(parameter.default), _range_text(parameter), parameter.help)
        for parameter in declared
    )
    yield grid(["name", "default", "takes", "meaning"], rows)
    worth = [(parameter.name, in_words(parameter.tune)) for parameter in declared if parameter.tune]
    if worth:
        yield Heading(title)
        yield grid(["name", "values"], worth)


def _range_text(parameter: Parameter) -> str:
    takes = parameter.range_text() if parameter.choices else f"{parameter.words()} {parameter.range_text()}"
    return takes.strip()


def _default_text(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_default_text(text)}' for name, text in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_default_text, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _sections(text: str) -> Iterator[Element]:
    for paragraph in filter(None, map(str.rstrip, text.split("\n\n"))):
        lines = paragraph.strip("\n").splitlines()
        if not lines[0].startswith(" ") and lines[0].endswith(":"):
            yield Heading(lines.pop(0).rstrip(":"))
        if lines and all(line.startswith(INDENTED) for line in lines):
            yield Preformatted(tuple(line.removeprefix("    ") for line in lines))
        elif lines:
            yield Sentence(" ".join(line.strip() for line in lines).replace("``", ""))


SENTENCES = re.compile(r"(?<=[.;:])\s+(?=[A-Z])")


def mentions(words: str, entries: Iterable[Entry]) -> Mentions:
    """What has the words one after another, or all in one passage; modules are imported for it."""
    parts = [_form(part) for part in re.split(r"[\s_-]+", words.strip()) if part]
    passages = {entry.name: list(_passages(entry)) for entry in entries} if parts else {}
    return _first(passages, [r"[\s_-]*".join(parts)]) or _first(passages, parts)


def _form(word: str) -> str:
    """A word in the singular or the plural: boundary, boundaries."""
    stem = re.escape(word.removesuffix("s"))
    return rf"{stem[:-1]}(y|ies)" if stem.endswith("y") else rf"{stem}(s|es)?"


def _first(passages: dict[str, list[str]], sequence: Sequence[str]) -> Mentions:
    """By id, the first passage that has all of what is wanted, as whole words in any case."""
    words = [re.compile(rf"(?<!\w){name}(?!\w)", re.IGNORECASE) for name in sequence]
    having = {
        name: next((name for name in passage if all(word.search(name) for word in words)), "")
        for name, passage in passages.items()
    }
    return {name: passage for name, passage in having.items() if passage}


def _passages(entry: Entry) -> Iterator[str]:
    return (passage for element in pages_of([entry]) for passage in _texts_of(element))


def _texts_of(element: Element) -> Iterator[str]:
    match element:
        case Sentence():
            yield from SENTENCES.split(element.text)
        case Preformatted():
            yield from map(str.strip, element.lines)
        case Grid():
            yield from ("  ".join(cell.text for cell in row) for row in element.rows)


def mentions_of(words: str, mentions: Mentions) -> Document:
    """A row for each method, with the passage."""
    return (
        Heading(f"What speaks of '{words}'"),
        grid(["", "first passage"], ((strong(name), passage) for name, passage in mentions.items())),
        notes("mlcli models ID shows the whole page of one"),
    )
