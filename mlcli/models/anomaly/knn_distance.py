"""kNN distance: a row is as odd as its nearest training rows are far.

Formula:
    s(x) = d_k(x), the distance to the k-th nearest training row, or (1/k) Σ_{j≤k} d_j(x), the mean distance to
    the k nearest; d is euclidean.

Assumes:
    Good rows lie close together, everywhere about equally close: one threshold serves sparse and dense regions.
    Columns on one scale, so they are standardised unless steps are given; irrelevant columns drown the others.

Cost:
    Nothing to fit; n·p per row asked. Pairs are screened in blocks of a matrix product and the few that may be
    near are measured exactly; memory grows with the rows, never with their square. Equal rows are searched once.

Choices:
    A model that is asked about exactly the rows that it has learned from leaves each out of its own neighbours;
    other rows meet all training rows. Where there are no more than k training rows, all others count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.neighbours.neighbourhoods import (
    Distinct,
    Neighbourhoods,
    Neighbours,
    are_the_same,
    away_from_neighbours,
    check_stored,
    neighbours_within,
    stored_rows,
)
from mlcli.tasks.anomaly import Detector, ScreenedRows


def _kth(found: Neighbours, k: int) -> Array:
    return found.kth


def _average(found: Neighbours, k: int) -> Array:
    """Of rows as far as the k-th only as many count as k wants."""
    beyond = found.totals - k
    return np.asarray((found.sum(found.pairs.distance) - beyond * found.kth) / k)


WHICH = {"kth": _kth, "average": _average}


@register("knn-distance", reference="Ramaswamy, Rastogi & Shim 2000, Efficient algorithms for mining outliers")
@dataclass(kw_only=True, eq=False)
class NeighbourDistance(Detector):
    """Stores the training rows; all work is done when it is asked."""

    neighbours: int = param(5, "how many training rows are near", ge=1, tune=(1, 50))
    which: str = param("kth", "the distance to the last of them, or to all on average", choices=WHICH)

    stored_: Array = learned()
    k_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale."""
        return Accepts(prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Store the rows."""
        self.k_ = neighbours_within(data, self.neighbours)
        self.stored_ = data.table.numbers

    def score_rows(self, table: Table) -> Array:
        """The distance to the k-th neighbour, or to all k on average."""
        within = are_the_same(table.numbers, self.stored_)
        asked = Distinct.of(table.numbers)
        around = Neighbourhoods(asked, asked if within else Distinct.of(self.stored_), self.k_, within)
        return around.each(lambda near: WHICH[self.which](near, self.k_))[asked.point_of]

    def deviations(self, table: Table) -> Array:
        """What each column adds to the squared distances to the neighbours."""
        return away_from_neighbours(table, self.stored_, self.k_)

    def explain(self) -> Explanation:
        """What is stored."""
        return stored_rows(self.stored_, self.k_)

    def check_learned(self) -> None:
        """Stored rows have these columns."""
        super().check_learned()
        check_stored(len(self.columns_), self.stored_, self.k_)
