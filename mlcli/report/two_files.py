"""Two files beside each other: how their join went, and how alike they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mlcli.core import findings
from mlcli.core.names import listed
from mlcli.report.document import Document, Element, Heading, Sentence, explained, notes
from mlcli.report.numbers import counted

if TYPE_CHECKING:
    from mlcli.data.join import JoinedTable, Key
    from mlcli.experiment.likeness import Likeness

SHOWN = 5
KEYS = ("file", "rows", "without a match", "with an empty key", "keys there twice or more")
COLUMNS = ("column", "test", "distance", "p", "PSI", "in A", "in B")
SURE = 0.05
READING = (
    "distance: D of numbers, Cramér's V of levels; 0 is alike. p is corrected by Holm over the columns. "
    "PSI: below 0.1 little has moved, above 0.25 much has"
)


def joined_of(found: JoinedTable, a: str, b: str) -> Document:
    """How a join went: rows without a match, keys that are empty or there twice, columns with new names."""
    files = ((a, found.a), (b, found.b))
    rows = tuple((name, keys.rows, keys.unmatched, keys.empty, len(keys.doubled)) for name, keys in files)
    return (
        Heading(f"{a} with {b}", 1),
        Sentence(f"{counted(len(found), 'row')} of {counted(len(found.columns), 'column')}."),
        *explained([findings.Table("JoinKeys", KEYS, rows)]),
        *map(Sentence, remarks_on(found, a, b)),
    )


def remarks_on(found: JoinedTable, a: str, b: str) -> Iterator[str]:
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


def joined_as_json(found: JoinedTable, a: str, b: str) -> dict[str, Any]:
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


def likeness_of(found: Likeness) -> Document:
    """How alike two files are: each column in both, what a model can tell, and what follows."""
    return tuple(_likeness(found))


def _likeness(found: Likeness) -> Iterator[Element]:
    a, b = found.names
    yield Heading(f"Is {b} like {a}?", 1)
    yield Sentence(f"A: {a}, {counted(found.rows[0], 'row')}; B: {b}, {counted(found.rows[1], 'row')}")
    order = sorted(found.columns, key=lambda one: (one.corrected, -one.distance))
    rows = tuple(
        (one.name, one.test, one.distance, f"{one.corrected:.2g}", one.psi, one.in_a, one.in_b) for one in order
    )
    yield from explained([findings.Table("Column by column", COLUMNS, rows, note=READING)])
    yield Heading("A model that tells them apart")
    yield Sentence(_of_model(found))
    alone = {"Columns of A that B lacks": found.only_a, "Columns that only B has, not compared": found.only_b}
    yield from (Sentence(f"{which}: {listed(columns)}.") for which, columns in alone.items() if columns)
    yield Sentence(_verdict(found))
    yield notes("a model learned from A is safe on B only as far as B is like A")


def _of_model(found: Likeness) -> str:
    low, high = found.interval.low, found.interval.high
    interval = f" (95 % interval {low:.3f} to {high:.3f})" if low is not None and high is not None else ""
    seen = f"a random forest, asked about rows that it has not seen, {counted(found.seen, 'row')} in all"
    return f"AUC {found.auc:.3f}{interval}: {seen}; up to 0.5 is chance, 1 tells every row."


def _verdict(found: Likeness) -> str:
    differing = [one.name for one in found.columns if one.corrected < SURE]
    verdict = "the model tells them apart" if found.are_separable else "the model cannot tell them apart"
    columns = f"{counted(len(differing), 'column')} of {len(found.columns)}"
    differ = "differs" if len(differing) == 1 else "differ"
    if differing:
        return f"B is not like A: {columns} {differ} more than by chance ({listed(differing)}), and {verdict}."
    if found.are_separable:
        return "B is not like A: no single column differs more than by chance, but the model tells them apart."
    return (
        "Nothing speaks against B being like A: no column differs more than by chance, and the model cannot tell."
    )


def likeness_as_json(found: Likeness) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "a": {"name": found.names[0], "rows": found.rows[0]},
        "b": {"name": found.names[1], "rows": found.rows[1]},
        "columns": [asdict(one) for one in found.columns],
        "only_a": list(found.only_a),
        "only_b": list(found.only_b),
        "model": {
            "auc": found.auc, "low": found.interval.low, "high": found.interval.high, "rows": found.seen,
            "tells_apart": found.are_separable,
        },
        "verdict": _verdict(found),
    }  # fmt: skip
