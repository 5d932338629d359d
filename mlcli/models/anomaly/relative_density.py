"""Relative density: a row is odd where it lies less densely than its neighbours do, whatever that density is.

Formula:
    N(x) are the k nearest training rows, and all as near as the k-th; density(x) = 1 / mean_{o∈N(x)} d(x, o).
    s(x) = mean_{o∈N(x)} density(o) / density(x), about 1 within a cluster; ``over: sum`` has Σ for the mean.

Assumes:
    Anomalies lie alone. Rows that stand nearly on each other are so dense that ordinary rows beside them look odd;
    `lof` has reachability for that.

Cost:
    n²·p to fit, n·p per predicted row; memory grows with the rows, never with their square.

Choices:
    A mean over the neighbours; ``sum`` is as the notes print it, k times that, so that ranks are the same but
    where rows tie for the k-th place. 1e-10 is added to a mean distance. A training row is left out of
    its own neighbours; a model that scores exactly its training rows gives the scores
    that it found when learning.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.engines.neighbours.neighbourhoods import Neighbours
from mlcli.models.anomaly.lof import DensityRatio
from mlcli.tasks.anomaly import Detector


@register("relative-density", reference="Tan, Steinbach & Kumar 2005, Introduction to data mining, section 10.4.2")
class RelativeDensity(DensityRatio, Detector):
    """LOF without reachability."""

    neighbours: int = param(5, "how many training rows are near", ge=1, tune=(1, 50))
    over: str = param("mean", "what is taken of the densities of the neighbours", choices=("mean", "sum"))

    how_scored = "density: 1 / mean distance of its own; score: that of these (mean or sum) over that of the row."

    def combined(self, near: Neighbours, densities: Array) -> Array:
        """Their mean or sum."""
        return near.sum(densities) if self.over == "sum" else near.mean(densities)

    def of_neighbours(self, near: Rows, distance: Array) -> dict[str, Array]:
        """Their density."""
        return {"density": self.density_[near]}
