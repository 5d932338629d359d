"""Training columns as small whole numbers: each cell as the bin that its value lies in.

A column with at most as many distinct values as there are bins has a bin for each, so that nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._shared_bins import Exact, Shared

Bins = np.ndarray[Any, np.dtype[Any]]

MOST_BINS = 255
"""With the bin of missing cells, as many as a byte can number."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The smallest and the largest training value in each bin of one ordered column, ascending."""

    lowest: Array
    highest: Array

    @property
    def thresholds(self) -> Array:
        """Between neighbouring bins; the value itself belongs to the lower one."""
        return midway(self.highest[:-1], self.lowest[1:])


@dataclass(frozen=True, eq=False)
class Binned:
    """``bins`` (F × n, uint8) says in which bin each cell lies.

    Known values of feature f are in bins 0 to ``known[f] - 1``, missing ones in bin ``known[f]``. The bin of a
    nominal cell is its code; with more than 255 levels somewhere, all bins are uint16.
    """

    bins: Bins
    known: Rows
    ordered: Flags
    lowest: Array
    """F × most bins: the smallest training value in each bin, infinite past the last one."""
    highest: Array

    @property
    def width(self) -> int:
        """How many bins a feature has at most, with that of missing cells."""
        return int(self.known.max(initial=0)) + 1

    def between(self, feature: Rows, low: Rows, high: Rows) -> Array:
        """The threshold between two bins of ordered features; infinite where ``high`` is of missing cells."""
        known = high < self.known[feature]
        above = self.lowest[feature, np.where(known, high, low)]
        return np.where(known, midway(self.highest[feature, low], above), np.inf)


def binned(
    cells: Array,
    ordered: Flags,
    levels: Rows,
    most: int = MOST_BINS,
    weights: Array | None = None,
    shared: Shared | None = None,
) -> Binned:
    """The bins of a matrix of cells (n × F, as ``features`` makes it), at most ``most`` for an ordered column.

    Those that are ``shared`` with other splits are not made again.
    """
    columns = np.ascontiguousarray(cells.T)
    ready = [shared.column(j, most) if shared and by_threshold else None for j, by_threshold in enumerate(ordered)]
    edges = [
        Edges(known.values, known.values)
        if known
        else edges_of(column, most, weights)
        if by_threshold
        else Edges(np.empty(0), np.empty(0))
        for known, column, by_threshold in zip(ready, columns, ordered, strict=True)
    ]
    lengths = np.array([len(one.lowest) for one in edges], dtype=np.intp)
    known = np.where(ordered, lengths, levels - 1)
    return Binned(
        bins=_assigned(columns, edges, known, ordered, ready, shared),
        known=known,
        ordered=ordered,
        lowest=_padded([one.lowest for one in edges], int(lengths.max(initial=0))),
        highest=_padded([one.highest for one in edges], int(lengths.max(initial=0))),
    )


def edges_of(column: Array, most: int, weights: Array | None = None) -> Edges:
    """The bins of one ordered column: one per distinct value, or else ``most`` that share the rows evenly.

    With weights they share these.
    """
    ascending = np.sort(column)  # empty cells come last
    if len(column) and np.isnan(ascending[-1]):
        ascending = ascending[: len(ascending) - int(np.isnan(ascending).sum())]
    if not len(ascending):
        return Edges(ascending, ascending)
    last_rows = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(ascending) - 1)
    values = ascending[last_rows]
    if len(values) <= most:
        return Edges(values, values)
    counts: Rows | Array = np.diff(last_rows, prepend=-1)
    if weights is not None:
        known = ~np.isnan(column)
        counts = np.bincount(np.searchsorted(values, column[known]), weights[known])
    last = _last_values(counts, most)
    first = np.zeros_like(last)
    first[1:] = last[:-1] + 1
    return Edges(values[first], values[last])


def midway(low: Array, high: Array) -> Array:
    """Half-way, yet never as much as the higher value, which must stay on the right."""
    middle = low / 2 + high / 2
    return np.where(middle >= high, low, middle)


def _last_values(counts: Rows | Array, most: int) -> Rows:
    from mlcli.kernels.binning import last_of_each

    last = np.empty(most, np.intp)
    return last[: last_of_each(counts, most, last)]


def _assigned(
    columns: Array,
    edges: list[Edges],
    known: Rows,
    ordered: Flags,
    ready: list[Exact | None],
    shared: Shared | None,
) -> Bins:
    from mlcli.kernels.binning import bins_of

    small = np.uint8 if known.max(initial=0) <= MOST_BINS else np.uint16
    bins = np.empty(columns.shape, small)
    for j, column in enumerate(columns):
        if shared and (exact := ready[j]):
            bins[j] = exact.bins[shared.rows]
        elif ordered[j]:
            bins_of(column, _padded([edges[j].thresholds], MOST_BINS)[0], int(known[j]), bins[j])
        else:
            bins[j] = column
    return bins


def _padded(rows: list[Array], width: int) -> Array:
    """Ascending numbers of different counts as one matrix, infinite where there are none."""
    matrix = np.full((len(rows), width), np.inf)
    for j, row in enumerate(rows):
        matrix[j, : len(row)] = row
    return matrix
