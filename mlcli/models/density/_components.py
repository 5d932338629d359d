"""Densities of columns, tables of their components, and mixtures of Gaussians."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import Generative
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.params import learned
from mlcli.core.tables import Array, Flags, Rows, Table
from mlcli.engines.covariances import LOG_TAU, CovarianceType, drawn
from mlcli.engines.posteriors import log_sum, logarithm
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows

SET_BY_FLOOR = (
    "columns follow from each other in the training rows, or outnumber them, and 'floor' sets how dense such rows "
    "are; leave columns out, or try covariance: diagonal"
)
"""What is to be known of a covariance that lies on the floor."""


@dataclass(kw_only=True, eq=False)
class DensityOfVaryingColumns(DensityEstimator, Generative):
    """A density of the columns that vary: one of a single value would have an infinite density."""

    varies_: Rows = learned("varying")
    constants_: Array = learned("columns")
    """A number for each column, which those have that do not vary."""

    def learn_columns(self, data: UnlabelledRows) -> tuple[Array, Array, Array]:
        """The columns that vary, their means and standard deviations; others are left out, with a warning."""
        columns = data.table.number_columns
        if not columns:
            raise FitError("there is no column to describe")
        found = moments(data.table.numbers, data.weights)
        varies = found.variance > 0
        if not varies.any():
            raise FitError("the training rows are all equal: a density needs rows that differ")
        if not varies.all():
            constant = [column.name for column, there in zip(columns, varies, strict=True) if not there]
            text = f"columns with one value in all training rows are left out of the density: {listed(constant)}"
            warnings.warn(text, MlcliWarning, stacklevel=3)
        self.varies_, self.constants_ = np.flatnonzero(varies), data.table.numbers.min(axis=0)
        return self.varying(data.table), found.mean[varies], np.sqrt(found.variance[varies])

    def varying(self, table: Table) -> Array:
        """The numbers that the density describes."""
        return table.numbers if len(self.varies_) == table.numbers.shape[1] else table.numbers[:, self.varies_]

    def varying_names(self) -> tuple[str, ...]:
        """The columns that it describes."""
        return tuple(self.columns_[vary].name for vary in self.varies_)

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """So many rows of the columns that vary."""
        raise TypeError(f"{type(self).__name__} does not say how rows are drawn")

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Rows of the distribution."""
        numbers = np.tile(self.constants_, (n, 1))
        numbers[:, self.varies_] = self.drawn(n, rng)
        return Table.of(zip(self.columns_, numbers.T, strict=True), n)

    def check_learned(self) -> None:
        """Columns that are there, each once and in order."""
        varies, columns = self.varies_, len(self.columns_)
        if varies.ndim != 1 or not np.isin(varies, np.arange(columns)).all() or (np.diff(varies) <= 0).any():
            raise ValueError("a density of columns that are not there")


@dataclass(kw_only=True, eq=False)
class DensityOfComponents(DensityOfVaryingColumns):
    """A mixture of Gaussians, or one."""

    def mixture(self) -> MixtureOfGaussians:
        """What was learned."""
        raise TypeError(f"{type(self).__name__} does not say what was learned")

    def log_density(self, table: Table) -> Array:
        """The logarithm of the density at each row."""
        return self.mixture().log_density(self.varying(table))

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """So many rows of the mixture."""
        return self.mixture().drawn(n, rng)

    def check_learned(self) -> None:
        """Parts that fit each other."""
        super().check_learned()
        mixture, columns = self.mixture(), len(self.varies_)
        count = len(np.atleast_1d(mixture.shares))
        wanted = ((count,), (count, columns), (count, *mixture.kind.shape(columns)))
        if tuple(map(np.shape, (mixture.shares, mixture.means, mixture.covariances))) != wanted:
            raise ValueError("a mixture whose parts do not fit its columns")
        if not (mixture.shares >= 0).all():
            raise ValueError("a mixture with shares below 0")

    def component_tables(self) -> findings.Explanation:
        """Shares with means, then standard deviations and, where columns vary together, their correlations."""
        mixture, names = self.mixture(), self.varying_names()
        deviations = np.array([mixture.kind.deviations(covariance) for covariance in mixture.covariances])
        parts = zip(mixture.shares.tolist(), mixture.means.tolist(), strict=True)
        centres = tuple((str(k), share, *mean) for k, (share, mean) in enumerate(parts))
        widths = tuple((str(k), *each) for k, each in enumerate(deviations.tolist()))
        return (
            findings.Table("Components: share of the rows, and means", ("component", "share", *names), centres),
            findings.Table("Components: standard deviations", ("component", *names), widths),
            *_correlations(mixture, deviations, names),
        )


def _correlations(mixture: MixtureOfGaussians, deviations: Array, names: Sequence[str]) -> findings.Explanation:
    """For each component the pair of columns that vary together most."""
    if mixture.covariances.ndim < 3 or len(names) < 2:
        return ()
    rows = []
    for k, (covariance, deviation) in enumerate(zip(mixture.covariances, deviations, strict=True)):
        correlation = np.triu(covariance / np.outer(deviation, deviation), 1)
        first, second = np.unravel_index(np.abs(correlation).argmax(), correlation.shape)
        rows.append((str(k), names[first], names[second], float(correlation[first, second])))
    header = ("component", "column", "and column", "correlation")
    return (findings.Table("Components: columns that vary together most", header, tuple(rows)),)


# Mixtures of Gaussians by expectation-maximisation (Dempster, Laird & Rubin 1977).
#
# Rows are processed in blocks that stay in the cache, once per round. The deviations of a block from the means
# give the densities of its rows and, weighted by the responsibilities, the sums for the next mixture. Sums are
# taken around the old means and then moved to the new ones, which are near, so that no digits are lost.

BLOCK_CELLS = 1 << 16
NEGLIGIBLE = 1e-10
"""A component with less than this share of the rows keeps its place: its mean would be a ratio of roundings."""


@dataclass(frozen=True, eq=False)
class MixtureOfGaussians:
    """The share, mean and covariance of each component."""

    kind: CovarianceType
    shares: Array
    means: Array
    covariances: Array

    def log_joint(self, X: Array) -> Array:
        """The logarithm of π_k N(x | μ_k, Σ_k), by component and row (K × n)."""
        joint = np.empty((len(self.shares), len(X)))
        whiteners, constants = self.whiteners()
        for block in _blocks(X):
            for k, whitener in enumerate(whiteners):
                lengths = self.kind.squared_lengths(X[block] - self.means[k], whitener)
                joint[k, block] = constants[k] - 0.5 * lengths
        return joint

    def log_density(self, X: Array) -> Array:
        """The logarithm of Σ_k π_k N(x | μ_k, Σ_k) at each row."""
        return log_sum(self.log_joint(X))

    def responsibilities(self, X: Array) -> Array:
        """The share of each component in the density at each row (n × K), equation (93) of the notes."""
        joint = self.log_joint(X)
        return np.asarray(np.exp(joint - log_sum(joint)).T)

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """So many rows of the mixture."""
        roots = [self.kind.root(whitener) for whitener in self.whiteners()[0]]
        return drawn(n, self.shares, self.means, roots, rng)[1]

    def whiteners(self) -> tuple[list[Array], Array]:
        """What makes the deviations of each component round, and the logarithm of its density at its mean."""
        results = [self.kind.whitener(covariance) for covariance in self.covariances]
        heights = np.array([height for _, height in results])
        return [whitener for whitener, _ in results], logarithm(self.shares) + heights - 0.5 * self.means.shape[
            1
        ] * LOG_TAU


@dataclass(eq=False)
class ComponentSums:
    """What one walk over the rows gives for the next mixture."""

    log_likelihood: float
    weight: Array
    """Of each component."""
    shift: Array
    """Summed deviations from the old means."""
    scatter: Array
    """Summed squares of these deviations."""


def e_step(X: Array, weights: Array, mixture: MixtureOfGaussians) -> ComponentSums:
    """E-step: the log-likelihood, and sums weighted by the responsibilities."""
    whiteners, constants = mixture.whiteners()
    kind, k_all = mixture.kind, range(len(whiteners))
    sums = ComponentSums(
        0.0, np.zeros(len(k_all)), np.zeros_like(mixture.means), np.zeros_like(mixture.covariances)
    )
    for block in _blocks(X):
        rows, counts = X[block], weights[block]
        deviations = [rows - mixture.means[k] for k in k_all]
        joint = np.empty((len(k_all), len(rows)))
        for k in k_all:
            joint[k] = constants[k] - 0.5 * kind.squared_lengths(deviations[k], whiteners[k])
        densities = log_sum(joint)
        shared = np.exp(joint - densities) * counts
        sums.log_likelihood += float(counts @ densities)
        sums.weight += shared.sum(axis=1)
        for k in k_all:
            sums.shift[k] += shared[k] @ deviations[k]
            sums.scatter[k] += kind.scatter(deviations[k], shared[k])
    return sums


def m_step(sums: ComponentSums, mixture: MixtureOfGaussians, floor: Array) -> MixtureOfGaussians:
    """M-step: the likeliest mixture for these responsibilities, equations (112) to (114) of the notes."""
    total = sums.weight.sum()
    means, covariances = mixture.means.copy(), mixture.covariances.copy()
    for k in np.flatnonzero(sums.weight > NEGLIGIBLE * total):
        shift = sums.shift[k] / sums.weight[k]
        means[k] += shift
        scatter = sums.scatter[k] / sums.weight[k] - mixture.kind.square(shift)
        covariances[k] = mixture.kind.likeliest(scatter, floor)
    return MixtureOfGaussians(mixture.kind, sums.weight / total, means, covariances)


def mixture_of_clusters(
    X: Array, weights: Array, member: Flags, kind: CovarianceType, floor: Array
) -> MixtureOfGaussians:
    """The mixture of clusters of rows: ``member`` (n × K) says which rows belong to which."""
    counted = member * weights[:, None]
    totals = counted.sum(axis=0)
    means = (counted.T @ X) / totals[:, None]
    scatters = (kind.scatter(X - mean, mine) / mine.sum() for mean, mine in zip(means, counted.T, strict=True))
    covariances = np.array([kind.likeliest(scatter, floor) for scatter in scatters])
    return MixtureOfGaussians(kind, totals / totals.sum(), means, covariances)


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """Where EM has ended, and the log-likelihood of every mixture on the way."""

    mixture: MixtureOfGaussians
    log_likelihoods: tuple[float, ...]
    converged: bool
    """Whether it ended because nothing was gained any more."""
    on_floor: bool
    """Whether a component lies on the floor, which then makes its likelihood."""

    def merit(self) -> tuple[bool, float]:
        """What the best of several starts has most of."""
        return not self.on_floor, self.log_likelihoods[-1]


@dataclass(frozen=True, eq=False)
class StopRule:
    """When EM ends."""

    criterion: str
    tolerance: float
    rounds: int
    unit: Array
    """The standard deviation of each column over all rows."""

    def is_met(self, before: MixtureOfGaussians, after: MixtureOfGaussians, gain: float) -> bool:
        """Whether the last round, with its gain in log-likelihood per row, has changed too little."""
        return CRITERIA[self.criterion](before, after, gain, self.unit) < self.tolerance


def _largest_change(before: MixtureOfGaussians, after: MixtureOfGaussians, gain: float, unit: Array) -> float:
    """Of a share, or of a mean or deviation in standard deviations of its column."""
    spread = [np.array([mix.kind.deviations(each) for each in mix.covariances]) for mix in (before, after)]
    changes = ((after.means - before.means) / unit, (spread[1] - spread[0]) / unit, after.shares - before.shares)
    return max(float(np.abs(change).max()) for change in changes)


CRITERIA: dict[str, Callable[[MixtureOfGaussians, MixtureOfGaussians, float, Array], float]] = {
    "log-likelihood": lambda before, after, gain, unit: gain,
    "parameters": _largest_change,
}
"""What must become smaller than the tolerance."""


def maximise_likelihood(
    X: Array, weights: Array, start: MixtureOfGaussians, floor: Array, rule: StopRule
) -> FittedMixture:
    """From a start to where nothing is gained, or to the last round that is allowed."""
    total, mixture, converged = weights.sum(), start, False
    sums = e_step(X, weights, mixture)
    path = [sums.log_likelihood]
    for _ in range(rule.rounds):
        before, mixture = mixture, m_step(sums, mixture, floor)
        sums = e_step(X, weights, mixture)
        path.append(sums.log_likelihood)
        converged = rule.is_met(before, mixture, (path[-1] - path[-2]) / total)
        if converged:
            break
    on_floor = any(mixture.kind.lies_on(floor, covariance) for covariance in mixture.covariances)
    return FittedMixture(mixture, tuple(path), converged, on_floor)


def _blocks(X: Array) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    return (slice(start, start + step) for start in range(0, len(X), step))
