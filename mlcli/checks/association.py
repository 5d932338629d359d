"""How much one column says about another, by each row's neighbours in it: quick, and never by the row itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.pair_sums import dense_ranks
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags

CUTS = 20
"""The number of thresholds that are tried on a column of numbers."""


def share_right(cells: Array, classes: Codes, count: int) -> float:
    """The share of rows whose class the other rows of the same value, or the nearest value, have most often.

    Missing cells are a value like any other.
    """
    groups = dense_ranks(cells)
    counts = np.zeros((int(groups.max()) + 1, count))
    np.add.at(counts, (groups, classes), 1)
    of_row = counts[groups]
    of_row[np.arange(len(classes)), classes] -= 1
    alone = of_row.sum(axis=1) == 0
    if alone.any():
        of_row[alone] = _neighbour_sums(counts, groups[alone])
    return float((of_row.argmax(axis=1) == classes).mean())


def share_explained(cells: Array, values: Array) -> float:
    """R² of the mean of the other rows of the same value, or of the values just below and above."""
    groups = dense_ranks(cells)
    totals, sizes = np.bincount(groups, values), np.bincount(groups).astype(np.float64)
    others, sums = sizes[groups] - 1, totals[groups] - values
    alone = others == 0
    if alone.any():
        beside = _neighbour_sums(np.stack([totals, sizes], axis=1), groups[alone])
        sums[alone], others[alone] = beside[:, 0], np.maximum(beside[:, 1], 1)
    spread = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - sums / others) ** 2).sum()) / spread if spread > 0 else 0.0


def _neighbour_sums(sums: Array, groups: Codes) -> Array:
    """The sums of the values just below and above, together."""
    padded = np.pad(sums, ((1, 1), (0, 0)))
    beside: Array = padded[groups] + padded[groups + 2]
    return beside


@dataclass(frozen=True)
class ColumnCondition:
    """A condition on one column, and how often rows are flagged where it is met and where not."""

    words: str
    correlation: float
    """Of the condition with the flags (phi)."""
    rows: int
    """The number of rows that meet it."""
    of_rows: int
    """The number of all rows."""
    flagged_inside: int
    """The number of flagged rows that meet it."""
    flagged: int
    """The number of flagged rows."""
    is_of_gaps: bool = False
    """Whether the condition is that a column is missing, too."""

    @property
    def inside(self) -> float:
        """The share of flagged rows among those that meet it."""
        return self.flagged_inside / self.rows

    @property
    def outside(self) -> float:
        """The share of flagged rows among the others."""
        return (self.flagged - self.flagged_inside) / (self.of_rows - self.rows)

    @property
    def probability_by_chance(self) -> float:
        """The probability of flags as uneven if they do not depend on the condition (Fisher's exact test)."""
        from scipy.stats import hypergeom

        counts = hypergeom(self.of_rows, self.flagged, self.rows)
        more = self.correlation > 0
        return float(counts.sf(self.flagged_inside - 1) if more else counts.cdf(self.flagged_inside))


def best_condition(flags: Flags, cells: Array, column: Column) -> ColumnCondition | None:
    """The condition on a column that correlates most with flags."""
    conditions = []
    for met, words, is_of_gaps in _conditions(cells, column):
        rows, flagged, flagged_inside = int(met.sum()), int(flags.sum()), int(flags[met].sum())
        expected = flagged * rows / len(met)
        # fewer than 5 flagged rows on the side with more of them show nothing
        flagged_on_side = flagged_inside if flagged_inside > expected else flagged - flagged_inside
        if 0 < rows < len(met) and flagged_on_side >= 5:
            variance = expected * (1 - rows / len(met)) * (1 - flagged / len(met))
            phi = (flagged_inside - expected) / np.sqrt(variance * len(met)) if variance > 0 else 0.0
            counts = rows, len(met), flagged_inside, flagged
            conditions.append(ColumnCondition(words, float(phi), *counts, is_of_gaps))
    return max(conditions, key=lambda condition: abs(condition.correlation), default=None)


def _conditions(cells: Array, column: Column) -> Iterator[tuple[Flags, str, bool]]:
    """Each level, or each of some thresholds; and being empty, which is marked."""
    empty = np.isnan(cells)
    if empty.any():
        yield empty, f"{column.name} is missing", True
    if column.coded:
        for code in np.unique(cells[~empty]):
            yield cells == code, f"{column.name} = {column.levels[int(code)]}", False
    elif not empty.all():
        for cut in np.unique(np.quantile(cells[~empty], np.arange(1, CUTS) / CUTS)):
            yield cells > cut, f"{column.name} > {cut:.4g}", False
