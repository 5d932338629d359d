"""How a join went: rows with and without a match, keys that are empty or there twice, columns with new names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mlcli.core import findings
from mlcli.core.names import listed
from mlcli.report.document import Document, Element, Heading, Sentence, explained
from mlcli.report.numbers import counted

if TYPE_CHECKING:
    from mlcli.data.join import Joined, Key

SHOWN = 5


def joined_of(found: Joined, a: str, b: str) -> Document:
    """The whole report."""
    return tuple(_elements(found, a, b))


def _elements(found: Joined, a: str, b: str) -> Iterator[Element]:
    yield Heading(f"{a} with {b}", 1)
    yield Sentence(f"{counted(len(found), 'row')} of {counted(len(found.columns), 'column')}.")
    header = ("file", "rows", "without a match", "with an empty key", "keys there twice or more")
    rows = tuple(
        (name, keys.rows, keys.unmatched, keys.empty, len(keys.doubled))
        for name, keys in ((a, found.a), (b, found.b))
    )
    yield from explained([findings.Table("Keys", header, rows)])
    for line in remarks_on(found, a, b):
        yield Sentence(line)


def remarks_on(found: Joined, a: str, b: str) -> Iterator[str]:
    """What should be known of a join, a sentence each; the first says how many rows found a match."""
    yield f"{found.matched} of {counted(found.a.rows, 'row')} of {a} have a match in {b}."
    for name, keys in ((a, found.a), (b, found.b)):
        if keys.unmatched:
            yield f"{name}: {counted(keys.unmatched, 'row')} without a match, such as {_named(keys.examples)}."
        if keys.empty:
            yield f"{name}: {counted(keys.empty, 'row')} with an empty key, which match nothing."
        if keys.doubled:
            yield f"{name}: keys that stand there more than once: {_named(tuple(keys.doubled))}."
    for before, after in found.renamed.items():
        yield f"Both files have a column '{before}': that of {b} is called '{after}'."


def _named(keys: tuple[Key, ...]) -> str:
    return listed([" ".join(key) for key in keys], SHOWN)


def as_json(found: Joined, a: str, b: str) -> dict[str, Any]:
    """The same as plain values."""
    files = [
        {
            "name": name, "rows": keys.rows, "unmatched": keys.unmatched, "empty": keys.empty,
            "examples": [list(key) for key in keys.examples],
            "doubled": [{"key": list(key), "rows": count} for key, count in keys.doubled.items()],
        }
        for name, keys in ((a, found.a), (b, found.b))
    ]  # fmt: skip
    counts = {"rows": len(found), "columns": list(found.columns), "matched": found.matched}
    return {**counts, "files": files, "renamed": dict(found.renamed)}
