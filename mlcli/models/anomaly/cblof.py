"""CBLOF: a row is odd that is far from every large cluster (cluster-based local outlier factor).

Formula:
    k-means, clusters C_1, C_2, … from the largest on. The first b are large, with b the first for which they hold
    the share α of the rows or C_b is β times as large as C_(b+1). With d(x) the distance from the centre of the
    row's own cluster if that is large, and from the nearest large one if it is small: s(x) = d(x), or |C| d(x)
    with |C| the rows of the row's own cluster (``weights: size``).

Assumes:
    Good rows lie in round clusters, anomalies alone or in small clusters, which k-means must find: with too few
    centres anomalies are dealt to large clusters, and still lie far from their centres.

Cost:
    rows × clusters × columns for each step of k-means; clusters × columns per row asked.

Choices:
    Distances alone by default, since a factor |C| makes rows at the edge of the largest cluster odd;
    ``printed`` has the factor for large clusters only, as the notes do, which ranks an ordinary row above an
    isolated cluster. α or β, as in He et al. (2003). Point-level filtering (``trim``): the share of
    rows that lie farthest from their centres, which add most to the sum of squares, are taken out and the centres
    moved, until the same rows are out (k-means--, Chawla & Gionis 2013). Cluster-level filtering (``far``): of the
    small clusters only those are anomalies whose centre lies so many spreads (root mean squared distances of its
    rows) from the nearest large one; the others count as large. The best of some starts of k-means is kept. What
    a column adds is its squared distance to the centre that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.centres import means_settled, nearest_centres, squared_lengths
from mlcli.engines.content_seeds import as_repeats
from mlcli.tasks.anomaly import Detector, ScreenedRows
from mlcli.tasks.cluster_profiles import largest_first


class Placed(NamedTuple):
    """Rows among the clusters."""

    own: Codes
    """The cluster of each row."""
    centre: Array
    """The centre that it is measured from."""
    large: Flags
    """Whether its own cluster is large."""


WEIGHTS: dict[str, Callable[[Placed, Array], Array]] = {
    "none": lambda placed, sizes: np.ones(len(placed.own)),
    "printed": lambda placed, sizes: np.where(placed.large, sizes[placed.own], 1.0),
    "size": lambda placed, sizes: sizes[placed.own],
}


SCORED = {
    "none": "score: the distance from the nearest large cluster",
    "printed": "score: the distance from the nearest large cluster, times its training rows if the row lies in it",
    "size": "score: the distance from the nearest large cluster, times the training rows of its own",
}
OWN, MEASURED = "has the row", "is measured from"


@register("cblof", reference="He, Xu & Deng 2003, Discovering cluster-based local outliers")
class ClusterFactor(Detector, RowExplainer):
    """The distance from large clusters."""

    clusters: int = param(8, "how many clusters k-means looks for", ge=1, tune=(2, 20))
    alpha: float = param(0.9, "the share of rows at which clusters are large enough together", gt=0, le=1)
    beta: float = param(5.0, "how many times as large as the next one the last large cluster is", gt=1)
    weights: str = param("none", "what distances are multiplied by", choices=WEIGHTS)
    trim: float = param(
        0.0, "the share of rows that spoil clusters and shape none (point level)", ge=0, lt=0.5, if_given=True
    )
    far: float | None = param(
        None, "how many spreads of a large cluster it must be away (cluster level); none: 0", gt=0, if_given=True
    )
    restarts: int = param(5, "how often k-means begins anew; the best is kept", ge=1)

    centres_: Array = learned("clusters", "columns")
    sizes_: Array = learned("clusters")
    """The weight of the rows of each cluster, the largest first."""
    large_: int = learned()
    """How many clusters are large."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find the clusters, and which of them are large."""
        data = as_repeats(data)
        X, weights = data.table.numbers, data.weights
        if not X.shape[1]:
            raise FitError("cblof needs a column to measure distances by")
        starts = [means_settled(X, weights, self.clusters, rng) for _ in range(self.restarts)]
        found = [nearest_centres(X, centres, squared_lengths(X)) for centres in starts]
        best = int(np.argmin([weights @ one.own**2 for one in found]))
        centres, shaping = trimmed(X, weights, starts[best], self.trim)
        cluster = nearest_centres(X, centres, squared_lengths(X)).cluster
        order = largest_first(X, cluster, len(centres), weights)
        sizes = np.bincount(cluster, weights=weights * shaping, minlength=len(order)).astype(np.float64)
        order = order[np.argsort(-sizes[order], kind="stable")]
        self.centres_, self.sizes_ = centres[order], sizes[order]
        self.large_ = how_many_large(self.sizes_, self.alpha, self.beta)
        if self.far is not None:
            self._keep_far_ones(X[shaping > 0], weights[shaping > 0], self.far)

    def _keep_far_ones(self, X: Array, weights: Array, far: float) -> None:
        """Small clusters that lie near a large one are no anomalies: they count as large."""
        near = nearest_centres(X, self.centres_, squared_lengths(X))
        squares = np.bincount(near.cluster, weights=weights * near.own**2, minlength=len(self.centres_))
        spread = np.sqrt(squares / np.maximum(self.sizes_, 1e-300))
        small = self.centres_[self.large_ :]
        apart = nearest_centres(small, self.centres_[: self.large_], squared_lengths(small))
        stays = apart.own > far * spread[apart.cluster]
        place = np.arange(len(stays)) + self.large_
        order = np.concatenate([np.arange(self.large_), place[~stays], place[stays]])
        self.centres_, self.sizes_ = self.centres_[order], self.sizes_[order]
        self.large_ += int((~stays).sum())

    def _placed(self, X: Array) -> Placed:
        own = nearest_centres(X, self.centres_, squared_lengths(X)).cluster
        large = own < self.large_
        of_large = nearest_centres(X, self.centres_[: self.large_], squared_lengths(X)).cluster
        return Placed(own, self.centres_[of_large], large)

    def score_rows(self, table: Table) -> Array:
        """The distance from the nearest large cluster, times what the weights say."""
        placed = self._placed(table.numbers)
        distance = np.sqrt(squared_lengths(table.numbers - placed.centre))
        return distance * WEIGHTS[self.weights](placed, self.sizes_)

    def deviations(self, table: Table) -> Array:
        """The squared distance to the centre in each column, with the sign of the deviation."""
        apart = table.numbers - self._placed(table.numbers).centre
        return np.asarray(apart * np.abs(apart))

    def explain(self) -> findings.Explanation:
        """The clusters by size."""
        shares = self.sizes_ / self.sizes_.sum()
        names = ["large" if index < self.large_ else "small" for index in range(len(shares))]
        numbers = np.column_stack([self.sizes_, shares, shares.cumsum()]).tolist()
        rows = tuple((index, name, *of) for index, (name, of) in enumerate(zip(names, numbers, strict=True), 1))
        header = ("cluster", "size", "training rows", "share", "cumulative share")
        enough = f"the first clusters that together hold the share {self.alpha:g} of the rows"
        note = f"large: {enough}, or up to one that is {self.beta:g} times as large as the next"
        return (findings.Table("Large and small clusters", header, rows, note=note),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How far the row lies from each centre, in which cluster it is, and from which it is measured."""
        own, distances = (
            int(self._placed(table.numbers).own[0]),
            squared_lengths(self.centres_ - table.numbers) ** 0.5,
        )
        near = int(distances[: self.large_].argmin())
        # the nearest clusters only
        rows = tuple(
            (
                place + 1,
                "large" if place < self.large_ else "small",
                float(self.sizes_[place]),
                float(distances[place]),
                ", ".join([OWN] * (place == own) + [MEASURED] * (place == near)),
            )
            for place in np.argsort(distances, kind="stable")[:10].tolist()
        )
        header = ("cluster", "size", "training rows", "distance", "")
        return (findings.Table("Clusters, the nearest first", header, rows, note=SCORED[self.weights]),)

    def check_learned(self) -> None:
        """No more large clusters than clusters."""
        super().check_learned()
        if not 1 <= self.large_ <= len(self.sizes_):
            raise ValueError("there are not as many large clusters")


def trimmed(X: Array, weights: Array, centres: Array, share: float) -> tuple[Array, Array]:
    """Centres of the rows that are left when the farthest share is taken out, again and again; which are left."""
    kept = np.ones(len(X))
    for _ in range(100 if share else 0):
        near = nearest_centres(X, centres, squared_lengths(X))
        order = np.argsort(near.own, kind="stable")
        inside = np.cumsum(weights[order]) <= (1 - share) * weights.sum() * (1 + 1e-12)
        left = np.zeros(len(X))
        left[order[inside]] = 1.0
        if np.array_equal(left, kept):
            break
        kept = left
        counts = np.bincount(near.cluster, weights=weights * kept, minlength=len(centres))
        sums = np.array([np.bincount(near.cluster, weights * kept * x, len(centres)) for x in X.T]).T
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1e-300)[:, None], centres)
    return centres, kept


def how_many_large(sizes: Array, alpha: float, beta: float) -> int:
    """The first number of clusters, from the largest on, that hold enough rows or are followed by a small one."""
    enough = sizes.cumsum() >= alpha * sizes.sum() * (1 - 1e-12)
    smaller = np.append(sizes[:-1] >= beta * sizes[1:], True)
    return int(np.argmax(enough | smaller)) + 1
