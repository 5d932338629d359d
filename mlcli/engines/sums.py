"""Weight, mean and scatter of sets of rows: merged, never subtracted, so that no digits are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, Self, TypeVar

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.tables import Array, Rows

CELLS = 2**16
"""How many cells are gone through at once."""
PER_COLUMN = 4
"""So many rows for each column are worth the sum of their products."""
LOOKED_AT = 64
CLOSE = 0.8
"""Squares about the mean are at least a fifth of those about a place that is taken to be near it."""


class Merging(Protocol):
    """What is known of sets of rows, and merges to what is known of them together."""

    def merged(self, other: Self) -> Self:
        """Of these rows and those."""


Known = TypeVar("Known", bound=Merging)


@dataclass(frozen=True, eq=False)
class Sums:
    """All that least squares and normal distributions need to know of rows; leading axes are sets of rows."""

    weight: Array
    mean: Array
    scatter: Array
    """Σ w (z − mean)(z − mean)ᵀ."""

    @classmethod
    def of(
        cls, columns: Array, weights: Array | None = None, rows: Rows | None = None, target: Array | None = None
    ) -> Sums:
        """The sums of some rows, none of whose cells is empty; a target is one more column, the last.

        Squares are about a place so near the mean that what is taken off costs no digits.
        """
        given = columns if target is None else np.column_stack([columns[:LOOKED_AT], target[:LOOKED_AT]])
        if not len(columns if rows is None else rows):
            return cls(np.zeros(()), np.zeros(given.shape[1]), np.zeros((given.shape[1],) * 2))
        near = _near(given if rows is None else columns[rows[:LOOKED_AT]])
        total, first, products = _about(near, columns, weights, rows, target)
        if (first**2 > CLOSE * total * products.diagonal()).any():
            near = near + first / total
            total, first, products = _about(near, columns, weights, rows, target)
        drift = first / total if total > 0 else first
        return cls(np.array(total), near + drift, products - total * np.multiply.outer(drift, drift))

    @classmethod
    def stacked(cls, sums: Sequence[Sums]) -> Sums:
        """Several sets along one more axis, the first."""
        weight, mean, scatter = zip(*((one.weight, one.mean, one.scatter) for one in sums), strict=True)
        return cls(np.array(weight), np.array(mean), np.array(scatter))

    @property
    def squares(self) -> Array:
        """The scatter of single columns."""
        return np.asarray(np.einsum("...ii->...i", self.scatter))

    def merged(self, other: Sums) -> Sums:
        """The sums of these rows and those (Chan, Golub & LeVeque 1979)."""
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        apart = other.mean - self.mean
        between = (self.weight * share)[..., None, None] * (apart[..., :, None] * apart[..., None, :])
        return Sums(weight, self.mean + share[..., None] * apart, self.scatter + other.scatter + between)


def all_but_one(parts: Sequence[Known], always: Known) -> list[Known]:
    """For each part, what is known of all others together, and of what always counts."""
    nothing: list[Known | None] = [None]
    before = list(accumulate(parts[:-1], lambda left, right: left.merged(right), initial=always))
    after = [*nothing, *accumulate(parts[:0:-1], lambda right, left: right.merged(left))]
    return [
        left if right is None else left.merged(right) for left, right in zip(before, reversed(after), strict=True)
    ]


def _near(rows: Array) -> Array:
    """A place near rows: 0 where that is near enough to all columns; its own number where one is constant."""
    some = rows[:LOOKED_AT]
    constant, mean = (some == some[0]).all(axis=0), some.mean(axis=0)
    if not constant.any() and (mean**2 <= CLOSE * ((some - mean) ** 2).mean(axis=0)).all():
        return np.zeros(len(mean))
    return np.asarray(np.where(constant, some[0], mean))


def _about(
    near: Array, columns: Array, weights: Array | None, rows: Rows | None, target: Array | None
) -> tuple[float, Array, Array]:
    """Weight, sums and sums of products of rows less a place near them."""
    width = columns.shape[1]
    total, first, products = 0.0, np.zeros(len(near)), np.zeros((len(near), len(near)))
    for block, cells in _blocks(near[:width], columns, rows):
        weight = None if weights is None else weights[block]
        total += len(cells) if weight is None else float(weight.sum())
        weighted = cells if weight is None else cells * np.sqrt(weight)[:, None]
        products[:width, :width] += weighted.T @ weighted
        first[:width] += (np.ones(len(cells)) if weight is None else weight) @ cells
        if target is not None:
            values = target[block] - near[width]
            of_target = values if weight is None else values * weight
            products[width, :width] += of_target @ cells
            products[width, width] += of_target @ values
            first[width] += of_target.sum()
    products[:width, width:] = products[width:, :width].T
    return total, first, products


def _blocks(near: Array, columns: Array, rows: Rows | None) -> Iterator[tuple[Rows | slice, Array]]:
    """Some rows at a time, less a place near them, in the same room: fresh pages cost more than what is done."""
    count, moved = len(columns if rows is None else rows), bool(near.any())
    size = min(count, max(CELLS // max(1, len(near)), PER_COLUMN * len(near)))
    room = np.empty((size, len(near)))
    for start in range(0, count, size):
        part, here = slice(start, start + size), room[: min(size, count - start)]
        if rows is None:
            yield part, less_row(columns[part], near, here) if moved else columns[part]
            continue
        cells = np.take(columns, rows[part], axis=0, out=here, mode="clip")
        yield rows[part], less_row(cells, near, cells) if moved else cells
