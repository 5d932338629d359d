"""A mixture of Gaussians, and one round of expectation and maximisation over it.

Rows are walked in blocks that stay in the cache, once per round: the deviations of a block from the means serve
the density of its rows and, weighted by the responsibilities, the sums that the next mixture is made from. These
are taken around the old means and moved to the new ones, which are near, so no digits are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags
from mlcli.models.density._forms import Form

BLOCK_CELLS = 1 << 16
LOG_TAU = float(np.log(2 * np.pi))
NEGLIGIBLE = 1e-10
"""A component with less than this share of the rows keeps its place: its mean would be a ratio of roundings."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """The share, mean and covariance of each component."""

    form: Form
    shares: Array
    means: Array
    covariances: Array

    def log_joint(self, X: Array) -> Array:
        """The logarithm of π_k N(x | μ_k, Σ_k), by component and row (K × n)."""
        joint = np.empty((len(self.shares), len(X)))
        whiteners, constants = self.whiteners()
        for block in _blocks(X):
            for k, whitener in enumerate(whiteners):
                lengths = self.form.squared_lengths(X[block] - self.means[k], whitener)
                joint[k, block] = constants[k] - 0.5 * lengths
        return joint

    def log_density(self, X: Array) -> Array:
        """The logarithm of Σ_k π_k N(x | μ_k, Σ_k) at each row."""
        return log_sum(self.log_joint(X))

    def responsibilities(self, X: Array) -> Array:
        """The share of each component in the density at each row (n × K), equation (93) of the notes."""
        joint = self.log_joint(X)
        return np.asarray(np.exp(joint - log_sum(joint)).T)

    def whiteners(self) -> tuple[list[Array], Array]:
        """What makes the deviations of each component round, and the logarithm of its density at its mean."""
        found = [self.form.whitener(covariance) for covariance in self.covariances]
        with np.errstate(divide="ignore"):  # a share of 0 adds nothing
            shares = np.log(self.shares)
        heights = np.array([height for _, height in found])
        return [whitener for whitener, _ in found], shares + heights - 0.5 * self.means.shape[1] * LOG_TAU


@dataclass(eq=False)
class Sums:
    """What one walk over the rows gives for the next mixture."""

    log_likelihood: float
    weight: Array
    """Of each component."""
    shift: Array
    """Summed deviations from the old means."""
    scatter: Array
    """Summed squares of these deviations."""


def expected(X: Array, weights: Array, mixture: Mixture) -> Sums:
    """E-step: the log-likelihood, and sums weighted by the responsibilities."""
    whiteners, constants = mixture.whiteners()
    form, k_all = mixture.form, range(len(whiteners))
    sums = Sums(0.0, np.zeros(len(k_all)), np.zeros_like(mixture.means), np.zeros_like(mixture.covariances))
    for block in _blocks(X):
        rows, counts = X[block], weights[block]
        deviations = [rows - mixture.means[k] for k in k_all]
        joint = np.empty((len(k_all), len(rows)))
        for k in k_all:
            joint[k] = constants[k] - 0.5 * form.squared_lengths(deviations[k], whiteners[k])
        densities = log_sum(joint)
        shared = np.exp(joint - densities) * counts
        sums.log_likelihood += float(counts @ densities)
        sums.weight += shared.sum(axis=1)
        for k in k_all:
            sums.shift[k] += shared[k] @ deviations[k]
            sums.scatter[k] += form.scatter(deviations[k], shared[k])
    return sums


def maximised(sums: Sums, mixture: Mixture, floor: Array) -> Mixture:
    """M-step: the likeliest mixture for these responsibilities, equations (112) to (114) of the notes."""
    total = sums.weight.sum()
    means, covariances = mixture.means.copy(), mixture.covariances.copy()
    for k in np.flatnonzero(sums.weight > NEGLIGIBLE * total):
        shift = sums.shift[k] / sums.weight[k]
        means[k] += shift
        scatter = sums.scatter[k] / sums.weight[k] - mixture.form.square(shift)
        covariances[k] = mixture.form.likeliest(scatter, floor)
    return Mixture(mixture.form, sums.weight / total, means, covariances)


def from_groups(X: Array, weights: Array, member: Flags, form: Form, floor: Array) -> Mixture:
    """The mixture of groups of rows: ``member`` (n × K) says which rows belong to which."""
    counted = member * weights[:, None]
    totals = counted.sum(axis=0)
    means = (counted.T @ X) / totals[:, None]
    scatters = (form.scatter(X - mean, mine) / mine.sum() for mean, mine in zip(means, counted.T, strict=True))
    covariances = np.array([form.likeliest(scatter, floor) for scatter in scatters])
    return Mixture(form, totals / totals.sum(), means, covariances)


def log_sum(joint: Array) -> Array:
    """The logarithm of the summed exponentials of each column (K × n), by its largest term."""
    largest = joint.max(axis=0)
    return np.asarray(largest + np.log(np.exp(joint - largest).sum(axis=0)))


def _blocks(X: Array) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    return (slice(start, start + step) for start in range(0, len(X), step))
