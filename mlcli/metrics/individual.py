"""Individual fairness: whether rows that are alike are answered alike (Dwork et al. 2012; Zemel et al. 2013).

Formula:
    consistency = 1 − mean_i |ŷ_i − mean of ŷ over the k rows nearest to i|, with ŷ 1 for the favourable class;
    of all pairs with similarity above a threshold: the share that is decided differently, and the mean
    difference of the probability.

Two rows are as similar as 1 − Gower's distance (1971): the mean over the columns that are not sensitive of |x −
x'| over the column's range, or of whether levels differ; columns in which a cell is empty do not count. A row is
no neighbour of itself; of equally near rows all count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags, Table

NEIGHBOURS = 5
SIMILAR = 0.9


@dataclass(frozen=True)
class Alike:
    """How alike similar rows are answered; None where there is nothing to compare."""

    consistency: float | None
    pairs: int
    decided_differently: float | None
    probability_difference: float | None


def gower_distances(table: Table) -> Array:
    """The distance of every row to every other; NaN where two rows have no column in common."""
    total, counted = (np.zeros((len(table), len(table))) for _ in range(2))
    for values in table.numbers.T:
        known = values[~np.isnan(values)]
        width = float(np.ptp(known)) if len(known) else 0.0
        there = ~np.isnan(values)
        _add(total, counted, np.abs(values[:, None] - values) / (width or 1.0), there)
    for codes in table.codes.T:
        _add(total, counted, (codes[:, None] != codes).astype(np.float64), codes >= 0)
    with np.errstate(invalid="ignore"):
        return total / counted


def _add(total: Array, counted: Array, distance: Array, there: Flags) -> None:
    both = there[:, None] & there
    total += np.where(both, distance, 0.0)
    counted += both


def answered_alike(distances: Array, said: Array, probability: Array | None) -> Alike:
    """Consistency, and the pairs of similar rows; ``said`` is 1 where the class that is looked for is answered."""
    apart = np.where(np.isnan(distances), np.inf, distances)
    np.fill_diagonal(apart, np.inf)
    first, second = np.nonzero(np.triu(apart < 1 - SIMILAR, 1))
    differing = np.abs(said[first] - said[second])
    spread = None if probability is None else np.abs(probability[first] - probability[second])
    return Alike(
        _consistency(apart, said),
        len(first),
        float(differing.mean()) if len(first) else None,
        float(spread.mean()) if spread is not None and len(first) else None,
    )


def _consistency(apart: Array, said: Array) -> float | None:
    if len(said) <= NEIGHBOURS:
        return None
    reach = np.partition(apart, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]
    near = (apart <= reach[:, None]) & np.isfinite(apart)
    known = near.any(axis=1)
    if not known.any():
        return None
    mean = (near[known] @ said) / near[known].sum(axis=1)
    return float(1 - np.abs(said[known] - mean).mean())
