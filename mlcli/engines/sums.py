"""Weight, mean and scatter of sets of rows: merged, never subtracted, so that no digits are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from mlcli.core.blocks import less_row, row_blocks
from mlcli.core.moments import Spread
from mlcli.core.tables import Array, Rows

CELLS = 2**16
"""How many cells are gone through at once."""
PER_COLUMN = 4
"""So many rows for each column are worth the sum of their products."""
LOOKED_AT = 64
CLOSE = 0.8
"""Squares about the mean are at least a fifth of those about a place that is taken to be near it."""


Known = TypeVar("Known", "Sums", Spread)
"""What is known of sets of rows, and merges to what is known of them together."""


class Sums(NamedTuple):
    """All that least squares and normal distributions need to know of rows; leading axes are sets of rows."""

    weight: Array
    mean: Array
    scatter: Array
    """Σ w (z − mean)(z − mean)ᵀ."""

    @classmethod
    def of(
        cls, columns: Array, weights: Array | None = None, rows: Rows | None = None, target: Array | None = None
    ) -> Sums:
        """The sums of some rows, none of whose cells is empty; a target is one more column, the last."""
        some = slice(0, LOOKED_AT) if rows is None else rows[:LOOKED_AT]
        first = columns[some] if target is None else np.column_stack([columns[some], target[some]])
        if not len(first):
            return cls(np.zeros(()), np.zeros(first.shape[1]), np.zeros((first.shape[1],) * 2))
        near = np.where((first == first[0]).all(axis=0), first[0], first.mean(axis=0))
        total, sums, products = _about(near, columns, weights, rows, target)
        if (sums**2 > CLOSE * total * products.diagonal()).any():
            near = near + sums / total
            total, sums, products = _about(near, columns, weights, rows, target)
        drift = sums / total if total > 0 else sums
        return cls(np.array(total), near + drift, products - total * np.multiply.outer(drift, drift))

    @classmethod
    def stacked(cls, sums: Sequence[Sums]) -> Sums:
        """Several sets along one more axis, the first."""
        return cls(*map(np.array, zip(*sums, strict=True)))

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
    before = [always]
    for part in parts[:-1]:
        before.append(before[-1].merged(part))
    found, after = before[-1:], parts[-1]
    for left, part in zip(before[-2::-1], parts[-2::-1], strict=True):
        found.append(left.merged(after))
        after = after.merged(part)
    return found[::-1]


def _about(
    near: Array, columns: Array, weights: Array | None, rows: Rows | None, target: Array | None
) -> tuple[float, Array, Array]:
    """Weight, sums and sums of products of rows less one near their mean, which costs products no digits."""
    width, total, first, products = columns.shape[1], 0.0, np.zeros(len(near)), np.zeros((len(near), len(near)))
    size = max(CELLS // max(1, len(near)), PER_COLUMN * len(near))
    for block in row_blocks(len(columns if rows is None else rows), 1, size):
        here = block if rows is None else rows[block]
        cells = less_row(columns[here], near[:width])
        weight = np.ones(len(cells)) if weights is None else weights[here]
        weighted = cells if weights is None else cells * np.sqrt(weight)[:, None]
        total += float(weight.sum())
        first[:width] += weight @ cells
        products[:width, :width] += weighted.T @ weighted
        if target is not None:
            values = target[here] - near[width]
            first[width] += weight @ values
            products[width, :width] += (weight * values) @ cells
            products[width, width] += (weight * values) @ values
    products[:width, width:] = products[width:, :width].T
    return total, first, products
