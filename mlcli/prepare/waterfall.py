"""Waterfall: splits each number into parts, one per range, so that a linear method becomes piecewise linear in it.

Formula:
    With edges c_1 < ... < c_{B−1}: z_1 = min(x, c_1), z_b = min(max(x, c_{b−1}), c_b) − c_{b−1}, z_B = max(x,
    c_{B−1}) − c_{B−1}, so that Σ z_b = x. A linear method then has a slope of its own in each range: it fits any
    continuous piecewise linear function with bends at the edges.

Assumes:
    A piecewise linear relation with the target.

Cost:
    A sort per column; `pieces` columns for each.

Choices:
    Edges are quantiles of the training rows, or given. Equal edges make empty ranges, whose column is 0. Missing
    values stay missing in all parts, and columns of levels stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Cells
from mlcli.prepare._columns import ByColumn, ComputeCells, numeric, table_by_column, unchanged
from mlcli.prepare.discretise import boundaries, equal_frequency


@register("waterfall", reference="Friedman 1991, Multivariate adaptive regression splines")
class Waterfall(ByColumn):
    """Split numbers into one part per range."""

    pieces: int = param(
        3, "number of ranges, if no edges are given", ge=2, tune=(2, 10), matters_when={"edges": None}
    )
    edges: tuple[float, ...] | None = param(
        None, "the edges of the ranges, ascending; none: quantiles of the training rows"
    )

    edges_: Array = learned("numbers", "edges of each")
    """The edges of each numeric column."""

    def conflicts(self) -> list[str]:
        """Refuse edges that do not ascend."""
        if self.edges is not None and (not self.edges or list(self.edges) != sorted(set(self.edges))):
            return [f"edges must ascend, got {list(self.edges)}"]
        return []

    def _count(self) -> int:
        """The number of ranges."""
        return self.pieces if self.edges is None else len(self.edges) + 1

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the edges of each column."""
        columns = data.table.numbers.T
        edges = [
            boundaries(equal_frequency, cells, data.weights, self.pieces) if self.edges is None else self.edges
            for cells in columns
        ]
        self.edges_ = np.array(edges, np.float64).reshape(len(columns), self._count() - 1)

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """A column for each range of a number."""
        if column.coded:
            yield column, unchanged
            return
        for index in range(self._count()):
            part = Column(f"{column.name} in range {index + 1}", missing=column.missing)
            yield part, partial(self._part, column.name, index)

    def _part(self, name: str, index: int, cells: Cells) -> Array:
        """The part of each number of a column that falls into one of its ranges."""
        edges = self.edges_[[column.name for column in numeric(self.columns_)].index(name)]
        if index == 0:
            return np.asarray(np.minimum(cells, edges[0]))
        clipped = np.maximum(cells, edges[index - 1])
        if index < len(edges):
            clipped = np.minimum(clipped, edges[index])
        return np.asarray(clipped - edges[index - 1])

    def check_learned(self) -> None:
        """One edge less than there are ranges."""
        if self.edges_.shape[1] != self._count() - 1:
            raise ValueError(f"waterfall needs {self._count() - 1} edges, and there are {self.edges_.shape[1]}")

    def explain(self) -> Explanation:
        """The edges of each column."""
        header = tuple(f"edge {index}" for index in range(1, self._count()))
        return table_by_column("Edges of ranges", header, self.columns_, self.edges_)
