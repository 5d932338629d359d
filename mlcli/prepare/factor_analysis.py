"""Factor analysis: replaces the columns by a few hidden factors that explain how they go together.

Formula:
    x = μ + Λ f + e with f ~ N(0, I) and e ~ N(0, Ψ), Ψ diagonal, so that Σ = Λ Λᵀ + Ψ. Λ and Ψ maximise the
    likelihood by EM in its fast form: with the singular values s_j of X Ψ^{−½} / √N and their vectors u_j, Λ_j =
    Ψ^{½} u_j √(s_j² − 1)₊, then Ψ = diag(S − Λ Λᵀ), until the likelihood stands still. A row becomes E[f | x] = (I
    + Λᵀ Ψ⁻¹ Λ)⁻¹ Λᵀ Ψ⁻¹ (x − μ).

Assumes:
    Straight relations, noise of its own in every column (pca has none), and far fewer factors than columns.

Cost:
    A singular value decomposition per step.

Choices:
    Factors are those of the maximum as it is found, not rotated; the largest entry of each is positive. EM begins
    with standardised columns that are noise alone, so that units do not matter, and ends in a local maximum. Of
    the noise of a column at least `floor` of its variance is kept (a column that others explain whole would have
    none). A column that does not vary has no part in it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.engines.principal import with_fixed_signs


@register("factor-analysis", reference="Spearman 1904; Jöreskog 1967; Barber 2012, Bayesian Reasoning, 21.2")
@dataclass(kw_only=True, eq=False)
class FactorAnalysis(Step):
    """Factors instead of columns."""

    factors: int = param(2, "how many hidden factors there are", ge=1, tune=(1, 10))
    tolerance: float = param(1e-7, "EM ends when the mean log-likelihood rises by less", gt=0)
    most_steps: int = param(1000, "after how many steps EM ends in any case", ge=1)
    floor: float = param(0.005, "the least noise of a column, as a share of its variance", gt=0, lt=1)

    mean_: Array = learned()
    loadings_: Array = learned()
    """What each column has of each factor (p × m)."""
    noise_: Array = learned()
    likelihood_: float = learned()
    """The mean log-likelihood of a training row."""

    accepts = Accepts(weights=True)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find loadings and noise by EM."""
        data = data.counted()
        X, found = data.table.numbers, moments(data.table.numbers, data.weights)
        self.mean_, varies = found.mean, found.variance > 0
        unit = np.sqrt(np.where(varies, found.variance, 1.0))
        rows = (X - self.mean_) / unit * np.sqrt(data.weights / data.weights.sum())[:, None]
        loadings, noise, likelihood = self._maximum(rows[:, varies])
        self.loadings_, self.noise_ = np.zeros((X.shape[1], self.factors)), np.ones(X.shape[1])
        self.loadings_[varies] = loadings * unit[varies, None]
        self.noise_[varies] = noise * unit[varies] ** 2
        self.likelihood_ = likelihood - float(np.log(unit[varies]).sum())

    def _maximum(self, rows: Array) -> tuple[Array, Array, float]:
        """Loadings and noise of columns with variance 1; rows are centred and have their weight in them."""
        if len(rows) > rows.shape[1]:
            rows = np.asarray(np.linalg.qr(rows, mode="r"))
        columns, before = rows.shape[1], -np.inf
        noise, variance = np.ones(columns), (rows**2).sum(axis=0)
        loadings, likelihood = np.zeros((columns, self.factors)), before
        for _ in range(self.most_steps if columns else 0):
            root = np.sqrt(noise)
            _, singular, axes = np.linalg.svd(rows / root, full_matrices=False)
            squares, kept = singular**2, min(self.factors, len(singular))
            strength = np.sqrt(np.maximum(squares[:kept] - 1, 0.0))
            explained = np.maximum(squares[:kept], 1.0)
            likelihood = float(np.log(explained).sum() + _misfit(squares, explained) + np.log(noise).sum())
            likelihood = -0.5 * (likelihood + columns * np.log(2 * np.pi))
            loadings[:, :kept] = root[:, None] * axes[:kept].T * strength
            if likelihood - before < self.tolerance:
                return with_fixed_signs(loadings), noise, likelihood
            noise = np.maximum(variance - (loadings**2).sum(axis=1), self.floor)
            before = likelihood
        if columns:
            what = f"factor-analysis has not settled after {self.most_steps} steps"
            warnings.warn(MlcliWarning(f"{what}; more steps, or fewer factors, would help"), stacklevel=2)
        return with_fixed_signs(loadings), noise, likelihood if columns else 0.0

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The factors."""
        return tuple(Column(f"factor_{place}") for place in range(1, self.factors + 1))

    def transform(self, table: Table) -> Table:
        """What is expected of the factors of each row."""
        scaled = self.loadings_ / self.noise_[:, None]
        inverse = np.linalg.inv(np.eye(self.factors) + self.loadings_.T @ scaled)
        found = np.zeros((self.factors, len(table)))
        for cells, mean, weights in zip(table.numbers.T, self.mean_, scaled @ inverse, strict=True):
            found += weights[:, None] * (cells - mean)
        return Table(self.columns_after(table.columns), np.ascontiguousarray(found.T), table.codes)

    def check_learned(self) -> None:
        """Loadings that fit the columns, and noise above 0."""
        count = len(self.columns_)
        if np.shape(self.loadings_) != (count, self.factors) or np.shape(self.mean_) != (count,):
            raise ValueError("loadings that do not fit the columns")
        if np.shape(self.noise_) != (count,) or not (self.noise_ > 0).all():
            raise ValueError("noise that no column can have")

    def explain(self) -> Explanation:
        """The loadings, and the share of each column's variance that factors do not explain."""
        total = (self.loadings_**2).sum(axis=1) + self.noise_
        rows = tuple(
            (column.name, *loads, share)
            for column, loads, share in zip(
                self.columns_, self.loadings_.tolist(), (self.noise_ / total).tolist(), strict=True
            )
        )
        header = ("column", *(f"factor_{place}" for place in range(1, self.factors + 1)), "own noise")
        note = f"log-likelihood of a training row: {self.likelihood_:.6g}"
        return (findings.Table("Loadings", header, rows, note=note),)


def _misfit(squares: Array, explained: Array) -> float:
    """What directions add to the misfit: explained ones 1 each, or what they have, others their squares."""
    kept = len(explained)
    return float((squares[:kept] / explained).sum() + squares[kept:].sum())
