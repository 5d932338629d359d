"""Relative density: a row is odd where it lies less densely than its neighbours do, whatever that density is.

Formula:
    N(x) are the k nearest training rows, and all as near as the k-th; density(x) = 1 / mean_{o∈N(x)} d(x, o).
    s(x) = mean_{o∈N(x)} density(o) / density(x), about 1 within a cluster; ``over: sum`` has Σ for the mean.

Assumes:
    Anomalies lie alone. Rows that stand nearly on each other are so dense that ordinary rows beside them look odd;
    `lof` has reachability for that.

Cost:
    n²·p to fit, n·p per row asked; memory grows with the rows, never with their square.

Choices:
    A mean over the neighbours; ``sum`` is as the notes print it, k times that, so that ranks are the same but
    where rows tie for the k-th place. 1e-10 is added to a mean distance. A training row is left out of
    its own neighbours; a model that is asked about exactly the rows that it has learned from gives the scores
    that it found when learning.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.neighbours.neighbourhoods import (
    NEVER_NOTHING,
    NeighbourDetector,
    Neighbourhoods,
    Neighbours,
    same_rows,
)
from mlcli.engines.neighbours.points import DistinctRows
from mlcli.tasks.anomaly import Detector, ScreenedRows

OVER = {"mean": Neighbours.mean, "sum": Neighbours.sum}


@register("relative-density", reference="Tan, Steinbach & Kumar 2005, Introduction to data mining, section 10.4.2")
class RelativeDensity(NeighbourDetector, Detector):
    """Compares how densely a row lies with how densely its neighbours do."""

    neighbours: int = param(5, "how many training rows are near", ge=1, tune=(1, 50))
    over: str = param("mean", "what is taken of the densities of the neighbours", choices=OVER)

    how_scored = "density: 1 / mean distance of its own; score: that of these (mean or sum) over that of the row."
    density_: Array = learned("stored")
    own_: Array = learned("stored")

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find how densely each training row lies, and how that compares with its neighbours."""
        self.store(data, self.neighbours)
        rows = DistinctRows.of(self.stored_)
        around = Neighbourhoods(rows, rows, self.k_, within=True).kept()
        density = around.each(_density)
        own = around.each(lambda near: self._relative(near, density))
        self.density_, self.own_ = density[rows.point_of], own[rows.point_of]

    def score_rows(self, table: Table) -> Array:
        """The density of the neighbours in units of that of the row."""
        if same_rows(table.numbers, self.stored_):
            return self.own_
        return self.scored(table, lambda near, stored: self._relative(near, self.density_[stored.first]))

    def of_neighbours(self, near: Rows, distance: Array) -> dict[str, Array]:
        """How densely they lie."""
        return {"density": self.density_[near]}

    def _relative(self, near: Neighbours, density: Array) -> Array:
        return np.asarray(OVER[self.over](near, density[near.pairs.stored]) / _density(near))


def _density(near: Neighbours) -> Array:
    return np.asarray(1 / (near.mean(near.pairs.distance) + NEVER_NOTHING))
