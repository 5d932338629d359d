"""How far rows are apart when each part of a round has its own scales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.neighbours._distances import Distance
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._scales import Scales

ANY_DISTANCE = 1e15
"""So much stretched, the nearest row is as far as any."""
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
        everything: Array = np.full(len(relative), ANY_DISTANCE)
        np.divide(farthest, nearest, out=everything, where=nearest > farthest / ANY_DISTANCE)
        return everything

    @cached_property
    def beside(self) -> Array:
        """How far other fillings may move a pair apart, as most see it."""
        moved: Array = np.abs(self.scales.fill / self.usual).sum(axis=1)
        return moved

    def between(self, here: Rows, there: Rows) -> Array:
        """The distances of pairs of rows, as the part of the first sees them."""
        scales, part = self.scales, self.part[here]
        steps = scales.columns[:, here] - scales.columns[:, there]
        if scales.gaps.any():
            steps += scales.fill.T[:, part] * (scales.gaps[:, here] - scales.gaps[:, there])
        steps /= scales.unit.T[:, part]
        return self.distance.between(_points(steps), _points(np.zeros_like(steps)))

    @cached_property
    def rounding(self) -> Array:
        """How wrong a distance from each row may be, beside what the distance itself adds."""
        if self.scales.exact:
            return np.zeros(len(self.part))
        sizes = np.abs(self.scales.columns.T / self.scales.unit[self.part])
        sizes *= 2
        sizes += self.scales.size[self.part]
        return np.asarray(ROUNDING * sizes.sum(axis=1))


def _points(numbers: Array) -> Points:
    return Points(numbers, np.empty((0, *numbers.shape[1:]), np.int32))
