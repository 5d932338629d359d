"""Kernel density: the mean of small Gaussians, one round each training row.

Formula:
    p(x) = Σ_i w_i N(x; x_i, h² Σ) / W, with Σ the covariance of the training rows. `scott`: h = n^(−1/(p+4));
    `silverman`: h = (n (p + 2) / 4)^(−1/(p+4)); `likelihood`: of 25 values from a fifth to five times Scott's,
    the one with the largest Σ_i w_i log p_{−i}(x_i), each row, and what equals it, left out of its own density.
    n is the summed weight.

Assumes:
    The same smoothness everywhere: one h for all regions. Few columns; with many, rows are far apart and h is
    too wide.

Cost:
    rows × training rows × columns to predict, as much to choose h by likelihood.

Choices:
    `covariance: diagonal` keeps only the variances of Σ. No direction has a variance below `floor` times that of
    the columns. A column with one value in all training rows is left out, with a warning. The model stores every
    row, and `aic` and `bic` count each of their numbers: compare by log-likelihood on test rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.ranges import warn_at_edge
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import squared_distances, squared_lengths
from mlcli.engines.covariances import COVARIANCE_TYPES
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.posteriors import log_sum
from mlcli.models.density._components import DensityOfVaryingColumns
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows

TRIED = np.geomspace(0.2, 5.0, 25)
"""Multiples of Scott's bandwidth that are tried by likelihood."""


@register("kde", reference="Scott 1992, Multivariate Density Estimation; Silverman 1986")
class KernelDensity(DensityOfVaryingColumns, DensityEstimator):
    """A Gaussian round each row."""

    bandwidth: str = param(
        "scott", "how the width of the Gaussians is chosen", choices=("scott", "silverman", "likelihood")
    )
    factor: float = param(1.0, "factor of the bandwidth", gt=0, tune=(0.2, 5.0))
    covariance: str = param("full", "how columns vary together", choices=("full", "diagonal"))
    floor: float = param(1e-6, "smallest variance in any direction, as a share of the column's", ge=0, lt=1)

    rows_: Array = learned("rows", "varying")
    """The training rows."""
    weights_: Array = learned("rows")
    covariance_: Array = learned()
    h_: float = learned()

    accepts = Accepts(weights=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Store the rows, and choose how wide the Gaussians are."""
        data = data.counted()
        self.rows_, mean, deviations = self.learn_columns(data)
        self.weights_ = data.weights
        kind = COVARIANCE_TYPES[self.covariance]
        scatter = kind.scatter(self.rows_ - mean, data.weights) / data.weights.sum()
        self.covariance_ = kind.likeliest(scatter, self.floor * deviations**2)
        n, p = float(data.weights.sum()), self.rows_.shape[1]
        h = n ** (-1 / (p + 4))
        if self.bandwidth == "silverman":
            h = (n * (p + 2) / 4) ** (-1 / (p + 4))
        elif self.bandwidth == "likelihood":
            h = self._likeliest_bandwidth(h)
        self.h_ = self.factor * h

    def _likeliest_bandwidth(self, scott: float) -> float:
        """The bandwidth under which rows are likeliest, each by the rows that differ from it."""
        if len(self.rows_) < 2:
            raise FitError("kde needs at least two rows to choose a bandwidth by likelihood")
        logs, total, point = np.log(self.weights_), np.zeros(len(TRIED)), DistinctRows.of(self.rows_).point_of
        for rows, squared in self._blocks(self.rows_):
            equal = point[rows, None] == point
            squared[equal] = np.inf
            others = np.log(np.where(equal, 0.0, self.weights_).sum(axis=1))
            for index, h in enumerate(TRIED * scott):
                densities = log_sum(logs - squared / (2 * h * h), 1) - others + self._log_peak(h)
                total[index] += self.weights_[rows] @ densities
        chosen = float(TRIED[total.argmax()])
        warn_at_edge(f"the bandwidth that {self.id} chose", chosen, TRIED, *2 * ("set 'factor' to go beyond it",))
        return scott * chosen

    def _blocks(self, X: Array) -> Iterator[tuple[slice, Array]]:
        """Squared distances of blocks of rows to all training rows, in units of the covariance."""
        whitener, _ = COVARIANCE_TYPES[self.covariance].whitener(self.covariance_)
        transform = whitener if whitener.ndim == 2 else np.diag(whitener)
        middle = self.rows_.mean(axis=0)
        Z, stored = (X - middle) @ transform, (self.rows_ - middle) @ transform
        lengths, step = squared_lengths(stored), max(1, 60_000 // len(self.rows_))  # distances that fit the cache
        for start in range(0, len(X), step):
            rows = slice(start, min(start + step, len(X)))
            yield rows, np.maximum(squared_distances(stored, Z[rows], lengths), 0.0)

    def _log_peak(self, h: float) -> float:
        """The logarithm of the density of one Gaussian at its row."""
        _, log_det = COVARIANCE_TYPES[self.covariance].whitener(self.covariance_)
        p = self.rows_.shape[1]
        return float(log_det - p * np.log(h) - p / 2 * np.log(2 * np.pi))

    def log_density(self, table: Table) -> Array:
        """The logarithm of the density at each row."""
        result = np.zeros(len(table))
        logs = np.log(self.weights_ / self.weights_.sum())
        for rows, squared in self._blocks(self.varying(table)):
            squared *= -1.0 / (2 * self.h_**2)
            squared += logs
            top = squared.max(axis=1, keepdims=True)
            squared -= top
            result[rows] = np.log(np.exp(squared, out=squared).sum(axis=1)) + top[:, 0]
        return result + self._log_peak(self.h_)

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """A random training row for each, and a Gaussian step from it."""
        kind = COVARIANCE_TYPES[self.covariance]
        whitener, _ = kind.whitener(self.covariance_)
        chosen = rng.choice(len(self.rows_), n, p=self.weights_ / self.weights_.sum())
        steps = rng.standard_normal((n, self.rows_.shape[1])) @ kind.root(whitener)
        return np.asarray(self.rows_[chosen] + self.h_ * steps)

    def free_parameters(self) -> int:
        """Every number that it stores."""
        return int(self.rows_.size)

    def explain(self) -> findings.Explanation:
        """How wide the Gaussians are."""
        widths = self.h_ * COVARIANCE_TYPES[self.covariance].deviations(self.covariance_)
        rows = tuple(zip(self.varying_names(), widths.tolist(), strict=True))
        note = f"{len(self.rows_):,} Gaussians; h is {self.h_:.4g} ({self.bandwidth})"
        return (findings.Table("Bandwidth of each column", ("column", "deviation"), rows, note=note),)

    def check_learned(self) -> None:
        """Rows with weights, and a covariance that fits them."""
        super().check_learned()
        shape = COVARIANCE_TYPES[self.covariance].shape(len(self.varies_))
        if np.shape(self.covariance_) != shape or not self.h_ > 0:
            raise ValueError("a width that does not fit the columns")
