"""Waterfall: parts each number by how much of it falls into each of a few ranges, for lines that bend.

Formula:
    With edges c_1 < ... < c_{B−1}: z_1 = min(x, c_1), z_b = min(max(x, c_{b−1}), c_b) − c_{b−1}, z_B = max(x,
    c_{B−1}) − c_{B−1}, so that Σ z_b = x. A linear method then has a slope of its own in each range: any
    continuous line with bends at the edges.

Assumes:
    A relation that is straight in pieces.

Cost:
    A sort per column; `pieces` columns for each.

Choices:
    Edges are the shares of equal weight of the training rows, or given. Equal edges make empty ranges, whose
    column is 0. Empty cells stay empty in all pieces, levels as they are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.prepare._dependence import boundaries, equal_frequency


@register("waterfall", reference="Friedman 1991, Multivariate adaptive regression splines")
class Waterfall(Step):
    """Numbers range by range."""

    pieces: int = param(3, "into how many ranges a number is parted without edges", ge=2, tune=(2, 10))
    edges: tuple[float, ...] | None = param(None, "the edges of the ranges, ascending; none: from training")

    edges_: Array = learned()
    """The edges of each numeric column."""

    def conflicts(self) -> list[str]:
        """Edges in disorder."""
        wrong = self.edges is not None and (not self.edges or list(self.edges) != sorted(set(self.edges)))
        return [f"edges must ascend, were given {list(self.edges or ())}"] if wrong else []

    def _count(self) -> int:
        return self.pieces if self.edges is None else len(self.edges) + 1

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the edges of each column."""
        columns = data.table.numbers.T
        found = [
            boundaries(equal_frequency, cells, data.weights, self.pieces) if self.edges is None else self.edges
            for cells in columns
        ]
        self.edges_ = np.array(found, np.float64).reshape(len(columns), self._count() - 1)

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """A column for each range of each number."""
        return tuple(after for column in columns for after in self._after(column))

    def _after(self, column: Column) -> list[Column]:
        if column.coded:
            return [column]
        places = range(1, self._count() + 1)
        return [Column(f"{column.name} in range {place}", missing=column.missing) for place in places]

    def transform(self, table: Table) -> Table:
        """The table with the pieces of its numbers."""
        edges, parts = iter(self.edges_), list[tuple[Column, Any]]()
        for column, cells in table.parts():
            pieces = [cells] if column.coded else _pieces(np.asarray(cells, np.float64), next(edges))
            parts += zip(self._after(column), pieces, strict=True)
        return Table.of(parts, len(table))

    def check_learned(self) -> None:
        """Edges for each numeric column."""
        numeric = sum(not column.coded for column in self.columns_)
        if np.shape(self.edges_) != (numeric, self._count() - 1):
            raise ValueError("edges that do not fit the columns")

    def explain(self) -> findings.Explanation:
        """The edges of each column."""
        names = (column.name for column in self.columns_ if not column.coded)
        rows = tuple((name, *edges) for name, edges in zip(names, self.edges_.tolist(), strict=True))
        header = ("column", *(f"edge {place}" for place in range(1, self._count())))
        return (findings.Table("Edges of ranges", header, rows),)


def _pieces(x: Array, edges: Array) -> list[Array]:
    """How much of each number falls into each range."""
    between = [np.clip(x, low, high) - low for low, high in pairwise(edges)]
    return [np.minimum(x, edges[0]), *between, np.maximum(x, edges[-1]) - edges[-1]]
