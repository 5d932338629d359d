"""A k-d tree of stored rows as arrays, and what is linked in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from mlcli.core.tables import Array, Codes, Rows

LEAF = 32
"""About how many rows a leaf holds."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Node v has the halves 2v + 1 and 2v + 2, and the rows from ``first`` to ``last`` of ``order``."""

    order: Rows
    cells: Array
    """A line for each column, in the order of the tree."""
    first: Rows
    last: Rows
    low: Array
    high: Array
    widest: Rows
    cut: Array

    @classmethod
    def of(cls, rows: Array) -> Tree:
        """The tree of some rows (n × p)."""
        from mlcli.kernels.neighbours.kd_tree import grow

        (n, columns), rows = rows.shape, np.ascontiguousarray(rows)
        nodes = 2 ** (max(0, ceil(log2(n / LEAF))) + 1) - 1
        order, first, last, widest = np.arange(n), *(np.zeros(nodes, np.intp) for _ in range(3))
        low, high, cut = np.empty((nodes, columns)), np.empty((nodes, columns)), np.zeros(nodes)
        grow(rows, order, first, last, low, high, widest, cut)
        return cls(order, np.ascontiguousarray(rows[order].T), first, last, low, high, widest, cut)

    def linked(self, limit: float) -> Codes:
        """A number for each row: rows have the same if steps up to a distance lead from one to the other."""
        from mlcli.kernels.neighbours.linking import link

        parent, room = np.arange(len(self.order)), np.empty(int((self.last - self.first).max(initial=1)))
        boxes = self.first, self.last, self.low, self.high
        joined, waiting = np.zeros(len(self.first), bool), np.empty(64, np.intp)
        rows = np.ascontiguousarray(self.cells.T)
        link(rows, self.cells, *boxes, limit * limit, parent, joined, waiting, room)
        while not np.array_equal(parent, parent[parent]):
            parent = parent[parent]
        found = np.empty(len(parent), np.int32)
        found[self.order] = np.unique(parent, return_inverse=True)[1]
        return found
