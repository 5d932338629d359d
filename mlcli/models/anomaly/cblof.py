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
    rows × clusters × columns for each step of k-means; clusters × columns per predicted row.

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

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import means_settled, nearest_centres, squared_lengths
from mlcli.engines.content_seeds import as_repeats
from mlcli.tasks.anomaly import Detector, ScreenedRows
from mlcli.tasks.clustering import largest_first


@register("cblof", reference="He, Xu & Deng 2003, Discovering cluster-based local outliers")
class ClusterFactor(Detector, RowExplainer):
    """The distance from large clusters."""

    clusters: int = param(8, "how many clusters k-means looks for", ge=1, tune=(2, 20))
    alpha: float = param(0.9, "the share of rows at which clusters are large enough together", gt=0, le=1)
    beta: float = param(5.0, "how many times as large as the next one the last large cluster is", gt=1)
    weights: str = param("none", "what distances are multiplied by", choices=("none", "printed", "size"))
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
        costs = [weights @ nearest_centres(X, centres, squared_lengths(X)).own ** 2 for centres in starts]
        centres, kept = trimmed(X, weights, starts[int(np.argmin(costs))], self.trim)
        cluster = nearest_centres(X, centres, squared_lengths(X)).cluster
        order = largest_first(X, cluster, len(centres), weights)
        sizes = np.bincount(cluster, weights=weights * kept, minlength=len(order)).astype(np.float64)
        order = order[np.argsort(-sizes[order], kind="stable")]
        self.centres_, self.sizes_ = centres[order], sizes[order]
        self.large_ = how_many_large(self.sizes_, self.alpha, self.beta)
        if self.far is not None:
            self._keep_far_ones(X[kept > 0], weights[kept > 0], self.far)

    def _keep_far_ones(self, X: Array, weights: Array, far: float) -> None:
        """Small clusters that lie near a large one are no anomalies: they count as large."""
        near = nearest_centres(X, self.centres_, squared_lengths(X))
        squares = np.bincount(near.cluster, weights=weights * near.own**2, minlength=len(self.centres_))
        spread = np.sqrt(squares / np.maximum(self.sizes_, 1e-300))
        small = self.centres_[self.large_ :]
        to_large = nearest_centres(small, self.centres_[: self.large_], squared_lengths(small))
        is_far = to_large.own > far * spread[to_large.cluster]
        index = np.arange(len(is_far)) + self.large_
        order = np.concatenate([np.arange(self.large_), index[~is_far], index[is_far]])
        self.centres_, self.sizes_ = self.centres_[order], self.sizes_[order]
        self.large_ += int((~is_far).sum())

    def _nearest_large(self, X: Array) -> Array:
        """The centre that each row is measured from."""
        return self.centres_[nearest_centres(X, self.centres_[: self.large_], squared_lengths(X)).cluster]

    def score_rows(self, table: Table) -> Array:
        """The distance from the nearest large cluster, times the size of the own cluster by ``weights``."""
        X = table.numbers
        distance = np.sqrt(squared_lengths(X - self._nearest_large(X)))
        if self.weights == "none":
            return distance
        own = nearest_centres(X, self.centres_, squared_lengths(X)).cluster
        if self.weights == "size":
            return distance * self.sizes_[own]
        return distance * np.where(own < self.large_, self.sizes_[own], 1.0)

    def deviations(self, table: Table) -> Array:
        """The squared distance to the centre in each column, with the sign of the deviation."""
        difference = table.numbers - self._nearest_large(table.numbers)
        return np.asarray(difference * np.abs(difference))

    def explain(self) -> findings.Explanation:
        """The clusters by size."""
        shares = self.sizes_ / self.sizes_.sum()
        numbers = np.column_stack([self.sizes_, shares, shares.cumsum()]).tolist()
        rows = tuple(
            (index + 1, "large" if index < self.large_ else "small", *line) for index, line in enumerate(numbers)
        )
        header = ("cluster", "size", "training rows", "share", "cumulative share")
        enough = f"the first clusters that together hold the share {self.alpha:g} of the rows"
        note = f"large: {enough}, or up to one that is {self.beta:g} times as large as the next"
        return (findings.Table("Large and small clusters", header, rows, note=note),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The ten nearest centres, in which cluster the row is, and from which it is measured."""
        own = int(nearest_centres(table.numbers, self.centres_, squared_lengths(table.numbers)).cluster[0])
        distances = squared_lengths(self.centres_ - table.numbers) ** 0.5
        nearest_large = int(distances[: self.large_].argmin())
        rows = list[tuple[findings.Entry, ...]]()
        for index in np.argsort(distances, kind="stable")[:10].tolist():
            remarks = ["has the row"] * (index == own) + ["is measured from"] * (index == nearest_large)
            size = "large" if index < self.large_ else "small"
            line = (size, float(self.sizes_[index]), float(distances[index]), ", ".join(remarks))
            rows.append((index + 1, *line))
        header = ("cluster", "size", "training rows", "distance", "")
        note = "score: the distance from the nearest large cluster"
        if self.weights == "printed":
            note += ", times its training rows if the row lies in it"
        elif self.weights == "size":
            note += ", times the training rows of its own"
        return (findings.Table("Clusters, the nearest first", header, tuple(rows), note=note),)

    def check_learned(self) -> None:
        """No more large clusters than clusters."""
        super().check_learned()
        if not 1 <= self.large_ <= len(self.sizes_):
            raise ValueError("there are not as many large clusters")


def trimmed(X: Array, weights: Array, centres: Array, share: float) -> tuple[Array, Array]:
    """Centres without the farthest share of the rows, taken out until it stays the same; 1 for the rows left."""
    kept = np.ones(len(X))
    for _ in range(100 if share else 0):
        near = nearest_centres(X, centres, squared_lengths(X))
        order = np.argsort(near.own, kind="stable")
        inside = np.cumsum(weights[order]) <= (1 - share) * weights.sum() * (1 + ROUNDING)
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
    enough = sizes.cumsum() >= alpha * sizes.sum() * (1 - ROUNDING)
    smaller = np.append(sizes[:-1] >= beta * sizes[1:], True)
    return int(np.argmax(enough | smaller)) + 1
