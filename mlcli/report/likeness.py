"""How alike two files are: each column in both, what a model can tell, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mlcli.core import findings
from mlcli.core.names import listed
from mlcli.report.document import Document, Element, Heading, Sentence, explained, notes
from mlcli.report.numbers import counted

if TYPE_CHECKING:
    from mlcli.experiment.likeness import Likeness

SURE = 0.05
READING = (
    "distance: D of numbers, Cramér's V of levels; 0 is alike. p is corrected by Holm over the columns. "
    "PSI: below 0.1 little has moved, above 0.25 much has"
)


def likeness_of(found: Likeness) -> Document:
    """The columns that differ most first, then the model and the verdict."""
    return tuple(_elements(found))


def _elements(found: Likeness) -> Iterator[Element]:
    a, b = found.names
    yield Heading(f"Is {b} like {a}?", 1)
    yield Sentence(f"A: {a}, {counted(found.rows[0], 'row')}; B: {b}, {counted(found.rows[1], 'row')}")
    order = sorted(found.columns, key=lambda one: (one.corrected, -one.distance))
    rows = tuple(
        (one.name, one.test, one.distance, f"{one.corrected:.2g}", one.psi, one.in_a, one.in_b) for one in order
    )
    header = ("column", "test", "distance", "p", "PSI", "in A", "in B")
    yield from explained([findings.Table("Column by column", header, rows, note=READING)])
    yield Heading("A model that tells them apart")
    yield Sentence(_of_model(found))
    if found.only_a:
        yield Sentence(f"Columns of A that B lacks: {listed(found.only_a)}.")
    if found.only_b:
        yield Sentence(f"Columns that only B has, not compared: {listed(found.only_b)}.")
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


def as_json(found: Likeness) -> dict[str, Any]:
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
