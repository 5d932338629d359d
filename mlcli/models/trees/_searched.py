"""What compiled loops search for cuts: rows in the order of every column, or binned columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._binning import Binned, binned, midway
from mlcli.models.trees._shared_bins import Shared

FEW = 1024
"""Up to so many rows are ordered by their bins, which costs less than a histogram of most bins."""


@dataclass(frozen=True, eq=False)
class Searched(ABC):
    """Arrays as ``kernels.tree_growing`` and ``kernels.tree_layout`` describe them."""

    places: NDArray[np.int64]
    dealt: NDArray[np.int64]
    described: Rows
    in_bins: tuple[Any, Any, Any]
    """The bins, and room to go through them; nothing where there are none."""

    @abstractmethod
    def between(self, feature: Rows, below: Rows, above: Rows) -> Array:
        """The thresholds between places; infinite between the known and the missing."""


@dataclass(frozen=True, eq=False)
class Cells(Searched):
    """All rows in the order of the cells (F × n)."""

    cells: Array

    @staticmethod
    def of(cells: Array, levels: Rows) -> Cells:
        """Sort the columns of cells (n × F)."""
        from mlcli.kernels.tree_layout import MISSING_RANK, SIDE
        from mlcli.kernels.tree_places import rank_rows

        columns = np.ascontiguousarray(cells.T)
        width, n = columns.shape
        rows = np.arange(n)
        places = np.empty((2, width + 1, n), np.int64)
        described, ranks = np.empty((width, SIDE + 1), np.intp), np.empty(n, np.intp)
        for j, (column, codes) in enumerate(zip(columns, levels.tolist(), strict=True)):
            order = rows if codes else column.argsort()
            ends = np.empty(max(n, codes) + 1, np.intp)
            described[j, MISSING_RANK] = rank_rows(columns, order, j, codes, places, ends, ranks)
        places[0, width] = rows
        return Cells(places, places, described, (None, None, None), columns)

    def between(self, feature: Rows, below: Rows, above: Rows) -> Array:
        from mlcli.kernels.tree_layout import ROW

        low, high = self.cells[feature, below & ROW], self.cells[feature, above & ROW]
        return np.where(np.isnan(high), np.inf, midway(low, high))


@dataclass(frozen=True, eq=False)
class InBins(Searched):
    """All rows in their own order, with room to order a few by their bins."""

    binned: Binned

    @staticmethod
    def of(cells: Array, levels: Rows, most: int, weights: Array, shared: Shared | None) -> InBins:
        """Bin the columns of cells (n × F), so that bins share the weight evenly."""
        from mlcli.kernels.tree_layout import MISSING_RANK, SIDE

        n, alike = len(cells), bool((weights == weights[0]).all())
        data = binned(cells, levels == 0, levels, most, None if alike else weights, shared)
        described = np.zeros((len(levels), SIDE + 1), np.intp)
        described[:, MISSING_RANK] = np.where(levels == 0, data.known, -1)
        places = np.empty((2, len(levels) + 1, min(n, FEW)), np.int64)
        used, counts = np.zeros(data.width // 16 + 2, np.intp), np.zeros(data.width, np.intp)
        return InBins(places, np.arange(2 * n).reshape(2, 1, n), described, (data.bins, used, counts), data)

    def between(self, feature: Rows, below: Rows, above: Rows) -> Array:
        from mlcli.kernels.tree_layout import RANK

        return self.binned.between(feature, below >> RANK, above >> RANK)
