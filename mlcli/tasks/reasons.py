"""Why rows are odd: what each column adds to the score of a row, and the columns that add most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows, Table

REASONS = 3
"""How many columns are named for a row."""
NO_REASON = -1
WORTH_NAMING = 0.05
"""The share from which on a column is named."""


def typical_of(table: Table) -> Array:
    """The median of each numeric column, then the most frequent code of each other one."""
    codes = [np.bincount(cells[cells >= 0], minlength=1).argmax() for cells in table.codes.T]
    known = [cells[~np.isnan(cells)] for cells in table.numbers.T]
    return np.array([*(np.median(cells) if len(cells) else 0.0 for cells in known), *codes], np.float64)


def occlusion(score: Callable[[Any], Array], X: Any, usual: Any) -> Array:
    """How far a row's score falls when a cell takes its usual value, with the sign of the cell's deviation."""
    whole, added = score(X), np.empty(X.shape)
    for column, value in enumerate(usual):
        covered = X.copy()
        covered[:, column] = value
        added[:, column] = np.maximum(whole - score(covered), 0.0)
    return np.asarray(np.sign(np.nan_to_num(X) - usual) * added)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The scores of rows by a model, and the windows in which one that looks at rows side by side was asked."""

    model: Any
    table: Table
    windows: list[Rows]
    score: Array

    @classmethod
    def about(cls, model: Any, table: Table, sequence_windows: Callable[[], list[Rows]]) -> ScoredRows:
        """Ask the model; one that looks at the rows beside a row meets them in their order."""
        if not model.in_sequence:
            return cls(model, table, [], model.score_rows(table))
        score, parts = np.empty(len(table)), sequence_windows()
        for rows in parts:
            score[rows] = model.score_rows(table.take(rows))
        return cls(model, table, parts, score)

    def top_reasons(self, count: int) -> tuple[tuple[str, ...], Codes, Array]:
        """Names of columns, and for so many of the oddest rows those that add most with their signed shares."""
        reasons = np.full((len(self.table), REASONS), NO_REASON, dtype=np.int32)
        shares = np.zeros((len(self.table), REASONS))
        oddest = np.argsort(-self.score, kind="stable")[:count]
        columns, added = self._reasons(oddest)
        first, parts = _largest(added)
        reasons[oddest, : first.shape[1]] = np.where(parts == 0, NO_REASON, first)
        shares[oddest, : first.shape[1]] = parts
        return columns, reasons, shares

    def _reasons(self, wanted: Rows) -> tuple[tuple[str, ...], Array]:
        """The names of the columns, and what each adds to the rows wanted."""
        if not self.model.in_sequence:
            found: tuple[tuple[str, ...], Array] = self.model.reasons(self.table.take(wanted))
            return found
        parts = [self.model.reasons(self.table.take(rows)) for rows in self.windows if len(rows)]
        if not parts:
            return (), np.empty((0, 0))
        columns, added = parts[0][0], np.concatenate([part[1] for part in parts])
        return columns, added[np.argsort(np.concatenate(self.windows))][wanted]


def _largest(added: Array) -> tuple[Rows, Array]:
    """The columns that add most to each row, and the signed share of each."""
    size = np.abs(added)
    whole = size.sum(axis=1, keepdims=True)
    first = np.argsort(-size, axis=1, kind="stable")[:, :REASONS]
    share = np.divide(added, whole, out=np.zeros_like(added), where=whole > 0)
    return first, np.take_along_axis(share, first, axis=1)


def main_reasons(columns: Sequence[str], reasons: Codes, shares: Array) -> list[tuple[str, float]]:
    """The columns that make a row odd with their shares, below 0 where the cell is lower than usual."""
    found = zip(reasons.tolist(), shares.tolist(), strict=True)
    return [(columns[at], share) for at, share in found if at != NO_REASON and abs(share) >= WORTH_NAMING]
