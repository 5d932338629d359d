"""Factor analysis by maximum likelihood: x = μ + Λ f + e, with hidden factors f that explain correlations."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Bars, Explanation, Table
from mlcli.core.moments import moments
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.engines.principal_components import column_by_column, elbow_note, with_fixed_signs


@dataclass(frozen=True)
class Search:
    """The number of factors, and when EM ends."""

    factors: int
    tolerance: float
    most_steps: int
    floor: float
    """The least noise of a column, as a share of its variance."""


@dataclass(frozen=True, eq=False)
class Factors:
    """The mean, the loadings Λ (p × m) and the noise variance Ψ of each column."""

    mean: Array
    loadings: Array
    noise: Array

    def expected(self, X: Array) -> Array:
        """E[f | x] of each row."""
        scaled = self.loadings / self.noise[:, None]
        inverse = np.linalg.inv(np.eye(scaled.shape[1]) + self.loadings.T @ scaled)
        return column_by_column(X - self.mean, scaled @ inverse)

    def rows_at(self, factors: Array) -> Array:
        """The rows with these factors and without noise."""
        return np.asarray(self.mean + factors @ self.loadings.T)


@dataclass(kw_only=True, eq=False)
class FactorModel:
    """The base of the method and the step: learned loadings and noise."""

    columns_: tuple[Column, ...] = learned()
    mean_: Array = learned("columns")
    loadings_: Array = learned("columns", "factors")
    """The loadings (columns × factors)."""
    noise_: Array = learned("columns")
    likelihood_: float = learned()
    """The mean log-likelihood of a training row."""
    scree_: Array = learned()
    """The variances along the directions of standardised columns, the largest first."""

    def find(self, data: RowsOfTable, search: Search) -> None:
        """Find loadings and noise by EM."""
        factors, self.likelihood_, self.scree_ = factors_of(data.table.numbers, data.weights, search)
        self.mean_, self.loadings_, self.noise_ = factors.mean, factors.loadings, factors.noise

    @property
    def found(self) -> Factors:
        """The factors."""
        return Factors(self.mean_, self.loadings_, self.noise_)

    def check_learned(self) -> None:
        """Refuse noise that is not positive."""
        if not (self.noise_ > 0).all():
            raise ValueError("noise that no column can have")

    def explain(self) -> Explanation:
        """The scree plot, the loadings, and the share of each column's variance that factors do not explain."""
        names = [column.name for column in self.columns_]
        return factor_findings(self.found, self.likelihood_, self.scree_, names)


def factors_of(X: Array, weights: Array, search: Search) -> tuple[Factors, float, Array]:
    """The factors of weighted rows, the mean log-likelihood of a row, and the eigenvalues of the correlations."""
    columns = moments(X, weights)
    varies = columns.variance > 0
    unit = np.sqrt(np.where(varies, columns.variance, 1.0))
    rows = ((X - columns.mean) / unit * np.sqrt(weights / weights.sum())[:, None])[:, varies]
    if len(rows) > rows.shape[1]:
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    scaled_loadings, scaled_noise, likelihood = _maximise(rows, search)
    loadings, noise = np.zeros((X.shape[1], search.factors)), np.ones(X.shape[1])
    loadings[varies] = scaled_loadings * unit[varies, None]
    noise[varies] = scaled_noise * unit[varies] ** 2
    scree = np.linalg.svd(rows, compute_uv=False) ** 2 if rows.size else np.zeros(0)
    return Factors(columns.mean, loadings, noise), likelihood - float(np.log(unit[varies]).sum()), scree


def _maximise(rows: Array, search: Search) -> tuple[Array, Array, float]:
    """Loadings, noise and likelihood of centred rows, which are multiplied by the root of their weight."""
    columns, before = rows.shape[1], -np.inf
    noise, variance = np.ones(columns), (rows**2).sum(axis=0)
    loadings, likelihood = np.zeros((columns, search.factors)), before
    for _ in range(search.most_steps if columns else 0):
        root = np.sqrt(noise)
        _, singular, axes = np.linalg.svd(rows / root, full_matrices=False)
        squares, kept = singular**2, min(search.factors, len(singular))
        strength = np.sqrt(np.maximum(squares[:kept] - 1, 0.0))
        explained = np.maximum(squares[:kept], 1.0)
        misfit = (squares[:kept] / explained).sum() + squares[kept:].sum()
        likelihood = float(np.log(explained).sum() + misfit + np.log(noise).sum())
        likelihood = -0.5 * (likelihood + columns * np.log(2 * np.pi))
        loadings[:, :kept] = root[:, None] * axes[:kept].T * strength
        if likelihood - before < search.tolerance:
            return with_fixed_signs(loadings), noise, likelihood
        noise = np.maximum(variance - (loadings**2).sum(axis=1), search.floor)
        before = likelihood
    if columns:
        what = f"factor-analysis has not converged after {search.most_steps} steps"
        warnings.warn(MlcliWarning(f"{what}; more steps, or fewer factors, would help"), stacklevel=3)
    return with_fixed_signs(loadings), noise, likelihood if columns else 0.0


def factor_findings(factors: Factors, likelihood: float, scree: Array, names: Sequence[str]) -> Explanation:
    """The scree plot, the loadings, and the share of noise in each column."""
    count = factors.loadings.shape[1]
    total = (factors.loadings**2).sum(axis=1) + factors.noise
    parts = zip(names, factors.loadings.tolist(), (factors.noise / total).tolist(), strict=True)
    rows = tuple((name, *loads, share) for name, loads, share in parts)
    header = ("column", *(f"factor_{index}" for index in range(1, count + 1)), "own noise")
    note = f"log-likelihood of a training row: {likelihood:.6g}"
    numbers = tuple(map(str, range(1, len(scree) + 1)))
    return (
        Bars(
            "Scree",
            ("factor", "variance of standardised columns"),
            numbers,
            tuple(scree.tolist()),
            note=f"{count} factors are taken{elbow_note(scree)}",
            code="scree",
        ),
        Table("Loadings", header, rows, note=note, code="loadings"),
    )
