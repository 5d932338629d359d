"""Tables in which taggers show what follows what, and Viterbi of one sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.findings import Entry
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.sequences import best_paths

OF_SCORES = (
    "The largest score of tags up to a row that end with each tag: a logarithm of probability but for a constant; "
    "the tags taken are read back from the best of the last row."
)
UNKNOWN, BOUNDARY, END = "(unknown)", "(start)", "(end)"
AS_COUNTED = "The shares are as counted, not smoothed."
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


def how_smoothed(alpha: float, what: str = "tag", smoothing: str = "alpha") -> str:
    """How shares came from counts."""
    if smoothing == "interpolation":
        return "The shares after histories of every length are mixed (interpolation)."
    return f"{alpha:g} is added to the count of every {what} (alpha)." if alpha else AS_COUNTED


def transition_table(transitions: Array, classes: Sequence[str], stop: bool, note: str) -> findings.Table:
    """The probability of each tag, and where it is an outcome of the end, after each history."""
    symbols, shares = (*classes, BOUNDARY), np.exp(transitions)
    outcomes = (*classes, END) if stop else tuple(classes)
    rows: list[tuple[Entry, ...]] = []
    for history in np.ndindex(shares.shape[:-1]):
        if _can_be(history, boundary=len(classes)):
            after = " ".join(symbols[tag] for tag in history)
            rows.append((after, *shares[history][: len(outcomes)].tolist()))
    title = "How probable each tag is after those before it"
    return findings.Table(title, ("after", *outcomes), tuple(rows), note=note)


def _can_be(history: tuple[int, ...], boundary: int) -> bool:
    """Whether no tag stands before the start of a sequence."""
    return all(later != boundary or earlier == boundary for earlier, later in pairwise(history))
