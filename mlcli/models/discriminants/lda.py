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
    The covariance is pooled over N − K unless `ddof` is 0 (maximum likelihood, as scikit-learn has it). The notes'
    density has (2π)^n in the place of (2π)^(n/2); it cancels. A class that is absent in training has probability
    0.

    Σ may be singular. Columns that do not vary within any class, and directions in which classes vary by less
    than 1e-4 of what columns do (columns that follow from each other; fewer rows than columns), take no part.
    Where classes differ in what is left out, a warning says so. Only here does the scale of the columns matter;
    it is taken from their deviation within classes, so standardising changes nothing.

    `shrinkage` s keeps the variances and multiplies the products of two columns by 1 − s, so that it does not
    depend on units: 1 is a diagonal covariance. Ledoit and Wolf's rule finds s from the rows, in columns of unit
    variance within classes; of scikit-learn, which finds one for each class, it is the pooled form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.accepts import Accepts
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.engines.covariances import Normal, covariance_table, of_covariance
from mlcli.engines.learn_from_sums import held_out_classes
from mlcli.engines.linear_scores import INTERCEPT, SCORES, linear_scores, linear_terms
from mlcli.engines.posteriors import (
    certain_posterior,
    log_priors,
    posterior,
    priors_of,
    refuse_misfitting_priors,
    table_by_class,
)
from mlcli.engines.sums import TrainingSums, sums_of_classes
from mlcli.engines.symmetric import made_regular, solved
from mlcli.models.discriminants._normal_classes import (
    NARROW,
    NormalClasses,
    freedom,
    from_centre,
    rounded,
    whitening,
)
from mlcli.tasks.classification import Classifier, LabelledRows

ENOUGH = 1e-5
"""With so much left of the variance of a column that others explain, sums give the scores to ten digits."""
ROUNDING = 2e-15


@dataclass(frozen=True, eq=False)
class DiscriminantScores:
    """Linear scores of the classes, by each set of rows that they were learned from, measured from a centre."""

    coefficients: Array
    levels: Array
    centre: Array
    left: Array
    """What is left of the variance of the column that others explain most; 0 where sums do not tell enough."""

    def answers(self, rows: Array) -> Array:
        """The posteriors (sets × rows × classes)."""
        away, slopes = rows - self.centre[:, None], np.swapaxes(self.coefficients, -1, -2)
        size = (np.abs(away) @ np.abs(slopes)).max(axis=-1)
        error = np.where(self.left >= ENOUGH, ROUNDING / self.left, np.inf)
        return certain_posterior(away @ slopes + self.levels[:, None], error[:, None] * (1 + size))


@register("lda", reference="Fisher 1936; Hastie, Tibshirani & Friedman 2009, section 4.3")
class LinearDiscriminants(NormalClasses, Classifier, LeaveOneOut):
    """Normal classes of one covariance."""

    ddof: int = param(1, "delta degrees of freedom: the rows of each class count less this", ge=0, le=1)
    shrinkage: float | None = param(
        0.0, "how far columns are taken to be uncorrelated within classes; by Ledoit and Wolf's rule if none",
        ge=0, le=1, tune=Range(0.0, 1.0, simpler="high"),
    )  # fmt: skip

    covariance_: Array = learned("columns", "columns")
    coefficients_: Array = learned("classes", "columns")
    levels_: Array = learned("classes")
    """The score of each class at the centre."""
    directions_: int = learned()
    shrunk_: float = learned()
    """The shrinkage that was given, or found."""

    accepts = Accepts(weights=True, large=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Take the means, the covariance about them, and the scores that follow."""
        data = data.counted()
        refuse_misfitting_priors(self.id, self.priors, data)
        sums = sums_of_classes(data)
        self.shrunk_ = ledoit_wolf(data, sums) if self.shrinkage is None else self.shrinkage
        found, self.directions_ = self.learn_from(sums), int((sums.overall.squares > 0).sum())
        if found.left < ENOUGH:
            by = self._shrunk_scores if self.shrunk_ else self._whitened_scores
            found, self.directions_ = by(data, sums)
        self.priors_ = priors_of(data.class_totals, self.priors)
        self.centre_, self.means_ = sums.origin, sums.mean
        free = float(freedom(sums, self.ddof))
        self.covariance_ = self._shrunk(sums) / (free if free > 0 else 1.0)
        self.coefficients_, self.levels_ = found.coefficients, found.levels - found.coefficients @ found.centre

    def learn_from(self, sums: TrainingSums) -> DiscriminantScores:
        """μ_kᵀ Σ⁻¹ x − ½ μ_kᵀ Σ⁻¹ μ_k + log π_k, measured from the mean of all rows, to keep digits."""
        squares, within = np.einsum("...ii->...i", sums.within), self._shrunk(sums)
        within = within if self.shrunk_ else made_regular(within, sums.constant * squares[..., None, :])
        found, divisor = solved(within, from_centre(sums)), freedom(sums, self.ddof)
        enough = (divisor > 0) & ~rounded(sums, squares).any(axis=-1)
        return self._scores(sums, found.solution * divisor[..., None, None], np.where(enough, found.least, 0.0))

    def _shrunk_scores(self, data: LabelledRows, sums: TrainingSums) -> tuple[DiscriminantScores, int]:
        """The scores in the columns that vary within classes, and how many these are: shrinkage parts them."""
        squares = np.einsum("ii->i", sums.within)
        varies = ~rounded(sums, squares) & (squares > 0)
        within, away = self._shrunk(sums)[np.ix_(varies, varies)], from_centre(sums)[:, varies]
        coefficients = np.zeros_like(sums.mean)
        coefficients[:, varies] = solved(within, away).solution * float(freedom(sums, self.ddof))
        return self._scores(sums, coefficients), int(varies.sum())

    def _whitened_scores(self, data: LabelledRows, sums: TrainingSums) -> tuple[DiscriminantScores, int]:
        """The scores in the directions in which classes vary, and how many these are."""
        transform = whitening(data, sums, self.ddof).transform
        return self._scores(sums, from_centre(sums) @ transform @ transform.T), transform.shape[1]

    def _shrunk(self, sums: TrainingSums) -> Array:
        """The scatter within classes, its products of two columns taken as so much smaller."""
        kept = 1 - self.shrunk_
        return sums.within if kept == 1 else sums.within * (kept + self.shrunk_ * np.eye(sums.within.shape[-1]))

    def _scores(self, sums: TrainingSums, coefficients: Array, left: Array | float = 1.0) -> DiscriminantScores:
        half = 0.5 * np.einsum("...kd,...kd->...k", from_centre(sums), coefficients)
        levels = log_priors(sums.weight, self.priors) - half
        return DiscriminantScores(coefficients, levels, sums.overall.mean, np.asarray(left))

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The posteriors of all rows, each by sums of the rows outside its part."""
        refuse_misfitting_priors(self.id, self.priors, data)
        if self.shrinkage is None:
            return None
        self.shrunk_ = self.shrinkage
        return held_out_classes(self, data, round_, steps)

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        unit = 1 + np.abs(self.levels_)
        return posterior(linear_scores(table.numbers, self.centre_, self.coefficients_, self.levels_, unit))

    def normals(self) -> list[Normal]:
        """The same for all classes."""
        return [of_covariance(self.covariance_)] * len(self.means_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Prior times density of each class, and its score term by term."""
        of_row = self.coefficients_, self.centre_, self.levels_
        return *super().explain_answer(table), linear_terms(table, *of_row, self.classes_, SCORES)

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients and levels by which the scores of classes differ (Hastie et al., section 4.4.5)."""
        return float((np.count_nonzero(self.priors_) - 1) * (len(self.centre_) + 1))

    def explain(self) -> findings.Explanation:
        """The priors, the means, the shared covariance, and the score of each class as a sum over columns."""
        columns = [column.name for column in self.columns_]
        names = [INTERCEPT, *columns]
        shared = covariance_table("Covariance within every class", columns, {"": self.covariance_})
        terms = np.column_stack([self.levels_ - self.coefficients_ @ self.centre_, self.coefficients_])
        scores = table_by_class("Linear discriminant functions", names, self.classes_, terms, self._note())
        return *super().explain(), *shared, scores

    def _note(self) -> str:
        note = "The difference between the scores of two classes is the logarithm of the odds."
        if self.shrunk_:
            note += f" Covariances within classes are shrunk by {self.shrunk_:.4g}."
        left_out = len(self.columns_) - self.directions_
        return f"{note} {NARROW.format(left_out)}" if left_out else note


def ledoit_wolf(data: LabelledRows, sums: TrainingSums) -> float:
    """The shrinkage of correlations within classes with the least expected error (Ledoit & Wolf 2004)."""
    total, squares = float(sums.weight.sum()), np.einsum("ii->i", sums.within)
    varies = (squares > 0) & ~rounded(sums, squares)
    unit = np.sqrt(squares[varies] / total)
    away = (data.table.numbers - sums.origin - sums.mean[data.y])[:, varies] / unit
    correlations = sums.within[np.ix_(varies, varies)] / total / np.outer(unit, unit)
    whole = float((correlations**2).sum())
    noise = float(data.weights @ (away**2).sum(axis=1) ** 2) / total - whole
    apart = whole - len(unit)
    return min(1.0, max(0.0, noise / total / apart)) if apart > 0 else 1.0
