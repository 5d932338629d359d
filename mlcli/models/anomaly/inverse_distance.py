"""Inverse distance: a row is odd where few rows lie round it, by one over the mean distance to its neighbours.

Formula:
    N(x) are the k nearest training rows; density(x) = k / Σ_{o∈N(x)} d(x, o), d is euclidean. s(x) = −density(x).

Assumes:
    Regions of good rows are about equally dense: one threshold for all.

Cost:
    Nothing to fit; n·p per predicted row, as of `knn-distance`, whose mean distance puts rows in the same order.

Choices:
    1e-10 is added to the mean distance, so that rows that stand on each other have a density. A model that is
    asked about exactly the rows that it has learned from leaves each out of its own neighbours. Scores are below
    0: near 0 for rows far from all others. Its own threshold is found on mean distances, as that of
    `knn-distance`, since scores that end at 0 are never far above their quartiles.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.neighbours.neighbourhoods import NEVER_NOTHING, NeighbourDetector
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register(
    "inverse-distance",
    reference="Tan, Steinbach & Kumar 2005, Introduction to data mining, section 10.4.1",
    revision=2,
)
class InverseDistance(NeighbourDetector, Detector):
    """Minus the density by the mean distance to the nearest rows."""

    neighbours: int = param(5, "how many training rows are near", ge=1, tune=(1, 50))

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Store the rows."""
        self.store(data, self.neighbours)

    def score_rows(self, table: Table) -> Array:
        """Minus one over the mean distance."""
        return self.scored(table, lambda near, stored: -1 / (near.mean_distance(self.k_) + NEVER_NOTHING))

    def far_out(self, lower: float, upper: float) -> tuple[float, str]:
        """Far out by mean distances."""
        distance, _ = super().far_out(-1 / lower, -1 / upper)
        return -1 / distance, ", of mean distances"
