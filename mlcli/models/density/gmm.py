"""Gaussian mixture: describes rows as drawn from several Gaussians, each with its share, mean and covariance.

Formula:
    p(x) = Σ_k π_k N(x | μ_k, Σ_k), fitted by expectation-maximisation:
    E-step (responsibilities) r_ik = π_k N(x_i | μ_k, Σ_k) / Σ_j π_j N(x_i | μ_j, Σ_j);
    M-step N_k = Σ_i w_i r_ik, π_k = N_k / W, μ_k = Σ_i w_i r_ik x_i / N_k,
    Σ_k = Σ_i w_i r_ik (x_i − μ_k)(x_i − μ_k)ᵀ / N_k, W being the summed weight.
    As a clustering it puts each row into the component that is most responsible for it.

Assumes:
    As many kinds of rows as `components`, each a Gaussian. With `diagonal` columns vary independently within a
    component, with `spherical` also by the same amount. The likelihood has many local maxima: EM runs from
    `restarts` starts, and the best end counts.

Cost:
    restarts × rounds × rows × components × columns² (columns, unless the covariance is full).

Choices:
    Each start assigns every row to the nearest of some rows, drawn as k-means draws its first centres: far
    apart, or at random; the draw follows from the content of rows, so their order does not matter. EM ends when
    the gain of a round in log-likelihood per row (`stop: log-likelihood`), or every change of a share, mean or
    deviation (`parameters`), is below `tolerance`. No direction of a component has a variance below `floor`
    times the variance of the columns over all rows: a component on a single row would have an infinite density.
    This is a limit within which each M-step is the likeliest, not an addition to the covariances as elsewhere,
    so the log-likelihood never falls; components that are wider than the floor are those of plain EM. A start
    that ends on the floor (say, on rows whose cells were rounded to the same value) counts only if all do,
    however likely it looks. Components are numbered from the largest share down. A column with one value in all
    training rows is left out, with a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Flags, Table, blocks_of
from mlcli.engines.centres import STARTS, centred_rows, nearest_centres, squared_lengths
from mlcli.engines.covariances import COVARIANCE_TYPES, CovarianceType
from mlcli.engines.posteriors import log_sum
from mlcli.models.density._components import BLOCK_CELLS, SET_BY_FLOOR, DensityOfComponents, MixtureOfGaussians
from mlcli.tasks.clustering import Clusterer
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows


@register(
    "gmm",
    reference="Dempster, Laird & Rubin 1977; Bishop 2006, Pattern Recognition and Machine Learning, 9.2",
    revision=2,
)
class GaussianMixture(DensityOfComponents, DensityEstimator, Clusterer):
    """Several Gaussians, found by expectation-maximisation."""

    components: int = param(3, "number of Gaussians", ge=1, tune=(1, 10))
    covariance: str = param("full", "how columns vary together within a component", choices=COVARIANCE_TYPES)
    start: str = param(
        "k-means-plus-plus",
        "which rows the first components lie around",
        choices=("k-means-plus-plus", "random-points"),
    )
    restarts: int = param(5, "number of starts of EM; the best end is kept", ge=1)
    stop: str = param(
        "log-likelihood",
        "quantity whose change must be below the tolerance",
        choices=("log-likelihood", "parameters"),
    )
    tolerance: float = param(1e-6, "EM ends after a round that changes less", ge=0)
    max_iterations: int = param(500, "maximum number of rounds from each start", ge=1)
    floor: float = param(1e-6, "smallest variance in any direction, as a share of the column's", ge=0, lt=1)

    shares_: Array = learned()
    means_: Array = learned()
    covariances_: Array = learned()
    log_likelihoods_: Array = learned()
    """The log-likelihood of the best start, and after each round from there."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Run EM from every start, and keep the best mixture."""
        data = data.counted()
        X, mean, deviation = self.learn_columns(data)
        weights = data.weights
        floor, kind = self.floor * deviation**2, COVARIANCE_TYPES[self.covariance]
        Z = (X - mean) / deviation
        cloud = centred_rows(Z, weights)
        ends = []
        for _ in range(self.restarts):
            centres = STARTS[self.start](cloud, self.components, rng)
            if len(centres) < self.components:
                message = f"{self.components} components need as many different rows, and there are {len(centres)}"
                raise FitError(message, hint="fewer components")
            cluster = nearest_centres(Z, centres, squared_lengths(Z)).cluster
            member = np.asarray(cluster[:, None] == np.arange(self.components))
            start = mixture_of_clusters(X, weights, member, kind, floor)
            stop = (self.stop, self.tolerance, self.max_iterations)
            ends.append(maximise_likelihood(X, weights, start, floor, deviation, *stop))
        # A mixture on the floor counts only if all are there, however likely it looks.
        best = max(ends, key=lambda end: (not end.on_floor, end.log_likelihoods[-1]))
        if not best.converged:
            message = f"EM has not converged after {self.max_iterations} iterations; raise max_iterations"
            warnings.warn(message, MlcliWarning, stacklevel=3)
        mixture = best.mixture
        # Shares that agree to 9 decimals are equal, so that rounding does not number components anew.
        order = np.argsort(-np.round(mixture.shares, 9), kind="stable")
        self.shares_, self.means_ = mixture.shares[order], mixture.means[order]
        self.covariances_ = mixture.covariances[order]
        self.log_likelihoods_ = np.array(best.log_likelihoods)
        if best.on_floor:
            overall = kind.scatter(X - mean, weights) / weights.sum()
            message = (
                "a component has shrunk onto rows that are equal in some direction, and 'floor' sets how dense it "
                "is; fewer components, or covariance: diagonal, may help"
            )
            warnings.warn(SET_BY_FLOOR if kind.lies_on(floor, overall) else message, MlcliWarning, stacklevel=2)

    def free_parameters(self) -> int:
        """All shares but one, means and covariances."""
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
        """The mixture that was learned."""
        return MixtureOfGaussians(COVARIANCE_TYPES[self.covariance], self.shares_, self.means_, self.covariances_)

    def explain(self) -> findings.Explanation:
        """The components, and how they were found."""
        starts = f"the best of {self.restarts} starts" if self.restarts > 1 else "one start"
        rounds = len(self.log_likelihoods_) - 1
        ended = "stopped" if rounds >= self.max_iterations else "converged"
        text = f"{starts} ({self.start}); EM {ended} after {rounds} iterations"
        path = tuple(self.log_likelihoods_.tolist())
        title, points = "Log-likelihood by iterations of EM", tuple(map(float, range(len(path))))
        return (
            *self.component_tables(),
            findings.Lines("Expectation-maximisation", (f"{text}; {self.free_parameters()} parameters",)),
            findings.Curve(title, "iteration", points, (("all rows", path),)),
        )


# Expectation-maximisation (Dempster, Laird & Rubin 1977).


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """Where EM has ended, and the log-likelihood of every mixture on the way."""

    mixture: MixtureOfGaussians
    log_likelihoods: tuple[float, ...]
    converged: bool
    """Whether it ended because nothing was gained any more."""
    on_floor: bool
    """Whether a component lies on the floor, which then makes its likelihood."""


@dataclass(eq=False)
class ComponentSums:
    """The sums over rows from which the next mixture follows, by component."""

    log_likelihood: float
    weight: Array
    shift: Array
    """Summed deviations from the old means."""
    scatter: Array
    """Summed squares of these deviations."""


def mixture_of_clusters(
    X: Array, weights: Array, member: Flags, kind: CovarianceType, floor: Array
) -> MixtureOfGaussians:
    """The mixture of clusters of rows: ``member`` (n × K) says which rows belong to which."""
    counted = member * weights[:, None]
    totals = counted.sum(axis=0)
    means = (counted.T @ X) / totals[:, None]
    scatters = (kind.scatter(X - mean, own) / own.sum() for mean, own in zip(means, counted.T, strict=True))
    covariances = np.array([kind.likeliest(scatter, floor) for scatter in scatters])
    return MixtureOfGaussians(kind, totals / totals.sum(), means, covariances)


def maximise_likelihood(
    X: Array,
    weights: Array,
    start: MixtureOfGaussians,
    floor: Array,
    unit: Array,
    stop: str,
    tolerance: float,
    rounds: int,
) -> FittedMixture:
    """Alternate E-steps and M-steps until a round changes less than the tolerance.

    ``stop`` is what must be below it: the gain in log-likelihood per row, or the largest change of ``parameters``,
    where means and deviations are in units of the standard deviations of columns (``unit``).
    """
    total, mixture, converged = weights.sum(), start, False
    sums = e_step(X, weights, mixture)
    path = [sums.log_likelihood]
    for _ in range(rounds):
        before, mixture = mixture, m_step(sums, mixture, floor)
        sums = e_step(X, weights, mixture)
        path.append(sums.log_likelihood)
        if stop == "log-likelihood":
            change = (path[-1] - path[-2]) / total
        else:
            mixtures = (before, mixture)
            old, new = (np.array([mix.kind.deviations(each) for each in mix.covariances]) for mix in mixtures)
            changes = ((mixture.means - before.means) / unit, (new - old) / unit, mixture.shares - before.shares)
            change = max(float(np.abs(values).max()) for values in changes)
        converged = bool(change < tolerance)
        if converged:
            break
    on_floor = any(mixture.kind.lies_on(floor, covariance) for covariance in mixture.covariances)
    return FittedMixture(mixture, tuple(path), converged, on_floor)


def e_step(X: Array, weights: Array, mixture: MixtureOfGaussians) -> ComponentSums:
    """E-step: the log-likelihood, and sums weighted by the responsibilities.

    Sums are taken around the old means, which are near the new ones, so that no digits are lost.
    """
    whiteners, constants = mixture.whiteners()
    kind, components = mixture.kind, range(len(whiteners))
    sums = ComponentSums(
        0.0, np.zeros(len(whiteners)), np.zeros_like(mixture.means), np.zeros_like(mixture.covariances)
    )
    for block in blocks_of(len(X), X.shape[1], BLOCK_CELLS):
        rows, counts = X[block], weights[block]
        deviations = [rows - mixture.means[k] for k in components]
        joint = np.empty((len(whiteners), len(rows)))
        for k in components:
            joint[k] = constants[k] - 0.5 * kind.squared_lengths(deviations[k], whiteners[k])
        densities = log_sum(joint)
        shared = np.exp(joint - densities) * counts
        sums.log_likelihood += float(counts @ densities)
        sums.weight += shared.sum(axis=1)
        for k in components:
            sums.shift[k] += shared[k] @ deviations[k]
            sums.scatter[k] += kind.scatter(deviations[k], shared[k])
    return sums


def m_step(sums: ComponentSums, mixture: MixtureOfGaussians, floor: Array) -> MixtureOfGaussians:
    """M-step: the likeliest mixture for these responsibilities, equations (112) to (114) of the notes.

    A component with a negligible share keeps its place: its mean would be a ratio of roundings.
    """
    total = sums.weight.sum()
    means, covariances = mixture.means.copy(), mixture.covariances.copy()
    for k in np.flatnonzero(sums.weight > 1e-10 * total):
        shift = sums.shift[k] / sums.weight[k]
        means[k] += shift
        scatter = sums.scatter[k] / sums.weight[k] - mixture.kind.square(shift)
        covariances[k] = mixture.kind.likeliest(scatter, floor)
    return MixtureOfGaussians(mixture.kind, sums.weight / total, means, covariances)
