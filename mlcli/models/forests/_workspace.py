"""The memory in which one thread grows tree after tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlcli.models.forests._packing import Packed, Words
from mlcli.models.trees._binning import Binned

if TYPE_CHECKING:
    from mlcli.kernels.growing import Space
    from mlcli.kernels.histogram_splits import Few
    from mlcli.kernels.node_sums import Grown
    from mlcli.kernels.random_splits import Drawing


class Workspace:
    """Room for the largest tree on all rows; of ``few`` and ``drawing`` the one that its cuts need, or None."""

    def __init__(self, binned: Binned, slots: int, *, random_cuts: bool) -> None:
        from mlcli.kernels.dealing import DEPTH

        rows = binned.bins.shape[1]
        most = 2 * rows - 1
        self._nodes = np.empty((most, DEPTH + 1), np.int32)
        self._numbers = np.empty((4, most))
        self._totals: Words = np.empty((0, 0), np.int64)
        self._right, self._places, self._away = np.empty(rows, np.uint32), np.empty(rows, np.intp), np.empty(rows)
        self._width, self._columns = binned.width, len(binned.known)
        self.few = None if random_cuts else room_for_few(slots)
        self.drawing = drawing_of(binned) if random_cuts else None

    def grown(self, share: Packed) -> Grown:
        """Room for the largest tree."""
        from mlcli.kernels.node_sums import Grown

        shape = (len(self._nodes), words_of(share))
        if self._totals.shape != shape:
            self._totals = np.empty(shape, np.int64)
        threshold, gain, weight, mean = self._numbers
        return Grown(self._nodes, threshold, gain, weight, mean, self._totals)

    def space(self, share: Packed, state: int) -> Space:
        """What one tree is grown in, from its rows and the seed of its draws."""
        from mlcli.kernels.growing import Space

        words = words_of(share)
        return Space(
            rows=share.inside,
            right=self._right,
            parts=np.empty((words, len(self._right)), np.int64),
            away=self._away,
            sums=np.empty((words, self._width), np.int64),
            left=np.empty(words, np.int64),
            drawn=np.arange(self._columns),
            state=np.array([state]),
            wish=np.array([np.nan]),
            opened=self._places,
        )


def words_of(share: Packed) -> int:
    """How many words a sum has: of values there is one more, the amount."""
    return len(share.parts) + (share.bits == 0)


def room_for_few(slots: int) -> Few:
    """Room for the rows of a small node."""
    from mlcli.kernels.histogram_splits import FEW, Few

    numbers, keys = np.empty((6, FEW)), np.empty((3, FEW), np.int16)
    amounts, weights, gathered, lefts, rights, scores = numbers
    totals, left = np.empty((2, slots))
    slot = np.empty(FEW, np.intp)
    return Few(slot, amounts, weights, totals, left, gathered, lefts, rights, scores, keys=keys[:2], order=keys[2])


def drawing_of(binned: Binned) -> Drawing:
    """A grid over each column, and room for the bins of a node."""
    from mlcli.kernels.random_splits import CELLS, Drawing

    first_bin, cells_per_unit = np.zeros((len(binned.known), CELLS), np.int32), np.zeros(len(binned.known))
    for j in np.flatnonzero(binned.ordered & (binned.known > 1)):
        lowest, last = binned.lowest[j, : binned.known[j]], binned.highest[j, binned.known[j] - 1]
        cells_per_unit[j] = CELLS / (last - lowest[0])
        begins = lowest[0] + np.arange(CELLS) / cells_per_unit[j]
        first_bin[j] = np.maximum(np.searchsorted(lowest, begins, side="right") - 1, 0)
    return Drawing(first_bin, cells_per_unit, np.empty(binned.bins.shape[1], binned.bins.dtype))
