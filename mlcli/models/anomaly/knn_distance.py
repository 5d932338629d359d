"""kNN distance: a row is as odd as its nearest training rows are far.

Formula:
    s(x) = d_k(x), the distance to the k-th nearest training row, or (1/k) Σ_{j≤k} d_j(x), the mean distance to
    the k nearest; d is euclidean.

Assumes:
    Good rows lie close together, everywhere about equally close: one threshold serves sparse and dense regions.
    Irrelevant columns drown the others.

Cost:
    Nothing to fit; n·p per row asked. Pairs are screened in blocks of a matrix product and the few that may be
    near are measured exactly; memory grows with the rows, never with their square. Equal rows are searched once.

Choices:
    A model that is asked about exactly the rows that it has learned from leaves each out of its own neighbours;
    other rows meet all training rows. Where there are no more than k training rows, all others count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.neighbours.neighbourhoods import NeighbourDetector, Neighbours
from mlcli.tasks.anomaly import Detector, ScreenedRows

WHICH: dict[str, Callable[[Neighbours, int], Array]] = {
    "kth": lambda found, k: found.kth,
    "average": Neighbours.mean_distance,
}


@register("knn-distance", reference="Ramaswamy, Rastogi & Shim 2000, Efficient algorithms for mining outliers")
class NeighbourDistance(NeighbourDetector, Detector):
    """Stores the training rows; all work is done when it is asked."""

    neighbours: int = param(5, "how many training rows are near", ge=1, tune=(1, 50))
    which: str = param("kth", "the distance to the last of them, or to all on average", choices=WHICH)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Store the rows."""
        self.store(data, self.neighbours)

    def score_rows(self, table: Table) -> Array:
        """The distance to the k-th neighbour, or to all k on average."""
        return self.scored(table, lambda near, stored: WHICH[self.which](near, self.k_))
