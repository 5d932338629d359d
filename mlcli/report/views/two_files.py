"""Two files beside each other: how their join went, and how alike they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlcli.core import findings
from mlcli.core.names import counted, listed
from mlcli.report.document import Document, Element, Heading, Sentence, explained, notes
from mlcli.scoring.files import differing_columns

if TYPE_CHECKING:
    from mlcli.data.join import JoinedTable, Key
    from mlcli.experiment.drift import Drift

SHOWN = 5
KEYS = ("file", "rows", "without a match", "with an empty key", "keys there twice or more")
COLUMNS = ("column", "test", "distance", "p", "PSI", "in A", "in B")
READING = (
    "distance: D of numbers, Cramér's V of levels; 0 is alike. p is corrected by Holm over the columns. "
    "PSI: below 0.1 little has moved, above 0.25 much has"
)


def joined_of(joined: JoinedTable, a: str, b: str) -> Document:
    """How a join went: rows without a match, keys that are empty or there twice, columns with new names."""
    files = ((a, joined.a), (b, joined.b))
    rows = tuple((name, keys.rows, keys.unmatched, keys.empty, len(keys.doubled)) for name, keys in files)
    return (
        Heading(f"{a} with {b}", 1),
        Sentence(f"{counted(len(joined), 'row')} of {counted(len(joined.columns), 'column')}."),
        *explained([findings.Table("Keys", KEYS, rows)]),
        *map(Sentence, remarks_on(joined, a, b)),
    )


def remarks_on(joined: JoinedTable, a: str, b: str) -> Iterator[str]:
    """What should be known of a join, a sentence each; the first says how many rows found a match."""
    yield f"{joined.matched} of {counted(joined.a.rows, 'row')} of {a} have a match in {b}."
    for name, keys in ((a, joined.a), (b, joined.b)):
        if keys.unmatched:
            yield f"{name}: {counted(keys.unmatched, 'row')} without a match, such as {_keys_text(keys.examples)}."
        if keys.empty:
            yield f"{name}: {counted(keys.empty, 'row')} with an empty key, which match nothing."
        if keys.doubled:
            yield f"{name}: keys that stand there more than once: {_keys_text(tuple(keys.doubled))}."
    for before, after in joined.renamed.items():
        yield f"Both files have a column '{before}': that of {b} is called '{after}'."


def _keys_text(keys: tuple[Key, ...]) -> str:
    return listed([" ".join(key) for key in keys], SHOWN)


def drift_of(drift: Drift) -> Document:
    """How alike two files are: each column in both, what a model can tell, and what follows."""
    return tuple(_drift_elements(drift))


def _drift_elements(drift: Drift) -> Iterator[Element]:
    a, b = drift.names
    yield Heading(f"Is {b} like {a}?", 1)
    yield Sentence(f"A: {a}, {counted(drift.rows[0], 'row')}; B: {b}, {counted(drift.rows[1], 'row')}")
    order = sorted(drift.columns, key=lambda column: (column.corrected, -column.distance))
    rows = tuple(
        (drift.name, drift.test, drift.distance, f"{drift.corrected:.2g}", drift.psi, drift.in_a, drift.in_b)
        for drift in order
    )
    yield from explained([findings.Table("Column by column", COLUMNS, rows, note=READING)])
    yield Heading("Classifier two-sample test")
    yield Sentence(_model_sentence(drift))
    alone = {
        "Columns of A that B lacks": drift.only_a,
        "Columns that only B has, not compared": drift.only_b,
    }
    yield from (Sentence(f"{which}: {listed(columns)}.") for which, columns in alone.items() if columns)
    yield Sentence(_verdict_sentence(drift))
    yield notes("a model learned from A is safe on B only as far as B is like A")


def _model_sentence(drift: Drift) -> str:
    low, high = drift.interval.low, drift.interval.high
    interval = f" (95 % interval {low:.3f} to {high:.3f})" if low is not None and high is not None else ""
    seen = f"a random forest, asked about rows that it has not seen, {counted(drift.seen, 'row')} in all"
    return f"AUC {drift.auc:.3f}{interval}: {seen}; up to 0.5 is chance, 1 tells every row."


def _verdict_sentence(drift: Drift) -> str:
    differing = differing_columns(drift)
    verdict = "the model tells them apart" if drift.are_separable else "the model cannot tell them apart"
    columns = f"{counted(len(differing), 'column')} of {len(drift.columns)}"
    differ = "differs" if len(differing) == 1 else "differ"
    if differing:
        return f"B is not like A: {columns} {differ} more than by chance ({listed(differing)}), and {verdict}."
    if drift.are_separable:
        return "B is not like A: no single column differs more than by chance, but the model tells them apart."
    return (
        "Nothing speaks against B being like A: no column differs more than by chance, and the model cannot tell."
    )
