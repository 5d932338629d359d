"""How much one column says of another, by each row's neighbours in it: quick, and never by the row itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.pair_sums import dense_ranks
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags

CUTS = 20
"""Thresholds that are tried on a column of numbers."""
FEWEST_FLAGGED = 5
"""A condition that holds for fewer of the rows in question shows nothing."""


def share_right(cells: NDArray[Any], classes: Codes, count: int) -> float:
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
        of_row[alone] = _neighbour_counts(counts, groups[alone])
    return float((of_row.argmax(axis=1) == classes).mean())


def _neighbour_counts(counts: Array, groups: Codes) -> Array:
    """What the values just below and above have together."""
    padded = np.concatenate([np.zeros((1, counts.shape[1])), counts, np.zeros((1, counts.shape[1]))])
    beside: Array = padded[groups] + padded[groups + 2]
    return beside


def share_explained(cells: NDArray[Any], values: Array) -> float:
    """R² of what the other rows of the same value, or the values just below and above, have on average."""
    groups = dense_ranks(cells)
    totals, sizes = np.bincount(groups, values), np.bincount(groups).astype(np.float64)
    others, sums = sizes[groups] - 1, totals[groups] - values
    alone = others == 0
    if alone.any():
        beside = _neighbour_counts(np.stack([totals, sizes], axis=1), groups[alone])
        sums[alone], others[alone] = beside[:, 0], np.maximum(beside[:, 1], 1)
    spread = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - sums / others) ** 2).sum()) / spread if spread > 0 else 0.0


@dataclass(frozen=True)
class ColumnCondition:
    """A condition on one column, and how often something holds where it is met and where not."""

    words: str
    correlation: float
    """Of the condition with what it tells (phi)."""
    rows: int
    """How many rows meet it, of all."""
    of_rows: int
    flagged_inside: int
    """In how many rows that meet it something holds, of all in which it does."""
    flagged: int
    is_of_gaps: bool = False
    """Whether the condition is that a column is missing, too."""

    @property
    def inside(self) -> float:
        """The share of the rows that meet it in which something holds."""
        return self.flagged_inside / self.rows

    @property
    def outside(self) -> float:
        """The same of the rows that do not meet it."""
        return (self.flagged - self.flagged_inside) / (self.of_rows - self.rows)

    @property
    def probability_by_chance(self) -> float:
        """How probable flags as uneven are where they do not depend on the condition (Fisher's exact test)."""
        from scipy.stats import hypergeom

        counts = hypergeom(self.of_rows, self.flagged, self.rows)
        more = self.correlation > 0
        return float(counts.sf(self.flagged_inside - 1) if more else counts.cdf(self.flagged_inside))


def best_condition(flags: Flags, cells: Array, column: Column) -> ColumnCondition | None:
    """The condition on a column that tells best where flags stand."""
    rules = (_condition(flags, *condition) for condition in _conditions(cells, column))
    known = [rule for rule in rules if rule is not None]
    return max(known, key=lambda rule: abs(rule.correlation), default=None)


def _condition(flags: Flags, met: Flags, words: str, is_of_gaps: bool) -> ColumnCondition | None:
    rows, flagged, flagged_inside = int(met.sum()), int(flags.sum()), int(flags[met].sum())
    if not 0 < rows < len(met):
        return None
    expected = flagged * rows / len(met)
    more_inside = flagged_inside > expected
    if (flagged_inside if more_inside else flagged - flagged_inside) < FEWEST_FLAGGED:
        return None
    variance = expected * (1 - rows / len(met)) * (1 - flagged / len(met))
    phi = (flagged_inside - expected) / np.sqrt(variance * len(met)) if variance > 0 else 0.0
    return ColumnCondition(words, float(phi), rows, len(met), flagged_inside, flagged, is_of_gaps)


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
