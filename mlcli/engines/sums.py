"""Weight, mean and scatter of sets of rows: merged, never subtracted, so that no digits are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, Self, TypeVar

import numpy as np

from mlcli.core.blocks import less_row, row_blocks
from mlcli.core.tables import Array, Rows

CELLS = 2**16
"""How many cells are gone through at once."""
LOOKED_AT = 64
CLOSE = 0.1
"""Squares are taken about a place less than a third of a deviation from the mean of each column."""


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
        if not len(columns if rows is None else rows):
            width = columns.shape[1] + (target is not None)
            return cls(np.zeros(()), np.zeros(width), np.zeros((width, width)))
        near = _near(columns, rows, target)
        total, first, products = _about(near, columns, weights, rows, target)
        drift = first / total if total > 0 else first
        scatter = products - total * np.multiply.outer(drift, drift)
        if (drift**2 * total > CLOSE * scatter.diagonal()).any():
            near = near + drift
            total, first, products = _about(near, columns, weights, rows, target)
            drift = first / total
            scatter = products - total * np.multiply.outer(drift, drift)
        return cls(np.array(total), near + drift, scatter)

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


def _near(columns: Array, rows: Rows | None, target: Array | None) -> Array:
    """A row near the first ones; where these are equal, their own number, so that a constant is exact."""
    some = slice(0, LOOKED_AT) if rows is None else rows[:LOOKED_AT]
    first = columns[some] if target is None else np.column_stack([columns[some], target[some]])
    return np.asarray(np.where((first == first[0]).all(axis=0), first[0], first.mean(axis=0)))


def _about(
    near: Array, columns: Array, weights: Array | None, rows: Rows | None, target: Array | None
) -> tuple[float, Array, Array]:
    """Weight, sums and sums of products of rows less a row near them."""
    total, first, products = 0.0, np.zeros(len(near)), np.zeros((len(near), len(near)))
    for block, cells in _blocks(near, columns, rows, target):
        if weights is None:
            total += len(cells)
            first += np.ones(len(cells)) @ cells
        else:
            weight = weights[block]
            total += float(weight.sum())
            first += weight @ cells
            cells *= np.sqrt(weight)[:, None]
        products += cells.T @ cells
    return total, first, products


def _blocks(
    near: Array, columns: Array, rows: Rows | None, target: Array | None
) -> Iterator[tuple[Rows | slice, Array]]:
    """Some rows at a time, less a row near them, in the same room: fresh pages cost more than what is done."""
    count, width = len(columns if rows is None else rows), columns.shape[1]
    room = np.empty((min(count, max(16, CELLS // max(1, len(near)))), len(near)))
    for part in row_blocks(count, len(near), CELLS):
        block: Rows | slice = part if rows is None else rows[part]
        cells = room[: len(range(*part.indices(count)))]
        if target is None and rows is None:
            yield block, less_row(columns[part], near, cells)
            continue
        cells[:, :width] = columns[block]
        if target is not None:
            cells[:, width] = target[block]
        yield block, less_row(cells, near, cells)
