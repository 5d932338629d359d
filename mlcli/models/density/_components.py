"""The columns that densities describe, and their components as tables: where these lie, and how wide they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import Generative
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.params import learned
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.mixtures import MixtureOfGaussians
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
        return tuple(self.columns_[place].name for place in self.varies_)

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
