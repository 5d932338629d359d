"""Training columns as small whole numbers: each cell as the bin that its value lies in.

A column with at most as many distinct values as there are bins has a bin for each, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.tables import Array, Flags, Rows, Table
from mlcli.engines.trees.cells import Cells

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Binned, Bins

MOST_BINS = 255
"""With the bin of missing cells, as many as a byte can number."""
KINDS = (np.uint8, np.uint16, np.uint32)
WIDE = KINDS[1:]
SMALL = 200_000
"""Of how many cells two bytes are read as fast as one: up to there forests grow by the loops of single trees."""

KEPT: WeakKeyDictionary[Table, tuple[Array, Binned]] = WeakKeyDictionary()
"""The bins of tables that are still there, with the cells that they are of."""


def between(columns: Binned, feature: Rows, low: Rows, high: Rows, drawn: Array | float = np.nan) -> Array:
    """The thresholds between two bins of ordered columns: those that were drawn if they lie there, or half-way.

    Infinite where ``high`` is of missing cells.
    """
    known = high < columns.known[feature]
    below, above = columns.highest[feature, low], columns.lowest[feature, np.where(known, high, low)]
    middle = below / 2 + above / 2
    middle = np.where(middle >= above, below, middle)  # the higher value must stay on the right
    return np.where(known, np.where((below <= drawn) & (drawn < above), drawn, middle), np.inf)


def binned(
    cells: Cells,
    most: int | None = MOST_BINS,
    weights: Array | None = None,
    kinds: Sequence[type[np.unsignedinteger[Any]]] = KINDS,
    sample: int = 0,
) -> Binned:
    """The bins of cells, at most ``most`` for an ordered column.

    A column with more values than bins in the first rows, a ``sample`` of them, is sorted into bins by those.
    """
    from mlcli.kernels.trees.binning import fill_edges
    from mlcli.kernels.trees.records import Binned

    values, ordered = cells.values, cells.ordered
    columns = np.ascontiguousarray(values.T)
    weights = None if weights is None or (weights == weights[:1]).all() else weights
    bins = min(most or len(cells), len(cells))
    edges, distinct = np.full((2, len(columns), max(bins, MOST_BINS) + 1), np.inf), np.empty((2, len(cells)))
    known = np.where(ordered, 0, cells.levels - 1)
    few = np.sort(columns[:, : sample if weights is None else 0])
    rough = ordered & ((few[:, :-1] < few[:, 1:]).sum(axis=1) >= bins)
    for j in np.flatnonzero(ordered):
        ascending, own = (few[j], np.empty(0)) if rough[j] else _ascending(columns[j], weights)
        known[j] = fill_edges(ascending, own, distinct, edges[:, j, :bins])
    last = rough, known[rough] - 1  # others lie between and beyond those of the sample
    edges[0, rough, 1:], edges[1][last] = edges[1, rough, :-1], np.inf
    kind = next(kind for kind in kinds if known.max(initial=0) <= np.iinfo(kind).max)
    result = _assigned(columns, edges[1], known, ordered, kind)
    if rough.any():
        edges[0, rough, 0] = np.fmin.reduce(columns, axis=1)[rough]
        edges[1][last] = np.fmax.reduce(columns, axis=1)[rough]
    return Binned(result, known, ordered, *edges[:, :, : known[ordered].max(initial=0) + 1].copy())


def every_value_binned(table: Table, cells: Cells) -> Binned:
    """A bin for each value of the cells of a table, found once while the table is there.

    Boosting learns from the same rows round after round, of which only the weights change.
    """
    kept = KEPT.get(table)
    if kept is None or not (kept[0] is cells.values or np.array_equal(kept[0], cells.values, equal_nan=True)):
        kept = KEPT[table] = cells.values, binned(cells, most=None, kinds=WIDE)
    return kept[1]


def with_rare_levels_joined(cells: Cells, weights: Array) -> tuple[Cells, tuple[Rows, ...]]:
    """Cells whose columns have no more levels than a byte can number, as the rarest share one.

    Beside them the bin of every level of each column.
    """
    bins = tuple(np.arange(count) for count in cells.levels)
    many = np.flatnonzero(cells.levels > MOST_BINS + 1)
    if not len(many):
        return cells, bins
    joined = cells.values.astype(np.float64)
    for j in many:
        codes, own = joined[:, j].astype(np.intp), bins[j]
        frequent = np.argsort(-np.bincount(codes, weights, len(own))[:-1], kind="stable")[: MOST_BINS - 1]
        own[:-1], own[-1] = MOST_BINS - 1, MOST_BINS
        own[frequent] = np.arange(MOST_BINS - 1)
        joined[:, j] = own[codes]
    return Cells(joined, np.minimum(cells.levels, MOST_BINS + 1)), bins


def _ascending(column: Array, weights: Array | None) -> tuple[Array, Array]:
    """The cells of a column in order, empty ones last, and their weights, if rows differ by any."""
    if weights is None:
        return np.sort(column), np.empty(0)
    order = np.argsort(column, kind="stable")
    return column[order], weights[order]


def _assigned(columns: Array, highest: Array, known: Rows, ordered: Flags, kind: type[np.generic]) -> Bins:
    """The bin of each cell."""
    from mlcli.kernels.trees.binning import bins_of

    bins = np.empty(columns.shape, kind)
    for j, column in enumerate(columns):
        if not ordered[j]:
            bins[j] = column
        elif known[j] <= MOST_BINS:
            bins_of(column, highest[j, :MOST_BINS], int(known[j]), bins[j])
        else:  # a bin for each value; NaN comes after everything
            order = np.argsort(column)
            ascending = column[order]
            bins[j, order[1:]] = (ascending[1:] != ascending[:-1]).cumsum()
            bins[j, order[0]], bins[j, np.isnan(column)] = 0, known[j]
    return bins
