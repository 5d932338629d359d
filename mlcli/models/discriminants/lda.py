"""LDA: each class is a normal distribution about its own mean, and all have one covariance.

Formula:
    P(k | x) ∝ π_k exp(μ_kᵀ Σ⁻¹ x − ½ μ_kᵀ Σ⁻¹ μ_k), which is π_k N(x; μ_k, Σ) without what all classes share. π_k
    is the share of the class in training, μ_k its mean, and

        Σ = Σ_k S_k / (N − K · ddof),    S_k = Σ_{i in k} w_i (x_i − μ_k)(x_i − μ_k)ᵀ.

Assumes:
    Numbers normally distributed within each class, spread and related alike in all of them. Decision
    boundaries are linear.

Cost:
    rows × columns² + columns³ to fit, columns × classes per row to predict.

Choices:
    The covariance is pooled over N − K unless `ddof` is 0 (maximum likelihood, as in scikit-learn). The notes'
    density has (2π)^n in the place of (2π)^(n/2); it cancels. A class that is absent in training has probability
    0.

    Σ may be singular. Columns that do not vary within any class, and directions in which classes vary by less
    than 1e-4 of what columns do (columns that follow from each other; fewer rows than columns), are left out. If
    classes differ there, a warning says so. Only for this does the scale of the columns matter; it is taken from
    their deviation within classes, so standardising changes nothing.

    `shrinkage` s keeps the variances and multiplies the products of two columns by 1 − s, so that it does not
    depend on units: 1 is a diagonal covariance. Ledoit and Wolf's rule finds s from the rows, in columns of unit
    variance within classes; this is the pooled form, while scikit-learn finds one s for each class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.model import Step
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.covariances import Normal, covariance_table, of_covariance
from mlcli.engines.linear_scores import INTERCEPT, SCORES, linear_scores, linear_terms
from mlcli.engines.posteriors import (
    log_priors,
    posterior,
    priors_of,
    refuse_misfitting_priors,
    table_by_class,
)
from mlcli.engines.sums import TrainingSums, sums_of_classes
from mlcli.engines.symmetric import solved
from mlcli.models.discriminants._leave_one_out import lda_without_each_row
from mlcli.models.discriminants._normal_classes import (
    LEFT_OUT,
    NormalClasses,
    freedom,
    from_centre,
    rounded,
    whitening,
)
from mlcli.tasks.supervised import Classifier, LabelledRows


@register("lda", reference="Fisher 1936; Hastie, Tibshirani & Friedman 2009, section 4.3")
class LinearDiscriminants(NormalClasses, Classifier, LeaveOneOut):
    """Normal classes of one covariance."""

    ddof: int = param(1, "delta degrees of freedom: the rows of each class count less this", ge=0, le=1)
    shrinkage: float | None = param(
        0.0, "shrinkage of correlations within classes; by Ledoit and Wolf's rule if none",
        ge=0, le=1, tune=Range(0.0, 1.0, simpler="high"),
    )  # fmt: skip

    covariance_: Array = learned("columns", "columns")
    coefficients_: Array = learned("classes", "columns")
    levels_: Array = learned("classes")
    """The score of each class at the centre."""
    directions_: int = learned()
    shrunk_: float = learned()
    """The shrinkage that was given, or chosen."""

    accepts = Accepts(weights=True, large=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Learn the means, the covariance about them, and the scores that follow."""
        data = data.counted()
        refuse_misfitting_priors(self.id, self.priors, data)
        sums = sums_of_classes(data)
        self.shrunk_ = ledoit_wolf(data, sums) if self.shrinkage is None else self.shrinkage
        kept, free = 1 - self.shrunk_, freedom(sums, self.ddof)
        shrunk = sums.within if kept == 1 else sums.within * (kept + self.shrunk_ * np.eye(len(sums.within)))
        uncertain, offsets = rounded(sums, sums.within.diagonal()), from_centre(sums)
        system = solved(shrunk, offsets)
        # With 1e-5 of the variance of each column left by the others, sums give the scores to ten digits.
        if free > 0 and not uncertain.any() and system.least >= 1e-5:
            self.coefficients_ = system.solution * free
            self.directions_ = int((sums.overall.squares > 0).sum())
        elif self.shrunk_:
            varies = (sums.within.diagonal() > 0) & ~uncertain
            self.coefficients_ = np.zeros_like(sums.mean)
            varying = solved(shrunk[np.ix_(varies, varies)], offsets[:, varies])
            self.coefficients_[:, varies] = varying.solution * free
            self.directions_ = int(varies.sum())
        else:
            transform = whitening(data, sums, self.ddof).transform
            self.coefficients_, self.directions_ = offsets @ transform @ transform.T, transform.shape[1]
        self.priors_ = priors_of(data.class_totals, self.priors)
        self.centre_, self.means_ = sums.origin, sums.mean
        self.covariance_ = shrunk / (free if free > 0 else 1.0)
        # The score of a class is log π_k − ½ (μ_k − μ)ᵀ w_k at the mean μ of all rows.
        half = 0.5 * np.einsum("kd,kd->k", offsets, self.coefficients_)
        self.levels_ = log_priors(sums.weight, self.priors) - half - self.coefficients_ @ sums.overall.mean

    def leave_one_out(self, rows: LabelledRows, steps: Sequence[Step]) -> Array | None:
        """The posteriors of each row by the discriminants of all others."""
        refuse_misfitting_priors(self.id, self.priors, rows)
        return lda_without_each_row(rows, steps, self.priors, self.ddof) if self.shrinkage == 0 else None

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        unit = 1 + np.abs(self.levels_)
        return posterior(linear_scores(table.numbers, self.centre_, self.coefficients_, self.levels_, unit))

    def normals(self) -> list[Normal]:
        """The same for all classes."""
        return [of_covariance(self.covariance_)] * len(self.means_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Prior times density of each class, and its score term by term."""
        terms = linear_terms(table, self.coefficients_, self.centre_, self.levels_, self.classes_, SCORES)
        return *super().explain_answer(table), terms

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients and levels by which the scores of classes differ (Hastie et al., section 4.4.5)."""
        return float((np.count_nonzero(self.priors_) - 1) * (len(self.centre_) + 1))

    def explain(self) -> findings.Explanation:
        """The priors, the means, the shared covariance, and the score of each class as a sum over columns."""
        columns = [column.name for column in self.columns_]
        shared = covariance_table("Covariance within every class", columns, {"": self.covariance_})
        note = "The difference between the scores of two classes is the logarithm of the odds."
        if self.shrunk_:
            note += f" Covariances within classes are shrunk by {self.shrunk_:.4g}."
        if left_out := len(self.columns_) - self.directions_:
            note += f" {LEFT_OUT.format(left_out)}"
        terms = np.column_stack([self.levels_ - self.coefficients_ @ self.centre_, self.coefficients_])
        title, names = "Linear discriminant functions", [INTERCEPT, *columns]
        return *super().explain(), *shared, table_by_class(title, names, self.classes_, terms, note)


def ledoit_wolf(data: LabelledRows, sums: TrainingSums) -> float:
    """The shrinkage of correlations within classes with the least expected error (Ledoit & Wolf 2004)."""
    total, squares = float(sums.weight.sum()), np.einsum("ii->i", sums.within)
    varies = (squares > 0) & ~rounded(sums, squares)
    unit = np.sqrt(squares[varies] / total)
    scaled = (data.table.numbers - sums.origin - sums.mean[data.y])[:, varies] / unit
    correlations = sums.within[np.ix_(varies, varies)] / total / np.outer(unit, unit)
    whole = float((correlations**2).sum())
    noise = float(data.weights @ (scaled**2).sum(axis=1) ** 2) / total - whole
    apart = whole - len(unit)
    return min(1.0, max(0.0, noise / total / apart)) if apart > 0 else 1.0
