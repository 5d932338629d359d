"""Waterfall: splits each number into a few ranges, so that a linear method can be piecewise linear in it.

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

from collections.abc import Iterator
from functools import partial

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.prepare._columns import ByColumn, Cells, Make, as_they_are, numeric, table_by_column
from mlcli.prepare.discretise import boundaries, equal_frequency


@register("waterfall", reference="Friedman 1991, Multivariate adaptive regression splines")
class Waterfall(ByColumn):
    """Numbers range by range."""

    pieces: int = param(
        3,
        "into how many ranges a number is parted without edges",
        ge=2,
        tune=(2, 10),
        matters_when={"edges": None},
    )
    edges: tuple[float, ...] | None = param(None, "the edges of the ranges, ascending; none: from training")

    edges_: Array = learned("numbers", "edges of each")
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

    def after(self, column: Column) -> Iterator[tuple[Column, Make]]:
        """A column for each range of a number."""
        if column.coded:
            yield column, as_they_are
            return
        for index in range(self._count()):
            piece = Column(f"{column.name} in range {index + 1}", missing=column.missing)
            yield piece, partial(self._piece, column.name, index)

    def _piece(self, name: str, index: int, cells: Cells) -> Array:
        """How much of each number of a column falls into one of its ranges."""
        edges = self.edges_[[column.name for column in numeric(self.columns_)].index(name)]
        if index == 0:
            return np.asarray(np.minimum(cells, edges[0]))
        above = np.maximum(cells, edges[index - 1])
        within = above if index == len(edges) else np.minimum(above, edges[index])
        return np.asarray(within - edges[index - 1])

    def check_learned(self) -> None:
        """Edges between so many ranges."""
        if self.edges_.shape[1] != self._count() - 1:
            raise ValueError("edges that do not fit the ranges")

    def explain(self) -> Explanation:
        """The edges of each column."""
        header = tuple(f"edge {index}" for index in range(1, self._count()))
        return table_by_column("Edges of ranges", header, self.columns_, self.edges_)
