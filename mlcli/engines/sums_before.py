"""Weight, mean and scatter of rows, part by part: merged, never subtracted, so that no digits are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.held_out import Round
from mlcli.core.moments import over_rows, room_for, told
from mlcli.core.tables import Array, Rows

LOOKED_AT = 64
CLOSE = 0.1
"""A row farther than a third of a deviation from the mean of some column is a poor one to tell squares from."""


@dataclass(frozen=True, eq=False)
class Sums:
    """All that least squares and normal distributions need to know of some rows."""

    weight: float
    mean: Array
    scatter: Array
    """Σ w (z − mean)(z − mean)ᵀ."""
    low: Array
    """The smallest number of each column; infinite where there is none."""
    high: Array

    @classmethod
    def of(cls, columns: Array, weights: Array | None, room: Array | None = None) -> Sums:
        """The sums of some rows; a column in which NaN stands for nothing must not be among them.

        ``room`` is as large as the columns, or these themselves where they are not needed any more.
        """
        total = float(len(columns)) if weights is None else float(weights.sum())
        if total == 0:
            return cls.nothing(columns.shape[1])
        counted = columns if weights is None else columns[weights > 0]
        ones = np.ones(len(columns)) if weights is None else weights
        low, high = over_rows(np.minimum, counted), over_rows(np.maximum, counted)
        mean = ones @ columns / total
        centred = less_row(columns, mean, room)
        drift = ones @ centred / total
        centred -= drift
        if weights is not None:
            centred *= np.sqrt(weights)[:, None]
        return cls(total, mean + drift, centred.T @ centred, low, high)

    @classmethod
    def of_many(cls, columns: Array, weights: Array | None, rows: Rows, centre: Array) -> Sums:
        """The sums of many of the rows, told from a centre, without a copy of them.

        Their squares are about a row so near their mean that what is taken off costs no digits.
        """
        near = columns[rows[:LOOKED_AT]].mean(axis=0)
        found = cls._told(columns, weights, rows, near, near - centre)
        drift = found.mean - (near - centre)
        if (drift**2 * found.weight > CLOSE * found.scatter.diagonal()).any():
            near = near + drift
            return cls._told(columns, weights, rows, near, near - centre)
        return found

    @classmethod
    def _told(cls, columns: Array, weights: Array | None, rows: Rows, near: Array, place: Array) -> Sums:
        """The sums of rows by what they are from a row near them, which lies at such a place."""
        first, none = np.zeros(len(near)), cls.nothing(len(near))
        total, products, low, high = 0.0, none.scatter, none.low, none.high
        counts = np.ones(len(columns)) if weights is None else weights
        for cells, weight in told(columns, counts, rows, near, room_for(columns)):
            total += float(weight.sum())
            first += weight @ cells
            low = np.minimum(low, over_rows(np.minimum, cells))
            high = np.maximum(high, over_rows(np.maximum, cells))
            if weights is not None:
                cells *= np.sqrt(weight)[:, None]
            products += cells.T @ cells
        drift = first / total
        scatter = products - total * np.multiply.outer(drift, drift)
        return cls(total, place + drift, scatter, place + low, place + high)

    @classmethod
    def nothing(cls, columns: int) -> Sums:
        """The sums of no rows."""
        empty = np.full(columns, np.inf)
        return cls(0.0, np.zeros(columns), np.zeros((columns, columns)), empty, -empty)

    def merged(self, other: Sums) -> Sums:
        """The sums of these rows and those (Chan, Golub & LeVeque 1979)."""
        if self.weight == 0 or other.weight == 0:
            return other if self.weight == 0 else self
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        between = self.weight * other.weight / weight * (apart[:, None] * apart)
        return Sums(
            weight,
            self.mean + apart * (other.weight / weight),
            self.scatter + other.scatter + between,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def outside(columns: Array, weights: Array | None, round_: Round) -> list[Sums]:
    """The sums of the rows outside each part."""
    return all_but_one(
        [_of_rows(columns, weights, rows) for rows in round_.rows_of], _learned_only(columns, weights, round_)
    )


def _learned_only(columns: Array, weights: Array | None, round_: Round) -> Sums:
    return _of_rows(columns, weights, round_.learned_only)


def _of_rows(columns: Array, weights: Array | None, rows: Rows) -> Sums:
    return Sums.of(columns[rows], None if weights is None else weights[rows])


def all_but_one(parts: Sequence[Sums], always: Sums) -> list[Sums]:
    """For each part, the sums of all others merged, and of what always counts."""
    before = list(accumulate(parts[:-1], Sums.merged, initial=always))
    after = list(accumulate(parts[:0:-1], Sums.merged, initial=Sums.nothing(len(always.mean))))
    return [left.merged(right) for left, right in zip(before, reversed(after), strict=True)]
