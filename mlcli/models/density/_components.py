"""Densities of the columns that vary, and mixtures of Gaussians with the tables of their components."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import Generative
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.params import learned
from mlcli.core.tables import Array, Rows, Table, blocks_of
from mlcli.engines.covariances import LOG_TAU, CovarianceType, drawn
from mlcli.engines.posteriors import log_sum, logarithm
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows

SET_BY_FLOOR = (
    "columns follow from each other in the training rows, or outnumber them, and 'floor' sets how dense such rows "
    "are; leave columns out, or try covariance: diagonal"
)
"""The warning about a covariance that lies on the floor."""
BLOCK_CELLS = 1 << 16
"""Rows are processed in blocks of about so many cells, which stay in the cache."""


@dataclass(kw_only=True, eq=False)
class DensityOfVaryingColumns(DensityEstimator, Generative):
    """A density of the columns that vary: one of a single value would have an infinite density."""

    varies_: Rows = learned("varying")
    constants_: Array = learned("columns")
    """The smallest number of each column, which is the only one of columns that do not vary."""

    def learn_columns(self, data: UnlabelledRows) -> tuple[Array, Array, Array]:
        """The numbers of columns that vary, their means and standard deviations; a warning names the others."""
        columns = data.table.number_columns
        if not columns:
            raise FitError("there is no column to describe")
        of_columns = moments(data.table.numbers, data.weights)
        varies = of_columns.variance > 0
        if not varies.any():
            raise FitError("the training rows are all equal: a density needs rows that differ")
        if not varies.all():
            constant = [column.name for column, there in zip(columns, varies, strict=True) if not there]
            message = "columns with one value in all training rows are left out of the density"
            warnings.warn(f"{message}: {listed(constant)}", MlcliWarning, stacklevel=3)
        self.varies_, self.constants_ = np.flatnonzero(varies), data.table.numbers.min(axis=0)
        return self.varying(data.table), of_columns.mean[varies], np.sqrt(of_columns.variance[varies])

    def varying(self, table: Table) -> Array:
        """The numbers that the density describes."""
        return table.numbers if len(self.varies_) == table.numbers.shape[1] else table.numbers[:, self.varies_]

    def varying_names(self) -> tuple[str, ...]:
        """The names of the columns that it describes."""
        return tuple(self.columns_[index].name for index in self.varies_)

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` random rows of the columns that vary."""
        raise NotImplementedError

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Rows of the distribution."""
        numbers = np.tile(self.constants_, (n, 1))
        numbers[:, self.varies_] = self.drawn(n, rng)
        return Table.of(zip(self.columns_, numbers.T, strict=True), n)

    def check_learned(self) -> None:
        """Columns that exist, each once and in order."""
        varies, columns = self.varies_, len(self.columns_)
        if varies.ndim != 1 or not np.isin(varies, np.arange(columns)).all() or (np.diff(varies) <= 0).any():
            raise ValueError("a density of columns that are not there")


@dataclass(kw_only=True, eq=False)
class DensityOfComponents(DensityOfVaryingColumns):
    """A mixture of Gaussians, or one."""

    def mixture(self) -> MixtureOfGaussians:
        """The mixture that was learned."""
        raise NotImplementedError

    def log_density(self, table: Table) -> Array:
        """The logarithm of the density at each row."""
        return self.mixture().log_density(self.varying(table))

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` random rows of the mixture."""
        mixture = self.mixture()
        roots = [mixture.kind.root(whitener) for whitener in mixture.whiteners()[0]]
        return drawn(n, mixture.shares, mixture.means, roots, rng)[1]

    def component_tables(self) -> findings.Explanation:
        """Shares with means, standard deviations, and for each component the columns that vary together most."""
        mixture, names = self.mixture(), self.varying_names()
        deviations = np.array([mixture.kind.deviations(covariance) for covariance in mixture.covariances])
        parts = zip(mixture.shares.tolist(), mixture.means.tolist(), strict=True)
        centres = tuple((str(k), share, *mean) for k, (share, mean) in enumerate(parts))
        widths = tuple((str(k), *widths) for k, widths in enumerate(deviations.tolist()))
        tables = (
            findings.Table("Components: share of the rows, and means", ("component", "share", *names), centres),
            findings.Table("Components: standard deviations", ("component", *names), widths),
        )
        if mixture.covariances.ndim < 3 or len(names) < 2:
            return tables
        strongest: list[tuple[findings.Entry, ...]] = []
        for k, (covariance, deviation) in enumerate(zip(mixture.covariances, deviations, strict=True)):
            correlation = np.triu(covariance / np.outer(deviation, deviation), 1)
            first, second = np.unravel_index(np.abs(correlation).argmax(), correlation.shape)
            strongest.append((str(k), names[first], names[second], float(correlation[first, second])))
        title, header = "Components: columns that vary together most", ("component", "column", "and column")
        return *tables, findings.Table(title, (*header, "correlation"), tuple(strongest))

    def check_learned(self) -> None:
        """Shares, means and covariances that fit each other."""
        super().check_learned()
        mixture, columns = self.mixture(), len(self.varies_)
        count = len(np.atleast_1d(mixture.shares))
        shapes = ((count,), (count, columns), (count, *mixture.kind.shape(columns)))
        if tuple(map(np.shape, (mixture.shares, mixture.means, mixture.covariances))) != shapes:
            raise ValueError("a mixture whose parts do not fit its columns")
        if not (mixture.shares >= 0).all():
            raise ValueError("a mixture with shares below 0")


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
        for block in blocks_of(len(X), X.shape[1], BLOCK_CELLS):
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

    def whiteners(self) -> tuple[list[Array], Array]:
        """The whitener of each component, and the logarithm of π_k N(μ_k | μ_k, Σ_k)."""
        whiteners, log_determinants = zip(*map(self.kind.whitener, self.covariances), strict=True)
        heights = np.array(log_determinants) - 0.5 * self.means.shape[1] * LOG_TAU
        return list(whiteners), logarithm(self.shares) + heights
