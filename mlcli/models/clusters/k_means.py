"""K-means: each row belongs to the nearest of k centres, each centre is the mean of its rows.

Formula:
    Centres m_1..m_k and groups c(x) = argmin_j |x − m_j| that make Σ w |x − m_c(x)|² small (WCSS). Lloyd's
    algorithm moves rows and centres in turn, neither of which can raise the sum, and stops at a local minimum; the
    best of some restarts is kept.

Assumes:
    Round groups of about the same width, in columns on one scale; far-off rows pull centres towards them. Numbers
    only: the mean of levels is that of their 0/1 columns.

Cost:
    rows × clusters × columns for each step of each restart, less for rows that cannot have changed (Hamerly 2010).
    Memory grows with the rows.

Choices:
    The first centres are drawn far apart (k-means-plus-plus; the notes print random rows, and call a random
    assignment better: both are offered). A group that loses all its rows restarts at the row farthest from its
    centre, and of equally near centres the first wins (the notes leave both open). Groups are numbered from the
    largest to the smallest. `separation` is the threshold on how far groups lie apart that the notes ask for,
    without saying of what: here of the smallest distance of two centres, in mean distances of rows to theirs.
    Where fewer rows differ than clusters are asked for, there are fewer groups.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.centres import STARTS, Cloud, cloud_of, nearest_centres, squared_differences, squared_lengths
from mlcli.models.clusters._lloyd import Lloyd, Optimum, Stop, placing_for
from mlcli.tasks.clustering import ClusteredRows, Clusterer
from mlcli.tasks.grouping import largest_first

BETTER = 1e-12
"""The share of the sum of squares by which a restart must be better than one before it."""


@register("k-means", reference="Lloyd 1982; Arthur & Vassilvitskii 2007 (start)")
class KMeans(Clusterer):
    """Lloyd's algorithm with restarts."""

    clusters: int = param(3, "how many groups; at most, where separation is given", ge=1, tune=(2, 10))
    separation: float | None = param(
        None, "as many groups as have centres so far apart, in mean distances of rows to them", gt=0, if_given=True
    )
    start: str = param("k-means-plus-plus", "how the first centres are found", choices=tuple(STARTS))
    restarts: int = param(10, "how often it begins anew; the best is kept", ge=1)
    tolerance: float = param(
        1e-4, "stops when the squared moves of all centres sum up to this share of a column's mean variance", ge=0
    )
    changes: int = param(0, "stops when no more rows than these change their group", ge=0)
    max_iterations: int = param(300, "how often centres move at most", ge=1)

    origin_: Array = learned("numbers")
    centres_: Array = learned("groups", "numbers")
    sizes_: Array = learned("groups")
    within_: float = learned()
    steps_: int = learned()
    separations_: Array = learned()
    """By the number of groups from 2 on, the smallest distance of two centres in mean distances to them."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Let the centres settle from every start, and keep the best."""
        data = data.counted()
        if data.table.numbers.shape[1] == 0:
            raise FitError("k-means needs at least one column")
        self.origin_ = np.average(data.table.numbers, axis=0, weights=data.weights)
        cloud = cloud_of(data.table.numbers - self.origin_, data.weights)
        variance = float(cloud.weights @ cloud.lengths / cloud.weights.sum() / cloud.X.shape[1])
        stop = Stop(self.tolerance * variance, self.changes, self.max_iterations)
        place = placing_for(cloud.X.size * self.clusters * self.restarts)

        def settled(clusters: int) -> Optimum:
            starts = (STARTS[self.start](cloud, clusters, rng) for _ in range(self.restarts))
            return _best([Lloyd(cloud, start, place).run(stop) for start in starts], cloud)

        self._keep(settled(self.clusters) if self.separation is None else self._separated(settled, cloud), cloud)

    def _separated(self, settled: Callable[[int], Optimum], cloud: Cloud) -> Optimum:
        """The most groups, up to so many, whose centres lie far enough apart; one where none do."""
        tried = [settled(clusters) for clusters in range(2, self.clusters + 1)]
        self.separations_ = np.array([_separation(one, cloud) for one in tried])
        enough = np.flatnonzero(self.separations_ >= (self.separation or 0.0))
        return tried[enough[-1]] if len(enough) else settled(1)

    def _keep(self, best: Optimum, cloud: Cloud) -> None:
        """Store the centres by size; warn where they still move, or are fewer than asked for."""
        found = nearest_centres(cloud.X, best.centres, cloud.lengths)
        order = largest_first(cloud.X, found.group, len(best.centres), cloud.weights)
        self.centres_ = best.centres[order]
        sizes = np.bincount(found.group, weights=cloud.weights, minlength=len(order))
        self.sizes_ = sizes.astype(np.float64)[order]
        self.within_ = float(cloud.weights @ squared_lengths(cloud.X - best.centres[found.group]))
        self.steps_ = best.steps
        if not best.converged:
            steps = "1 step" if self.max_iterations == 1 else f"{self.max_iterations} steps"
            text = f"the centres still moved after {steps}; more max_iterations may help"
            warnings.warn(text, MlcliWarning, stacklevel=3)
        if len(best.centres) < self.clusters and self.separation is None:
            text = f"fewer rows differ ({len(best.centres)}) than groups were asked for ({self.clusters})"
            warnings.warn(text, MlcliWarning, stacklevel=3)

    def cluster_of(self, table: Table) -> Codes:
        """The nearest centre of each row."""
        X = table.numbers - self.origin_
        return nearest_centres(X, self.centres_, squared_lengths(X)).group

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How far one row is from each centre."""
        apart = np.sqrt(squared_differences(table.numbers - self.origin_, self.centres_))[0]
        rows = tuple(zip(self.group_names(), apart.tolist(), strict=True))
        note = "in the columns as it sees them; the row is in the group of the nearest"
        return (findings.Table("Distances to the centres", ("group", "distance"), rows, note=note),)

    def groups(self) -> int:
        """As many as there are centres."""
        return len(self.centres_)

    def check_learned(self) -> None:
        """One centre at least."""
        if not len(self.centres_):
            raise ValueError("no centre")

    def explain(self) -> findings.Explanation:
        """How tight the groups are, and after how many steps of the best restart."""
        total = self.within_ + float(self.sizes_ @ squared_lengths(self.centres_))
        share = self.within_ / total if total > 0 else 0.0
        lines = (
            f"sum of squared distances to the centres (WCSS): {self.within_:.6g}, in the columns as it sees them",
            f"{100 * share:.1f} % of that to the mean of all rows",
            f"best of {self.restarts} restarts, converged after {self.steps_} step{'s' * (self.steps_ != 1)}",
        )
        found = findings.Lines(f"{len(self.centres_)} groups round their centres", lines=lines)
        return (found,) if self.separations_ is None else (found, self._tried())

    def _tried(self) -> findings.Table:
        """How far apart the centres of each number of groups lie."""
        rows = tuple(enumerate(self.separations_.tolist(), 2))
        what = "the smallest distance of two centres, in mean distances of rows to theirs"
        note = f"{what}; wanted: {self.separation:g}"
        return findings.Table("Separation by the number of groups", ("groups", "separation"), rows, note=note)


def _separation(found: Optimum, cloud: Cloud) -> float:
    """The smallest distance of two centres, in mean distances of rows to theirs."""
    if len(found.centres) < 2:
        return 0.0
    apart = np.sqrt(squared_differences(found.centres, found.centres))
    np.fill_diagonal(apart, np.inf)
    near = nearest_centres(cloud.X, found.centres, cloud.lengths)
    away = np.sqrt(squared_lengths(cloud.X - found.centres[near.group]))
    mean = float(np.average(away, weights=cloud.weights))
    return float(apart.min()) / mean if mean > 0 else float(np.finfo(np.float64).max)


def _best(runs: list[Optimum], cloud: Cloud) -> Optimum:
    """The first that no other is better than."""
    best, tie = runs[0], BETTER * float(cloud.weights @ cloud.lengths)
    for run in runs[1:]:
        if run.within < best.within - tie:
            best = run
    return best
