"""Gaussian Bayes: each class is a normal distribution with a spherical, diagonal or full covariance of its own.

Formula:
    P(k | x) ∝ π_k N(x; μ_k, Σ_k). π_k is the share of the class in training, μ_k its mean, and Σ_k = S_k / (N_k
    − ddof) with S_k the scatter of its rows about μ_k: as it is (full), its diagonal alone, or the mean of its
    diagonal for every column (spherical).

Assumes:
    Numbers normally distributed within each class: round clouds of columns of one scale (spherical), columns that
    vary independently (diagonal), or in any way (full, which wants far more rows than columns in each class).

Cost:
    rows × columns to fit and per row to predict; full: columns times as much.

Choices:
    Maximum likelihood, ddof 0. Diagonal is `naive-bayes` of numeric columns; full is `qda`, which handles
    classes with few rows better. No variance is below `floor` times that of all rows: a class with one row, or
    with a column that does not vary in it, has the floor there. A class that is absent in training has
    probability 0.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.covariances import COVARIANCE_TYPES, CovarianceType, Normal
from mlcli.engines.posteriors import log_priors, posterior, priors_of, refuse_misfitting_priors
from mlcli.models.discriminants._normal_classes import NormalClasses
from mlcli.tasks.supervised import Classifier, LabelledRows


@register("gaussian-bayes", reference="Duda, Hart & Stork 2001, section 2.6")
class GaussianBayes(NormalClasses, Classifier):
    """Normal classes of a form that is chosen."""

    covariance: str = param("diagonal", "form of the covariance of a class", choices=COVARIANCE_TYPES)
    ddof: int = param(
        0, "delta degrees of freedom: a covariance is divided by the rows of its class less this", ge=0, le=1
    )
    floor: float = param(1e-6, "the smallest variance of a class, as a share of that of all rows", ge=0, lt=1)

    deviations_: Array = learned("classes", "columns")
    whiteners_: Array = learned()
    levels_: Array = learned("classes")
    """The logarithm of the prior over the root of the determinant."""

    @property
    def accepts(self) -> Accepts:
        """Numbers and weights; a sphere is round only between columns of one scale."""
        return Accepts(weights=True, prefers_scaled=self.covariance == "spherical")

    @property
    def covariance_type(self) -> CovarianceType:
        """The chosen form."""
        return COVARIANCE_TYPES[self.covariance]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Learn the mean and the covariance of each class; a class without rows may have any."""
        data = data.counted()
        refuse_misfitting_priors(self.id, self.priors, data)
        X, weights, totals = data.table.numbers, data.weights, data.class_totals
        self.centre_ = weights @ X / weights.sum()
        X = X - self.centre_
        variances = weights @ X**2 / weights.sum()
        floor = np.maximum(self.floor * np.where(variances > 0, variances, 1.0), np.finfo(float).tiny)
        form, means, deviations, whiteners, log_determinants = self.covariance_type, [], [], [], []
        for k in range(len(totals)):
            rows, own = X[data.y == k], weights[data.y == k]
            total = float(own.sum())
            mean = own @ rows / total if total else np.zeros(len(floor))
            divisor = total - self.ddof if total > self.ddof else max(total, 1.0)
            covariance = form.likeliest(form.scatter(rows - mean, own) / divisor, floor)
            whitener, log_determinant = form.whitener(covariance)
            means.append(mean)
            deviations.append(form.deviations(covariance))
            whiteners.append(whitener)
            log_determinants.append(log_determinant)
        self.means_, self.deviations_ = np.array(means), np.array(deviations)
        self.whiteners_ = np.array(whiteners)
        self.priors_ = priors_of(totals, self.priors)
        self.levels_ = log_priors(totals, self.priors) + np.array(log_determinants)

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class, from the logarithm of π_k N(x; μ_k, Σ_k)."""
        X = table.numbers - self.centre_
        log_joint = [
            level - 0.5 * self.covariance_type.squared_lengths(X - mean, whitener)
            for mean, whitener, level in zip(self.means_, self.whiteners_, self.levels_, strict=True)
        ]
        return posterior(np.column_stack(log_joint))

    def normals(self) -> list[Normal]:
        """The covariance of each class."""
        whiteners = [whitener if whitener.ndim > 1 else np.diag(whitener) for whitener in self.whiteners_]
        roots = map(self.covariance_type.root, self.whiteners_)
        return [
            Normal(root, whitener, -float(np.linalg.slogdet(whitener)[1]))
            for root, whitener in zip(roots, whiteners, strict=True)
        ]

    def check_learned(self) -> None:
        """A covariance of its form for each class."""
        if np.shape(self.whiteners_) != (len(self.classes_), *self.covariance_type.shape(len(self.columns_))):
            raise ValueError("covariances that do not fit the columns and classes")

    def explain(self) -> Explanation:
        """The priors, and the mean, deviation and covariances of the columns by class."""
        deviations = self.by_class("Standard deviations", self.deviations_)
        return *super().explain(), deviations, *(self.covariance_tables() if self.covariance == "full" else ())
