"""Which methods and steps speak of a word that is the id of none: a search in the pages of all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mlcli.core.registry import Entry
from mlcli.report.document import Document, Element, Grid, Heading, Preformatted, Sentence, grid, notes, strong
from mlcli.report.views.catalogue import pages_of

Mentions = dict[str, str]
"""By id, the first passage of its page that has the words."""
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


def _first(passages: dict[str, list[str]], wanted: Sequence[str]) -> Mentions:
    """By id, the first passage that has all of what is wanted, as whole words in any case."""
    words = [re.compile(rf"(?<!\w){one}(?!\w)", re.IGNORECASE) for one in wanted]
    having = {
        name: next((one for one in some if all(word.search(one) for word in words)), "")
        for name, some in passages.items()
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


def listing(words: str, found: Mentions) -> Document:
    """A row for each method, with the passage."""
    return (
        Heading(f"What speaks of '{words}'"),
        grid(["", "first passage"], ((strong(name), passage) for name, passage in found.items())),
        notes("mlcli models ID shows the whole page of one"),
    )


def as_json(words: str, found: Mentions) -> dict[str, Any]:
    """The same as plain values."""
    return {"words": words, "mentions": [{"id": name, "passage": passage} for name, passage in found.items()]}
