"""Gaussian mixture: describes rows as drawn from several Gaussians, each with its share, mean and covariance.

Formula:
    p(x) = Σ_k π_k N(x | μ_k, Σ_k), fitted by expectation-maximisation:
    E-step (responsibilities) r_ik = π_k N(x_i | μ_k, Σ_k) / Σ_j π_j N(x_i | μ_j, Σ_j);
    M-step N_k = Σ_i w_i r_ik, π_k = N_k / W, μ_k = Σ_i w_i r_ik x_i / N_k,
    Σ_k = Σ_i w_i r_ik (x_i − μ_k)(x_i − μ_k)ᵀ / N_k, W being the summed weight.
    As a clustering it puts each row into the component that is most responsible for it.

Assumes:
    As many kinds of rows as `components`, each a Gaussian. `diagonal` has columns vary independently within a
    component, `spherical` alike as well. The likelihood has many peaks: EM begins at `restarts` starts, and the
    best end counts.

Cost:
    restarts × rounds × rows × components × columns² (columns, unless the covariance is full).

Choices:
    Each start puts every row to the nearest of some rows, drawn as k-means draws its first centres: far apart, or
    at random; either way by what stands in the rows, so their order does not matter. EM ends when the gain of a
    round in log-likelihood per row (`stop: log-likelihood`), or its every change of a share, mean or deviation
    (`parameters`), is below `tolerance`. No direction of a component has a variance below `floor` times the
    variance of the columns over all rows: a component that sits on one row would have an infinite density. This
    is a limit within which each M-step is the likeliest, not an addition to the covariances as elsewhere, so the
    log-likelihood never falls; components that are wider than the floor are those of plain EM. A start that ends
    on the floor (say, on rows whose cells were rounded to the same value) counts only where all do, however
    likely it looks. Components are numbered from the largest share down. A column with one value in all training
    rows is left out, with a warning.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.centres import STARTS as CENTRES
from mlcli.engines.centres import CentredRows, centred_rows, nearest_centres, squared_lengths
from mlcli.engines.covariances import COVARIANCE_TYPES
from mlcli.models.density._components import (
    CRITERIA,
    SET_BY_FLOOR,
    DensityOfComponents,
    FittedMixture,
    MixtureOfGaussians,
    StopRule,
    maximise_likelihood,
    mixture_of_clusters,
)
from mlcli.tasks.clustering import Clusterer
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows

STARTS = {name: CENTRES[name] for name in ("k-means-plus-plus", "random-points")}
"""Those whose centres are rows: each of these has itself in its component."""

COLLAPSED = (
    "a component has shrunk onto rows that are equal in some direction, and 'floor' sets how dense it is; "
    "fewer components, or covariance: diagonal, may help"
)


@register(
    "gmm",
    reference="Dempster, Laird & Rubin 1977; Bishop 2006, Pattern Recognition and Machine Learning, 9.2",
    revision=2,
)
class GaussianMixture(DensityOfComponents, DensityEstimator, Clusterer):
    """Several Gaussians, found by expectation-maximisation."""

    components: int = param(3, "how many Gaussians", ge=1, tune=(1, 10))
    covariance: str = param("full", "how columns vary together within a component", choices=COVARIANCE_TYPES)
    start: str = param("k-means-plus-plus", "which rows the first components lie around", choices=STARTS)
    restarts: int = param(5, "at how many starts EM begins; the best end counts", ge=1)
    stop: str = param("log-likelihood", "what must become smaller than the tolerance", choices=CRITERIA)
    tolerance: float = param(1e-6, "a round that changes less than this is the last", ge=0)
    max_iterations: int = param(500, "most rounds from one start", ge=1)
    floor: float = param(1e-6, "smallest variance in any direction, as a share of the column's", ge=0, lt=1)

    shares_: Array = learned()
    means_: Array = learned()
    covariances_: Array = learned()
    log_likelihoods_: Array = learned()
    """Of the mixture that the best start made, and of that of each round after it."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Run EM from every start, and keep the best mixture."""
        data = data.counted()
        X, mean, deviation = self.learn_columns(data)
        weights = data.weights
        floor, kind = self.floor * deviation**2, COVARIANCE_TYPES[self.covariance]
        rule = StopRule(self.stop, self.tolerance, self.max_iterations, deviation)
        Z = (X - mean) / deviation
        cloud = centred_rows(Z, weights)
        members = (self._nearest_starts(Z, cloud, rng) for _ in range(self.restarts))
        starts = (mixture_of_clusters(X, weights, member, kind, floor) for member in members)
        best = max(
            (maximise_likelihood(X, weights, start, floor, rule) for start in starts), key=FittedMixture.merit
        )
        if not best.converged:
            what = f"EM has not converged after {self.max_iterations} iterations; raise max_iterations"
            warnings.warn(what, MlcliWarning, stacklevel=3)
        found = best.mixture
        # shares that agree to so many decimals are equal, so that rounding does not number components anew
        order = np.argsort(-np.round(found.shares, 9), kind="stable")
        self.shares_, self.means_, self.covariances_ = (
            part[order] for part in (found.shares, found.means, found.covariances)
        )
        self.log_likelihoods_ = np.array(best.log_likelihoods)
        if best.on_floor:
            whole = kind.scatter(X - mean, weights) / weights.sum()
            warnings.warn(SET_BY_FLOOR if kind.lies_on(floor, whole) else COLLAPSED, MlcliWarning, stacklevel=2)

    def _nearest_starts(self, Z: Array, cloud: CentredRows, rng: np.random.Generator) -> Flags:
        """Which rows (n × components) are nearest to which of the centres that k-means would begin with."""
        centres = STARTS[self.start](cloud, self.components, rng)
        if len(centres) < self.components:
            what = f"{self.components} components need as many different rows, and there are {len(centres)}"
            raise FitError(what, hint="fewer components")
        cluster = nearest_centres(Z, centres, squared_lengths(Z)).cluster
        return np.asarray(cluster[:, None] == np.arange(self.components))

    def free_parameters(self) -> int:
        """Shares but for one, means and covariances."""
        count, columns = len(self.means_), len(self.means_[0])
        return count - 1 + count * (columns + COVARIANCE_TYPES[self.covariance].free_parameters(columns))

    def cluster_of(self, table: Table) -> Codes:
        """The most responsible component."""
        return np.asarray(self.mixture().log_joint(self.varying(table)).argmax(axis=0), np.int32)

    def responsibilities(self, table: Table) -> Array:
        """The share of each component in the density of a row."""
        return self.mixture().responsibilities(self.varying(table))

    def cluster_count(self) -> int:
        """One for each component."""
        return len(self.shares_)

    def mixture(self) -> MixtureOfGaussians:
        """What was learned."""
        return MixtureOfGaussians(COVARIANCE_TYPES[self.covariance], self.shares_, self.means_, self.covariances_)

    def explain(self) -> findings.Explanation:
        """The components, and how they were found."""
        starts = f"the best of {self.restarts} starts" if self.restarts > 1 else "one start"
        rounds = len(self.log_likelihoods_) - 1
        ended = "stopped" if rounds >= self.max_iterations else "converged"
        text = (
            f"{starts} ({self.start}); EM {ended} after {rounds} iterations; {self.free_parameters()} parameters"
        )
        path = tuple(self.log_likelihoods_.tolist())
        return (
            *self.component_tables(),
            findings.Lines("Expectation-maximisation", (text,)),
            findings.Curve(
                "Log-likelihood by iterations of EM",
                "iteration",
                tuple(map(float, range(len(path)))),
                (("all rows", path),),
            ),
        )
