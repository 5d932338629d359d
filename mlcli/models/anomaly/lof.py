"""LOF: a row is odd where rows lie less densely round it than round its neighbours (local outlier factor).

Formula:
    N(x) are the k nearest training rows, and all as near as the k-th; d_k(o) is the distance of o to its own k-th.
    reach(x, o) = max(d(x, o), d_k(o)); density(x) = 1 / mean_{o∈N(x)} reach(x, o);
    s(x) = mean_{o∈N(x)} density(o) / density(x), about 1 in the middle of a cluster, larger outside of it.
    Without ``reachability``, d(x, o) stands for reach(x, o): the relative density.

Assumes:
    Anomalies lie alone: a cluster of more than k of them is dense to itself. Unlike one distance for all, it
    allows for regions of different density.

Cost:
    n²·p to fit, n·p per predicted row. Pairs are screened in blocks of a matrix product; the few that may be near
    are measured exactly; memory grows with the rows, never with their square. Equal rows are searched once.

Choices:
    A training row is left out of its own neighbours. A model that scores exactly its
    training rows gives the scores that it found when learning; other rows meet all training rows. 1e-10 is added
    to a mean distance, so that rows that stand on each other have a density. The notes print the relative
    density as a sum over the neighbours, k times this mean; ranks are the same. All rows as near as the k-th
    count, as in the paper, so that the order of rows decides nothing; scikit-learn takes k of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.neighbours.neighbourhoods import (
    NEVER_NOTHING,
    NeighbourDetector,
    Neighbourhoods,
    Neighbours,
    same_rows,
)
from mlcli.tasks.anomaly import Detector, ScreenedRows


@dataclass(kw_only=True, eq=False)
class DensityRatio(NeighbourDetector):
    """Compares the density at a row with the density at its neighbours."""

    neighbours: int

    kth_: Array = learned("stored")
    density_: Array = learned("stored")
    own_: Array = learned("stored")

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find the density at each training row, and its ratio to the density at its neighbours."""
        self.store(data, self.neighbours)
        rows = DistinctRows.of(self.stored_)
        around = Neighbourhoods(rows, rows, self.k_, within=True).kept()
        kth = around.each(lambda near: near.kth)
        density = around.each(lambda near: self._density(near, kth))
        factor = around.each(lambda near: self._factor(near, density[near.points], density))
        self.kth_, self.density_, self.own_ = (found[rows.point_of] for found in (kth, density, factor))

    def score_rows(self, table: Table) -> Array:
        """The density at the neighbours in units of that at the row."""
        if same_rows(table.numbers, self.stored_):
            return self.own_

        def factor(near: Neighbours, stored: DistinctRows) -> Array:
            own = self._density(near, self.kth_[stored.first])
            return self._factor(near, own, self.density_[stored.first])

        return self.scored(table, factor)

    def _factor(self, near: Neighbours, own: Array, density: Array) -> Array:
        """The densities at the neighbours over those at the query points."""
        return np.asarray(self.combined(near, density[near.pairs.stored]) / own)

    def _density(self, near: Neighbours, kth: Array) -> Array:
        """The density of the query points, from the k-th distances of those stored."""
        return np.asarray(1 / (near.mean(self.reach(near, kth)) + NEVER_NOTHING))

    def reach(self, near: Neighbours, kth: Array) -> Array:
        """The distance to each neighbour; ``kth`` is the k-th distance of the stored points."""
        return near.pairs.distance

    def combined(self, near: Neighbours, densities: Array) -> Array:
        """One density for all neighbours of a row."""
        return near.mean(densities)


@register("lof", reference="Breunig, Kriegel, Ng & Sander 2000, LOF: identifying density-based local outliers")
class LocalOutlierFactor(DensityRatio, Detector):
    """The local outlier factor."""

    neighbours: int = param(20, "how many training rows are near", ge=1, tune=(1, 50))
    reachability: bool = param(True, "whether a neighbour is at least as far as its own k-th")

    how_scored = (
        "density: 1 / mean reachability of its own; score: the mean density of these over that of the row."
    )

    def reach(self, near: Neighbours, kth: Array) -> Array:
        """The distance to each neighbour, at least the neighbour's own k-th distance."""
        if not self.reachability:
            return near.pairs.distance
        return np.maximum(near.pairs.distance, kth[near.pairs.stored])

    def of_neighbours(self, near: Rows, distance: Array) -> dict[str, Array]:
        """Their k-th distance, their reachability and their density."""
        reach = {"reachability": np.maximum(distance, self.kth_[near])} if self.reachability else {}
        return {"kth distance": self.kth_[near], **reach, "density": self.density_[near]}

    def explain(self) -> findings.Explanation:
        """What is stored, and how the training rows score themselves."""
        shares = (0.5, 0.9, 0.99, 1.0)
        factors = tuple(zip(shares, np.quantile(self.own_, shares).tolist(), strict=True))
        note = "About 1 is as dense as its neighbours; a row that scores 2 lies half as densely."
        return (
            *super().explain(),
            findings.Table("Scores of the training rows", header=("share", "is below"), rows=factors, note=note),
        )
