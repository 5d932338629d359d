"""LDA: each class is a normal distribution about its own mean, and all have one covariance.

Formula:
    P(k | x) ∝ π_k exp(μ_kᵀ Σ⁻¹ x − ½ μ_kᵀ Σ⁻¹ μ_k), which is π_k N(x; μ_k, Σ) without what all classes share. π_k
    is the share of the class in training, μ_k its mean, and

        Σ = Σ_k S_k / (N − K · ddof),    S_k = Σ_{i in k} w_i (x_i − μ_k)(x_i − μ_k)ᵀ.

Assumes:
    Numbers normally distributed within each class, spread and related alike in all of them. Borders between
    classes are straight.

Cost:
    rows × columns² + columns³ to fit, columns × classes per row to predict.

Choices:
    Decision 49: the covariance is pooled over N − K unless `ddof` is 0 (maximum likelihood, as scikit-learn has
    it). The notes' density has (2π)^n in the place of (2π)^(n/2); it cancels. A class that is absent in training
    has probability 0.

    Σ may be singular. Columns that do not vary within any class, and directions in which classes vary by less
    than 1e-4 of what columns do (columns that follow from each other; fewer rows than columns), take no part.
    Where classes differ in what is left out, a warning says so. Only here does the scale of the columns matter;
    it is taken from their deviation within classes, so standardising changes nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.explanation import Explanation, Section
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.engines.linear_scores import linear_scores as scores
from mlcli.models.bayes._posterior import posterior
from mlcli.models.bayes._priors import given_or_counted, wrong_sum
from mlcli.models.discriminants._answering import Linear, held_out
from mlcli.models.discriminants._explaining import NARROW, prior_section, rows_of
from mlcli.models.discriminants._scores import coefficients_and_levels, logarithm
from mlcli.models.discriminants._spread import spread_of_classes
from mlcli.models.discriminants._whitening import doubts
from mlcli.tasks.classification import Classifier, LabelledRows


@register("lda", reference="Fisher 1936; Hastie, Tibshirani & Friedman 2009, section 4.3")
@dataclass(kw_only=True, eq=False)
class LinearDiscriminants(Classifier):
    """Normal classes of one covariance."""

    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )
    ddof: int = param(1, "what is taken off the rows of each class in the covariance", ge=0, le=1)

    priors_: Array = learned()
    centre_: Array = learned()
    means_: Array = learned()
    """Of each class, from the centre (classes × columns)."""
    coefficients_: Array = learned()
    levels_: Array = learned()
    """The score of each class at the centre."""
    directions_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers, in any units, and weights."""
        return Accepts(weights=True)

    def conflicts(self) -> list[str]:
        """Given priors add up to 1."""
        return wrong_sum(self.priors)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Take the means, the covariance about them, and the scores that follow."""
        data = data.counted()
        self.priors_ = given_or_counted(self.id, self.priors, data)
        self.centre_, sums, _, whitening = spread_of_classes(data, self.ddof)
        for doubt in doubts(sums, whitening):
            warnings.warn(doubt, MlcliWarning, stacklevel=2)
        self.means_, self.directions_ = sums.mean, whitening.transform.shape[1]
        log_priors = np.where(sums.present, logarithm(self.priors_), -np.inf)
        self.coefficients_, self.levels_ = coefficients_and_levels(whitening.transform, sums, log_priors)

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The posteriors by the rows outside each part, from sums of their classes."""
        return held_out(data, round_, steps, Linear(self.ddof, self.priors))

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        unit = 1 + np.abs(self.levels_)
        return posterior(scores(table.numbers, self.centre_, self.coefficients_, self.levels_, unit))

    def check_learned(self) -> None:
        """A mean and coefficients for each class, one per column."""
        shape = (len(self.classes_), len(self.columns_))
        arrays = (self.means_, self.coefficients_)
        vectors = ((self.priors_, shape[0]), (self.levels_, shape[0]), (self.centre_, shape[1]))
        if any(np.shape(one) != shape for one in arrays) or any(np.shape(one) != (n,) for one, n in vectors):
            raise ValueError("means or coefficients that do not fit the columns and classes")

    def explain(self) -> Explanation:
        """The priors, the means, and the score of each class as a sum over columns."""
        names = [column.name for column in self.columns_]
        at_origin = self.levels_ - self.coefficients_ @ self.centre_
        terms = (("(intercept)", *at_origin.tolist()), *rows_of(names, self.coefficients_))
        return (
            prior_section(self.target_, self.classes_, self.priors_),
            Section("Means", ("column", *self.classes_), tuple(rows_of(names, self.means_ + self.centre_))),
            Section("Scores of the classes", ("column", *self.classes_), terms, note=self._note()),
        )

    def _note(self) -> str:
        said = "The difference between two scores is the logarithm of the odds."
        left_out = len(self.columns_) - self.directions_
        return f"{said} {NARROW.format(left_out)}" if left_out else said
