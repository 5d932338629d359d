"""Discretise: cuts numbers into bins, such as low, medium and high, and makes an ordinal column of each.

Formula:
    Boundaries c_1 < ... < c_{B−1}; a number x falls into bin b where c_{b−1} ≤ x < c_b. `equal-width`: the range
    of the training rows in B equal parts. `equal-frequency`: c_b is the value with b/B of the weight below it.
    `k-means`: midway between the means of B groups found by Lloyd's algorithm from equal widths on. `boundaries`:
    as given.

Assumes:
    That differences within a bin do not matter. Equal widths leave most rows in one bin where a few are far off;
    equal frequencies part equal rows from each other nowhere, so that bins may be empty.

Cost:
    A sort per column; k-means a few passes more.

Choices:
    Columns become ordinal, so that methods for levels see levels, and others evenly spaced numbers. Levels are
    called `bin 1` to `bin B`, or as `labels` say. A number beyond those of training falls into the first or last
    bin. Empty cells stay empty. Columns that are levels already stay as they are. Different boundaries for
    different columns are several steps with `columns`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.prepare._dependence import CUTS, boundaries, codes_of

GIVEN = "boundaries"


@register("discretise", reference="Dougherty, Kohavi & Sahami 1995, Discretization of continuous features")
class Discretise(Step):
    """Numbers as a few levels in order."""

    by: str = param("equal-frequency", "how boundaries are found", choices=(*CUTS, GIVEN))
    bins: int = param(5, "how many bins a column has, where boundaries are not given", ge=2, tune=(2, 20))
    boundaries: tuple[float, ...] | None = param(None, "the boundaries, ascending, for `by: boundaries`")
    labels: tuple[str, ...] | None = param(None, "what the bins are called, low to high; none: bin 1, bin 2, ...")

    cuts_: Array = learned()
    """The boundaries of each numeric column."""

    def conflicts(self) -> list[str]:
        """Boundaries that are missing or in disorder, and labels that do not fit."""
        given, found = self.boundaries, []
        if (self.by == GIVEN) != (given is not None):
            found.append("'boundaries' are given with 'by: boundaries', and only then")
        if given is not None and (not given or list(given) != sorted(set(given))):
            found.append(f"boundaries must ascend, were given {list(given)}")
        if self.labels is not None and len(set(self.labels)) != self._count():
            found.append(f"{self._count()} bins need as many different labels, were given {list(self.labels)}")
        return found

    def _count(self) -> int:
        return self.bins if self.boundaries is None else len(self.boundaries) + 1

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the boundaries of each numeric column."""
        columns = data.table.numbers.T
        cuts = [self._cut(cells, data.weights) for cells in columns]
        self.cuts_ = np.array(cuts, np.float64).reshape(len(columns), self._count() - 1)

    def _cut(self, cells: Array, weights: Array) -> Array:
        if self.boundaries is not None:
            return np.array(self.boundaries)
        return boundaries(CUTS[self.by], cells, weights, self.bins)

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The same columns, the numeric ones ordinal."""
        return tuple(self._after(column) for column in columns)

    def _after(self, column: Column) -> Column:
        levels = self.labels or tuple(f"bin {place}" for place in range(1, self._count() + 1))
        return column if column.coded else Column(column.name, "ordinal", levels, column.missing)

    def transform(self, table: Table) -> Table:
        """The table with bins in the place of numbers."""
        cuts = iter(self.cuts_)

        def cells_of(column: Column, cells: NDArray[Any]) -> NDArray[Any]:
            return cells if column.coded else codes_of(cells, next(cuts))

        parts = [(self._after(column), cells_of(column, cells)) for column, cells in table.parts()]
        return Table.of(parts, len(table))

    def check_learned(self) -> None:
        """Boundaries for each numeric column."""
        numeric = sum(not column.coded for column in self.columns_)
        if np.shape(self.cuts_) != (numeric, self._count() - 1):
            raise ValueError("boundaries that do not fit the columns")

    def explain(self) -> findings.Explanation:
        """The boundaries of each column."""
        names = (column.name for column in self.columns_ if not column.coded)
        rows = tuple((name, *cuts) for name, cuts in zip(names, self.cuts_.tolist(), strict=True))
        header = ("column", *(f"up to bin {place}" for place in range(1, self._count())))
        return (findings.Table("Numbers are cut into bins", header, rows, note="a bin ends below its boundary"),)
