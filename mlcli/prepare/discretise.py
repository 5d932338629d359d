"""Discretise: cuts numbers into bins, such as low, medium and high, and makes an ordinal column of each.

Formula:
    Boundaries c_1 < ... < c_{B−1}; a number x falls into bin b if c_{b−1} ≤ x < c_b. `equal-width`: the range of
    the training rows in B equal parts. `equal-frequency`: c_b is the b/B quantile. `k-means`: midway between the
    means of B clusters, found by Lloyd's algorithm from bins of equal width. `boundaries`: as given.

Assumes:
    Differences within a bin do not matter. With equal widths a few outliers push most rows into one bin; with
    equal frequencies equal values stay in one bin, so that other bins may be empty.

Cost:
    A sort per column; a few more passes for k-means.

Choices:
    Columns become ordinal, so that methods for levels see levels, and other methods see evenly spaced numbers.
    Levels are called `bin 1` to `bin B`, or as `labels` says. A number outside the range of training falls into
    the first or last bin. Missing values stay missing, and columns of levels stay as they are. For different
    boundaries in different columns use several steps with `columns`. When rows are sampled from a model behind
    this step (`mlcli sample`), numbers are drawn uniformly from their bin, within the range of training.
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
from mlcli.core.tables import Array, Cells, Codes, Table
from mlcli.prepare._columns import ByColumn, ComputeCells, numeric, table_by_column, unchanged

FindBoundaries = Callable[[Array, Array, int], Array]
"""From values, their weights and a number of bins to the boundaries between the bins, in ascending order."""


def equal_width(values: Array, weights: Array, bins: int) -> Array:
    """Evenly spaced boundaries between the smallest and the largest value."""
    return np.linspace(values.min(), values.max(), bins + 1)[1:-1]


def equal_frequency(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries between bins of equal weight."""
    return quantiles(values, weights, np.arange(1, bins) / bins)


def k_means(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries midway between the means of clusters, starting from bins of equal width (Lloyd 1982)."""
    edges = np.linspace(values.min(), values.max(), bins + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    for _ in range(300):  # converges much earlier in practice
        cluster = codes_of(values, (centres[1:] + centres[:-1]) / 2)
        weight = np.bincount(cluster, weights, bins)
        means = np.bincount(cluster, weights * values, bins) / np.where(weight > 0, weight, 1.0)
        moved = np.sort(np.where(weight > 0, means, centres))
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.asarray((centres[1:] + centres[:-1]) / 2)


RULES: dict[str, FindBoundaries] = {
    "equal-frequency": equal_frequency,
    "equal-width": equal_width,
    "k-means": k_means,
}
"""The rules that find boundaries from the training rows."""


def boundaries(rule: FindBoundaries, cells: Array, weights: Array, bins: int) -> Array:
    """The boundaries of a column without its missing values; all 0 for a column without values."""
    present = ~np.isnan(cells) & (weights > 0)
    return rule(cells[present], weights[present], bins) if present.any() else np.zeros(bins - 1)


def codes_of(cells: Array, cuts: Array) -> Codes:
    """The bin of each cell, -1 for a missing value; a boundary belongs to the bin above it."""
    codes = np.searchsorted(cuts, cells, side="right").astype(np.int32)
    return np.where(np.isnan(cells), np.int32(-1), codes)


@register(
    "discretise",
    reference="Dougherty, Kohavi & Sahami 1995, Discretization of continuous features",
    inserted_for="numbers",
)
class Discretise(ByColumn):
    """Cut numbers into bins."""

    by: str = param("equal-frequency", "the rule that finds the boundaries", choices=(*RULES, "boundaries"))
    bins: int = param(
        5,
        "number of bins per column, if no boundaries are given",
        ge=2,
        tune=(2, 20),
        matters_when={"boundaries": None},
    )
    boundaries: tuple[float, ...] | None = param(None, "the boundaries, ascending, for `by: boundaries`")
    labels: tuple[str, ...] | None = param(None, "names of the bins, low to high; none: bin 1, bin 2, ...")

    cuts_: Array = learned("numbers", "boundaries between bins")
    """The boundaries of each numeric column."""
    ends_: Array = learned("numbers", 2)
    """The smallest and the largest number of each column."""

    def conflicts(self) -> list[str]:
        """Refuse missing or unordered boundaries, and labels that do not match the bins."""
        messages = []
        if (self.by == "boundaries") != (self.boundaries is not None):
            messages.append("'boundaries' and 'by: boundaries' must be given together")
        if self.boundaries is not None:
            values = list(self.boundaries)
            if not values or values != sorted(set(values)):
                messages.append(f"boundaries must ascend, got {values}")
        if self.labels is not None and len(set(self.labels)) != self._count():
            messages.append(f"{self._count()} bins need as many different labels, got {list(self.labels)}")
        return messages

    def _count(self) -> int:
        """The number of bins."""
        return self.bins if self.boundaries is None else len(self.boundaries) + 1

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the boundaries of each numeric column."""
        columns = data.table.numbers.T
        if self.boundaries is None:
            cuts = [boundaries(RULES[self.by], cells, data.weights, self.bins) for cells in columns]
        else:
            cuts = [np.array(self.boundaries)] * len(columns)
        self.cuts_ = np.array(cuts, np.float64).reshape(len(columns), self._count() - 1)
        weighted = data.table.numbers[data.weights > 0]
        ends = [extreme.reduce(weighted, axis=0, initial=np.nan) for extreme in (np.fmin, np.fmax)]
        self.ends_ = np.nan_to_num(np.column_stack(ends))

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """An ordinal column of bins for a numeric column."""
        if column.coded:
            yield column, unchanged
            return
        levels = self.labels or tuple(f"bin {index}" for index in range(1, self._count() + 1))
        yield Column(column.name, "ordinal", levels, column.missing), partial(self._bins_of, column.name)

    def _bins_of(self, name: str, cells: Cells) -> Codes:
        """The bin of each cell of a numeric column."""
        names = [column.name for column in numeric(self.columns_)]
        return codes_of(np.asarray(cells, np.float64), self.cuts_[names.index(name)])

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """A number drawn uniformly from the bin of each cell."""
        low, high = self.ends_[:, :1], self.ends_[:, 1:]
        edges_by_column = iter(np.hstack([low, np.clip(self.cuts_, low, high), high]))
        parts: list[tuple[Column, Cells]] = []
        for column in self.columns_:
            cells = table.cells(column.name)
            if not column.coded:
                edges, codes = next(edges_by_column), np.asarray(cells, np.int32)
                start, end = edges[codes], edges[codes + 1]
                cells = np.where(codes < 0, np.nan, start + (end - start) * rng.random(len(codes)))
            parts.append((column, cells))
        return Table.of(parts, len(table))

    def check_learned(self) -> None:
        """Ascending boundaries, one less than there are bins."""
        if self.cuts_.shape[1] != self._count() - 1:
            raise ValueError(f"{self._count()} bins do not have {self.cuts_.shape[1]} boundaries between them")
        if (np.diff(self.cuts_) < 0).any() or (np.diff(self.ends_) < 0).any():
            raise ValueError("the boundaries of bins do not ascend")

    def explain(self) -> Explanation:
        """The boundaries of each column."""
        header = tuple(f"up to bin {index}" for index in range(1, self._count()))
        note = "a bin ends below its boundary"
        return table_by_column("Numbers are cut into bins", header, self.columns_, self.cuts_, note=note)
