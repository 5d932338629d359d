"""kNN distance: a row is as odd as its nearest training rows are far.

Formula:
    N(x) are the k nearest training rows, d_j(x) the euclidean distance to the j-th. ``kth``: s(x) = d_k(x).
    ``average``: s(x) = (1/k) Σ_{j≤k} d_j(x). ``relative``: the mean distance to N(x) by the mean distance of two
    rows of N(x), the local distance-based outlier factor. ``random``: the distance to the nearest of ``sample``
    training rows drawn at random, averaged over ``subsets`` draws.

Assumes:
    Good rows lie close together, everywhere about equally close (but for ``relative``): one threshold serves
    sparse and dense regions. Irrelevant columns drown the others.

Cost:
    Nothing to fit; n·p per predicted row. Pairs are screened in blocks of a matrix product and the few that may be
    near are measured exactly; memory grows with the rows, never with their square. Equal rows are searched once.
    ``relative`` measures k² more distances per row; ``random`` only sample × subsets, whatever n.

Choices:
    A model that scores exactly its training rows leaves each out of its own neighbours;
    other rows meet all training rows. Where there are no more than k training rows, all others count. Under
    ``relative`` all rows as near as the k-th are neighbours, and 1e-10 is added to both means. Under ``random``
    each subset is drawn with replacement.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.neighbours.neighbourhoods import NEVER_NOTHING, NeighbourDetector, Neighbours, same_rows
from mlcli.tasks.anomaly import Detector, ScreenedRows


def relative_distance(near: Neighbours, stored: DistinctRows) -> Array:
    """The mean distance to the neighbours, by the mean distance of two of them."""
    from scipy.spatial.distance import cdist

    between = np.empty(len(near.totals))
    parts = (np.split(values, near.pairs.begins[1:]) for values in (near.pairs.stored, near.times))
    for index, (points, times) in enumerate(zip(*parts, strict=True)):
        others = max(times.sum() - 1, 1) * times.sum()
        between[index] = times @ cdist(stored.points[points], stored.points[points]) @ times / others
    return np.asarray((near.mean(near.pairs.distance) + NEVER_NOTHING) / (between + NEVER_NOTHING))


RANDOM = "random"
BY_NEIGHBOURS = ("kth", "average", "relative")


@register(
    "knn-distance",
    reference="Ramaswamy, Rastogi & Shim 2000, Efficient algorithms for mining outliers; Zhang, Hutter & Jin 2009 "
    "(relative); Sugiyama & Borgwardt 2013, Rapid distance-based outlier detection via sampling (random)",
)
class NeighbourDistance(NeighbourDetector, Detector):
    """Stores the training rows; all work is done when it is asked."""

    neighbours: int = param(
        5, "how many training rows are near", ge=1, tune=(1, 50), matters_when={"which": BY_NEIGHBOURS}
    )
    which: str = param(
        "kth",
        "the k-th distance, their average, that relative to distances between them, or that to random rows",
        choices=(*BY_NEIGHBOURS, RANDOM),
    )
    sample: int = param(
        8,
        "how many rows are drawn, the nearest of which counts",
        ge=1,
        if_given=True,
        matters_when={"which": RANDOM},
    )
    subsets: int = param(
        50, "how many samples a score is the mean of", ge=1, if_given=True, matters_when={"which": RANDOM}
    )

    drawn_: Rows = learned()
    """Under ``random`` the places of the rows drawn, a line for each sample."""

    def conflicts(self) -> list[str]:
        """One neighbour is not apart from others."""
        alone = self.which == "relative" and self.neighbours < 2
        return ["which: relative compares neighbours with each other: at least 2"] if alone else []

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Store the rows, and draw the samples."""
        self.store(data, self.neighbours if self.which != RANDOM else 1)
        self.drawn_ = np.empty((0, self.sample), np.intp)
        if self.which == RANDOM:
            self.drawn_ = order_of_content(data)[rng.integers(0, len(data), (self.subsets, self.sample))]

    def score_rows(self, table: Table) -> Array:
        """The distance to the nearest rows."""
        if self.which != RANDOM:
            return self.scored(table, self._distance)
        distance = self._nearest_drawn(table)[1]
        defined = np.isfinite(distance)
        return np.asarray(np.where(defined, distance, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1))

    def _distance(self, near: Neighbours, stored: DistinctRows) -> Array:
        if self.which == "kth":
            return near.kth
        return near.mean_distance(self.k_) if self.which == "average" else relative_distance(near, stored)

    def _nearest_drawn(self, table: Table) -> tuple[Rows, Array]:
        """Of each sample the nearest training row and its distance (rows × samples); none is its own neighbour."""
        from scipy.spatial.distance import cdist

        distance = cdist(table.numbers, self.stored_[self.drawn_.ravel()])
        if same_rows(table.numbers, self.stored_):
            distance[self.drawn_.ravel(), np.arange(self.drawn_.size)] = np.inf
        by_sample = distance.reshape(len(table), *self.drawn_.shape)
        nearest = by_sample.argmin(axis=2)
        return self.drawn_[np.arange(len(self.drawn_)), nearest], by_sample.min(axis=2)

    def deviations(self, table: Table) -> Array:
        """What each column adds to the squared distances to the neighbours, below 0 where it is lower."""
        if self.which != RANDOM:
            return super().deviations(table)
        steps = table.numbers[:, None] - self.stored_[self._nearest_drawn(table)[0]]
        return np.asarray(np.copysign((steps**2).sum(axis=1), steps.sum(axis=1)))

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The nearest training rows, or those of each sample."""
        if self.which != RANDOM:
            return super().explain_answer(table)
        nearest, distance = self._nearest_drawn(table)
        rows = tuple(zip((nearest[0] + 1).tolist(), distance[0].tolist(), strict=True))
        title = f"Nearest of {self.sample} random training rows, for each of {self.subsets} samples"
        return (findings.Table(title, ("training row", "distance"), rows, note="The score is the mean distance."),)

    def check_learned(self) -> None:
        """Samples of the stored rows."""
        super().check_learned()
        drawn = self.drawn_
        if drawn.shape != (self.subsets * (self.which == RANDOM), self.sample):
            raise ValueError("the saved samples do not fit the parameters")
        if drawn.size and not (drawn.min() >= 0 and drawn.max() < len(self.stored_)):
            raise ValueError("the saved samples are not rows of the model")
