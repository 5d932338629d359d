"""K-means: each row belongs to the nearest of k centres, each centre is the mean of its rows.

Formula:
    Centres m_1..m_k and clusters c(x) = argmin_j |x − m_j| that make Σ w |x − m_c(x)|² small (WCSS). Lloyd's
    algorithm moves rows and centres in turn, neither of which can raise the sum, and stops at a local minimum; the
    best of some restarts is kept. `mlcli curve validation` over `clusters` shows the elbow of that sum.

Assumes:
    Round clusters of about the same width, in columns on one scale; outliers pull centres towards them. Numbers
    only: the mean of levels is that of their 0/1 columns.

Cost:
    rows × clusters × columns for each step of each restart, less for rows that cannot have changed (Hamerly
    2010). Memory grows with the rows.

Choices:
    The first centres are drawn far apart (k-means-plus-plus; the notes print random rows, and call a random
    assignment better: both are offered). A cluster that loses all its rows restarts at the row farthest from its
    centre, and of equally near centres the first wins (the notes leave both open). Clusters are numbered from
    the largest to the smallest. `separation` is the threshold on the distance between clusters that the notes
    ask for, without a unit: here the smallest distance of two centres, in mean distances of rows to theirs. If
    fewer rows differ than clusters are requested, there are fewer clusters.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import counted
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.centres import (
    STARTS,
    CentredRows,
    Lloyd,
    SettledCentres,
    Stop,
    centred_rows,
    nearest_centres,
    placing_for,
    squared_differences,
    squared_lengths,
)
from mlcli.tasks.clustering import ClusteredRows, Clusterer, largest_first


@register("k-means", reference="Lloyd 1982; Arthur & Vassilvitskii 2007 (start)", revision=2)
class KMeans(Clusterer):
    """Lloyd's algorithm with restarts."""

    clusters: int = param(3, "number of clusters; the maximum if separation is given", ge=1, tune=(2, 10))
    separation: float | None = param(
        None,
        "the most clusters whose centres are this far apart, in mean distances of rows to centres",
        gt=0,
        if_given=True,
    )
    start: str = param("k-means-plus-plus", "how the first centres are found", choices=tuple(STARTS))
    restarts: int = param(10, "number of restarts; the best is kept", ge=1)
    tolerance: float = param(
        1e-4, "stops when the squared moves of all centres sum up to this share of a column's mean variance", ge=0
    )
    changes: int = param(0, "stops when no more rows than these change their cluster", ge=0)
    max_iterations: int = param(300, "maximum number of iterations", ge=1)

    origin_: Array = learned("numbers")
    centres_: Array = learned("clusters", "numbers")
    sizes_: Array = learned("clusters")
    within_: float = learned()
    steps_: int = learned()
    path_: Array = learned()
    """The within-cluster sum of squares at the start of the best restart and after each iteration."""
    ends_: Array = learned()
    """That of each restart."""
    separations_: Array = learned()
    """By the number of clusters from 2 on, the smallest distance of two centres in mean distances to them."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Let the centres settle from every start, and keep the best."""
        data = data.counted()
        if data.table.numbers.shape[1] == 0:
            raise FitError("k-means needs at least one column")
        self.origin_ = np.average(data.table.numbers, axis=0, weights=data.weights)
        cloud = centred_rows(data.table.numbers - self.origin_, data.weights)
        variance = float(cloud.weights @ cloud.lengths / cloud.weights.sum() / cloud.X.shape[1])
        stop = Stop(self.tolerance * variance, self.changes, self.max_iterations)
        place = placing_for(cloud.X.size * self.clusters * self.restarts)

        def settle(clusters: int) -> SettledCentres:
            """The best restart; a later one must be better by 1e-12 of the total sum of squares."""
            starts = (STARTS[self.start](cloud, clusters, rng) for _ in range(self.restarts))
            runs = [Lloyd(cloud, start, place).run(stop) for start in starts]
            best, tie = runs[0], 1e-12 * float(cloud.weights @ cloud.lengths)
            for run in runs[1:]:
                if run.within < best.within - tie:
                    best = run
            return replace(best, ends=tuple(run.within for run in runs))

        if self.separation is None:
            best = settle(self.clusters)
        else:  # the most clusters whose centres lie far enough apart, or one
            tried = [settle(clusters) for clusters in range(2, self.clusters + 1)]
            self.separations_ = np.array([_separation(one, cloud) for one in tried])
            enough = np.flatnonzero(self.separations_ >= self.separation)
            best = tried[enough[-1]] if len(enough) else settle(1)
        self._store(best, cloud)

    def _store(self, best: SettledCentres, cloud: CentredRows) -> None:
        """Store the centres by size; warn if they still move, or are fewer than asked for."""
        cluster = nearest_centres(cloud.X, best.centres, cloud.lengths).cluster
        order = largest_first(cloud.X, cluster, len(best.centres), cloud.weights)
        self.centres_ = best.centres[order]
        sizes = np.bincount(cluster, weights=cloud.weights, minlength=len(order))
        self.sizes_ = sizes.astype(np.float64)[order]
        self.within_ = float(cloud.weights @ squared_lengths(cloud.X - best.centres[cluster]))
        self.steps_, self.path_, self.ends_ = best.steps, np.array(best.path), np.array(best.ends)
        if not best.converged:
            message = f"k-means has not converged after {counted(best.steps, 'iteration')}; raise max_iterations"
            warnings.warn(message, MlcliWarning, stacklevel=3)
        if len(best.centres) < self.clusters and self.separation is None:
            message = f"fewer rows differ ({len(best.centres)}) than clusters were asked for ({self.clusters})"
            warnings.warn(message, MlcliWarning, stacklevel=3)

    def cluster_of(self, table: Table) -> Codes:
        """The nearest centre of each row."""
        X = table.numbers - self.origin_
        return nearest_centres(X, self.centres_, squared_lengths(X)).cluster

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How far one row is from each centre."""
        apart = np.sqrt(squared_differences(table.numbers - self.origin_, self.centres_))[0]
        rows = tuple(zip(self.cluster_names(), apart.tolist(), strict=True))
        note = "in the columns after the steps; the row is in the cluster of the nearest"
        return (findings.Table("Distances to the centres", ("cluster", "distance"), rows, note=note),)

    def cluster_count(self) -> int:
        """As many as there are centres."""
        return len(self.centres_)

    def check_learned(self) -> None:
        """One centre at least."""
        if not len(self.centres_):
            raise ValueError("no centre")

    def explain(self) -> findings.Explanation:
        """How tight the clusters are, after how many iterations of the best restart, and where others ended."""
        total = self.within_ + float(self.sizes_ @ squared_lengths(self.centres_))
        share = self.within_ / total if total > 0 else 0.0
        ended = "stopped" if self.steps_ >= self.max_iterations else "converged"
        restarts = f"best of {self.restarts} restarts, {ended} after {counted(self.steps_, 'iteration')}"
        if len(self.ends_) > 1:
            # Restarts end alike if they differ by less than a millionth of the first inertia.
            alike = int((self.ends_ - self.ends_.min() <= 1e-6 * self.path_[0]).sum())
            highest = f", where {alike} ended; the highest inertia of the others is {self.ends_.max():.6g}"
            restarts += ", where all ended" if alike == len(self.ends_) else highest
        lines = (
            f"inertia (within-cluster sum of squares, WCSS): {self.within_:.6g}, in the columns after the steps",
            f"{100 * share:.1f} % of the total sum of squares",
            restarts,
        )
        points, line = tuple(map(float, range(len(self.path_)))), ("inertia", tuple(self.path_.tolist()))
        centres = findings.Lines(f"{len(self.centres_)} clusters and their centres", lines=lines)
        path = findings.Curve("Inertia by iteration", "iteration", points, (line,))
        if self.separations_ is None:
            return centres, path
        note = "the smallest distance of two centres, in mean distances of rows to theirs"
        note += f"; wanted: {self.separation:g}"
        title, rows = "Separation by the number of clusters", tuple(enumerate(self.separations_.tolist(), 2))
        return centres, path, findings.Table(title, ("clusters", "separation"), rows, note=note)


def _separation(settled: SettledCentres, cloud: CentredRows) -> float:
    """The smallest distance of two centres, in mean distances of rows to theirs."""
    if len(settled.centres) < 2:
        return 0.0
    apart = np.sqrt(squared_differences(settled.centres, settled.centres))
    np.fill_diagonal(apart, np.inf)
    cluster = nearest_centres(cloud.X, settled.centres, cloud.lengths).cluster
    distances = np.sqrt(squared_lengths(cloud.X - settled.centres[cluster]))
    mean = float(np.average(distances, weights=cloud.weights))
    return float(apart.min()) / mean if mean > 0 else float(np.finfo(np.float64).max)
