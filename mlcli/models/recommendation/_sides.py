"""The ratings seen from one side: all those of one user, or all those of one item, together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows

BLOCK_CELLS = 4_000_000
"""Products of two columns that are made at once."""


@dataclass(frozen=True, eq=False)
class Side:
    """``order`` sorts the ratings by owner (a user, or an item); ``starts`` is where each of ``owners`` begins."""

    order: Rows
    owners: Codes
    starts: Rows
    size: int
    """How many owners what is learned has room for."""

    @classmethod
    def of(cls, codes: Codes, size: int) -> Side:
        """The side of the users, or of the items, of some ratings."""
        order = np.argsort(codes, kind="stable")
        owners, starts = np.unique(codes[order], return_index=True)
        return cls(order, owners, starts, size)

    def ridge(self, X: Array, y: Array, weights: Array, l2: float) -> Array:
        """For each owner the b that makes Σ w (y − x·b)² + l2 |b|² smallest over its ratings; else 0.

        These are the normal equations (Σ w x xᵀ + l2 I) b = Σ w y x.
        """
        width = X.shape[1]
        found = np.zeros((self.size, width))
        for first, last in self._blocks(width):
            rows = self.order[self.starts[first] : self._end(last)]
            starts = self.starts[first:last] - self.starts[first]
            weighted = X[rows] * weights[rows, None]
            gram = np.add.reduceat(weighted[:, :, None] * X[rows, None, :], starts)
            right = np.add.reduceat(weighted * y[rows, None], starts)
            gram[:, range(width), range(width)] += l2
            found[self.owners[first:last]] = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
        return found

    def _blocks(self, width: int) -> Iterator[tuple[int, int]]:
        """Consecutive owners whose ratings make no more products than fit; one alone may make more."""
        most = max(1, BLOCK_CELLS // width**2)
        ends = np.append(self.starts[1:], len(self.order))
        first = 0
        while first < len(self.owners):
            last = max(first + 1, int(np.searchsorted(ends, self.starts[first] + most, "right")))
            yield first, last
            first = last

    def _end(self, owner: int) -> int:
        return int(self.starts[owner]) if owner < len(self.starts) else len(self.order)
