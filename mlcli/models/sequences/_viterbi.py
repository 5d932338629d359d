"""The table of Viterbi, as taggers show it of one sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.findings import Entry
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.sequences import best_paths

UNKNOWN = "(unknown)"
NOTE = (
    "The logarithm of the probability of the best tags up to a row that end with each tag, with what is observed; "
    "the tags taken are read back from the best of the last row."
)


def viterbi_table(
    table: Table, chain: tuple[Array, Array], tags: Codes, classes: Sequence[str], target: str, note: str = NOTE
) -> findings.Table:
    """Of each row what is observed, the best path to each tag, and the tag taken."""
    columns = [_entries(column, cells) for column, cells in table.parts()]
    observed = list(zip(*columns, strict=True)) if columns else [() for _ in tags]
    rows = zip(observed, best_paths(*chain).tolist(), (classes[tag] for tag in tags), strict=True)
    header = (*(column.name for column, _ in table.parts()), *classes, target)
    lines = tuple((*seen, *scores, tag) for seen, scores, tag in rows)
    return findings.Table("Viterbi, row by row", header, lines, note=note)


def _entries(column: Column, cells: NDArray[Any]) -> list[Entry]:
    """The cells of a column as they are written."""
    if not column.coded:
        return [None if cell != cell else float(cell) for cell in cells]
    return [column.levels[code] if code >= 0 else UNKNOWN for code in cells]
