"""How far rows are apart when each part of a round has its own scales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.neighbours._distances import Distance
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._scales import Scales

ROUNDING = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Space:
    """Rows as each part sees them: a distance without a part of its own is that of the part of the row asked."""

    distance: Distance
    scales: Scales
    part: Codes
    """The part of each row."""

    @cached_property
    def usual(self) -> Array:
        """The largest unit of each column: most parts have it, but where a far-off row is left out it is less."""
        unit = self.scales.unit
        largest = np.where(np.isfinite(unit), unit, 0.0).max(axis=0, initial=0.0)
        return np.where(largest > 0, largest, 1.0)

    @cached_property
    def points(self) -> Points:
        """All rows as most parts see them."""
        return _points(self.scales.columns / self.usual[:, None])

    @cached_property
    def stretch(self) -> Array:
        """For each part, how many times farther a pair may be apart than another, beside where most see them."""
        relative = self.usual / self.scales.unit
        nearest, farthest = relative.min(axis=1, initial=np.inf), relative.max(axis=1, initial=0.0)
        everywhere: Array = np.full(len(relative), np.inf)
        np.divide(farthest, nearest, out=everywhere, where=nearest > 0)
        return everywhere

    @cached_property
    def beside(self) -> Array:
        """How far other fillings may move a pair apart, as most see it."""
        moved: Array = np.abs(self.scales.fill / self.usual).sum(axis=1)
        return moved

    def between(self, here: Rows, there: Rows) -> Array:
        """The distances of pairs of rows, as the part of the first sees them."""
        return self.distance.between(self._seen(here, here), self._seen(there, here))

    def _seen(self, rows: Rows, by: Rows) -> Points:
        scales = self.scales
        cells, part = scales.columns[:, rows], self.part[by]
        if scales.exact:
            return _points(cells)
        if scales.fill.any():
            cells += scales.fill.T[:, part] * scales.gaps[:, rows]
        return _points(cells / scales.unit.T[:, part])

    def rounding(self, rows: Rows) -> Array:
        """How wrong a distance from each row may be, beside what the distance itself adds."""
        if self.scales.exact:
            return np.zeros(len(rows))
        part = self.part[rows]
        sizes = np.abs(self.scales.columns[:, rows].T / self.scales.unit[part])
        return np.asarray(ROUNDING * (2 * sizes + self.scales.size[part]).sum(axis=1))


def _points(numbers: Array) -> Points:
    return Points(numbers, np.empty((0, *numbers.shape[1:]), np.int32))
