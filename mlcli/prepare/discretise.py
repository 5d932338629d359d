"""Discretise: cuts numbers into bins, such as low, medium and high, and makes an ordinal column of each.

Formula:
    Boundaries c_1 < ... < c_{B−1}; a number x falls into bin b where c_{b−1} ≤ x < c_b. `equal-width`: the range
    of the training rows in B equal parts. `equal-frequency`: c_b is the value with b/B of the weight below it.
    `k-means`: midway between the means of B clusters found by Lloyd's algorithm from equal widths on.
    `boundaries`: as given.

Assumes:
    That differences within a bin do not matter. Equal widths leave most rows in one bin where a few are far off;
    equal frequencies part equal rows from each other nowhere, so that bins may be empty.

Cost:
    A sort per column; k-means a few passes more.

Choices:
    Columns become ordinal, so that methods for levels see levels, and others evenly spaced numbers. Levels are
    called `bin 1` to `bin B`, or as `labels` say. A number beyond those of training falls into the first or last
    bin. Empty cells stay empty. Columns that are levels already stay as they are. Different boundaries for
    different columns are several steps with `columns`. Rows that a model behind it draws (`mlcli sample`) have
    numbers from anywhere in their bin, all equally likely, as far as the numbers of training reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.moments import quantiles
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.prepare._columns import ByColumn, Cells, Make, as_they_are, numeric, table_by_column

MOST_STEPS = 300

Cut = Callable[[Array, Array, int], Array]
"""The boundaries between so many bins of values with weights, in ascending order."""


def equal_width(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries at equal distances from the smallest to the largest value."""
    return np.linspace(values.min(), values.max(), bins + 1)[1:-1]


def equal_frequency(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries between shares of equal weight."""
    return quantiles(values, weights, np.arange(1, bins) / bins)


def k_means(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries midway between the means of clusters, from bins of equal width on (Lloyd 1982)."""
    edges = np.linspace(values.min(), values.max(), bins + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    for _ in range(MOST_STEPS):
        cluster = codes_of(values, (centres[1:] + centres[:-1]) / 2)
        weight = np.bincount(cluster, weights, bins)
        means = np.bincount(cluster, weights * values, bins) / np.where(weight > 0, weight, 1.0)
        moved = np.sort(np.where(weight > 0, means, centres))
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.asarray((centres[1:] + centres[:-1]) / 2)


CUTS: dict[str, Cut] = {"equal-frequency": equal_frequency, "equal-width": equal_width, "k-means": k_means}


def boundaries(cut: Cut, cells: Array, weights: Array, bins: int) -> Array:
    """The boundaries of a column, empty cells left out; all 0 where nothing is known of it."""
    known = ~np.isnan(cells) & (weights > 0)
    return cut(cells[known], weights[known], bins) if known.any() else np.zeros(bins - 1)


def codes_of(cells: Array, cuts: Array) -> Codes:
    """The bin of each cell: a boundary belongs to the bin above it; -1 for an empty cell."""
    codes = np.searchsorted(cuts, cells, side="right").astype(np.int32)
    return np.where(np.isnan(cells), np.int32(-1), codes)


def _within(edges: Array, codes: Codes, rng: np.random.Generator) -> Array:
    """A number of each bin, all equally likely; nothing in an empty cell."""
    low, high = edges[codes], edges[codes + 1]
    return np.where(codes < 0, np.nan, low + (high - low) * rng.random(len(codes)))


GIVEN = "boundaries"


@register(
    "discretise",
    reference="Dougherty, Kohavi & Sahami 1995, Discretization of continuous features",
    inserted_for="numbers",
)
class Discretise(ByColumn):
    """Numbers as a few levels in order."""

    by: str = param("equal-frequency", "how boundaries are found", choices=(*CUTS, GIVEN))
    bins: int = param(
        5,
        "how many bins a column has, where boundaries are not given",
        ge=2,
        tune=(2, 20),
        matters_when={"boundaries": None},
    )
    boundaries: tuple[float, ...] | None = param(None, "the boundaries, ascending, for `by: boundaries`")
    labels: tuple[str, ...] | None = param(None, "what the bins are called, low to high; none: bin 1, bin 2, ...")

    cuts_: Array = learned("numbers", "boundaries between bins")
    """The boundaries of each numeric column."""
    ends_: Array = learned("numbers", 2)
    """Its smallest and its largest number."""

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
        known = data.table.numbers[data.weights > 0]
        ends = [end.reduce(known, axis=0, initial=np.nan) for end in (np.fmin, np.fmax)]
        self.ends_ = np.nan_to_num(np.column_stack(ends))

    def _cut(self, cells: Array, weights: Array) -> Array:
        if self.boundaries is not None:
            return np.array(self.boundaries)
        return boundaries(CUTS[self.by], cells, weights, self.bins)

    def after(self, column: Column) -> Iterator[tuple[Column, Make]]:
        """The same column, a numeric one with bins as levels."""
        if column.coded:
            yield column, as_they_are
            return
        levels = self.labels or tuple(f"bin {index}" for index in range(1, self._count() + 1))
        yield Column(column.name, "ordinal", levels, column.missing), partial(self._binned, column.name)

    def _binned(self, name: str, cells: Cells) -> Codes:
        """The bin of each cell of a column."""
        names = [column.name for column in numeric(self.columns_)]
        return codes_of(cells, self.cuts_[names.index(name)])

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """A number from anywhere in the bin of each cell."""
        low, high = self.ends_[:, :1], self.ends_[:, 1:]
        edges = iter(np.hstack([low, np.clip(self.cuts_, low, high), high]))
        parts = ((column, table.cells(column.name)) for column in self.columns_)
        drawn = (
            (column, cells if column.coded else _within(next(edges), np.asarray(cells, np.int32), rng))
            for column, cells in parts
        )
        return Table.of(drawn, len(table))

    def check_learned(self) -> None:
        """Boundaries between so many bins, in their order."""
        if self.cuts_.shape[1] != self._count() - 1:
            raise ValueError("boundaries that do not fit the bins")
        if (np.diff(self.cuts_) < 0).any() or (np.diff(self.ends_) < 0).any():
            raise ValueError("boundaries that do not ascend")

    def explain(self) -> Explanation:
        """The boundaries of each column."""
        header = tuple(f"up to bin {index}" for index in range(1, self._count()))
        note = "a bin ends below its boundary"
        return table_by_column("Numbers are cut into bins", header, self.columns_, self.cuts_, note=note)
