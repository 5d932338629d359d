"""QDA: each class is a normal distribution with a mean and a covariance of its own.

Formula:
    P(k | x) ∝ π_k N(x; μ_k, Σ_k) with N(x; μ, Σ) = exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √((2π)^p |Σ|). π_k is the
    share of the class in training, μ_k its mean, and Σ_k = S_k / (N_k − ddof) with

        S_k = Σ_{i in k} w_i (x_i − μ_k)(x_i − μ_k)ᵀ.

    With `shrinkage` s it is (1 − s) Σ_k + s Σ, Σ being the covariance that `lda` has; s = 1 is `lda`.

Assumes:
    Numbers normally distributed within each class, and far more rows than columns in each. Borders between
    classes are quadratic.

Cost:
    rows × columns² + classes × columns³ to fit, classes × columns² per row to predict.

Choices:
    Decision 49: the notes' density has (2π)^n in the place of (2π)^(n/2); it cancels. `ddof` 0 is maximum
    likelihood, as scikit-learn has it. A class that is absent in training has probability 0.

    Directions in which no class varies (constant columns, columns that follow from others) take no part, as in
    `lda`. A single class may still vary in fewer directions than the others: it has no more rows than columns, or
    lacks a level. Its density would be infinite there, so no direction of a class has a variance below `floor`
    times the shared one, and a warning names the class; with `floor` 0 it is refused. A class with one row has the
    shared covariance. More rows, `shrinkage`, or `lda` are the better answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.blocks import less_row
from mlcli.core.errors import MlcliWarning
from mlcli.core.explanation import Explanation, Section
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.models.bayes._posterior import posterior
from mlcli.models.bayes._priors import given_or_counted, wrong_sum
from mlcli.models.discriminants._answering import Quadratic, held_out
from mlcli.models.discriminants._bells import Bells, bells_of, refuse_singular
from mlcli.models.discriminants._explaining import NARROW, prior_section, rows_of
from mlcli.models.discriminants._scores import logarithm
from mlcli.models.discriminants._spread import spread_of_classes
from mlcli.models.discriminants._triangles import Upper
from mlcli.models.discriminants._whitening import doubts
from mlcli.models.linear._standard import blocks
from mlcli.tasks.classification import Classifier, LabelledRows

NAMED = 3
"""Of more classes than this, a warning names the first ones only."""


@register("qda", reference="Hastie, Tibshirani & Friedman 2009, section 4.3; Friedman 1989")
@dataclass(kw_only=True, eq=False)
class QuadraticDiscriminants(Classifier):
    """Normal classes, each with its covariance."""

    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )
    ddof: int = param(1, "what is taken off the rows of a class in its covariance", ge=0, le=1)
    shrinkage: float = param(
        0.0, "how far covariances are pulled towards the one that classes share", ge=0, le=1, tune=(0.0, 1.0)
    )
    floor: float = param(1e-6, "smallest variance of a class in any direction, as a share of all", ge=0, lt=1)

    priors_: Array = learned()
    centre_: Array = learned()
    transform_: Array = learned()
    """From columns to whitened coordinates (p × r)."""
    means_: Array = learned()
    """Of each class, from the centre (classes × columns)."""
    deviations_: Array = learned()
    whiteners_: Array = learned()
    levels_: Array = learned()
    """The logarithm of the prior over the root of the determinant."""

    @property
    def accepts(self) -> Accepts:
        """Numbers, in any units, and weights."""
        return Accepts(weights=True)

    def conflicts(self) -> list[str]:
        """Given priors add up to 1."""
        return wrong_sum(self.priors)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Take the mean and the covariance of each class."""
        data = data.counted()
        self.priors_ = given_or_counted(self.id, self.priors, data)
        self.centre_, sums, ddof, whitening = spread_of_classes(data, self.ddof)
        bells = bells_of(sums, whitening.transform, ddof, self.shrinkage, self.floor)
        refuse_singular(self.id, bells, self.floor, data.classes)
        for doubt in (*doubts(sums, whitening), *floored(bells, self.floor, data.classes)):
            warnings.warn(doubt, MlcliWarning, stacklevel=2)
        self.transform_, self.means_, self.whiteners_ = whitening.transform, sums.mean, bells.whiteners
        self.levels_ = np.where(sums.present, logarithm(self.priors_), -np.inf) - bells.log_spreads
        free = np.where(sums.weight > ddof, sums.weight - ddof, np.inf)
        self.deviations_ = np.sqrt(np.einsum("kjj->kj", sums.scatter) / free[:, None])

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The posteriors by the rows outside each part, from sums of their classes."""
        return held_out(data, round_, steps, Quadratic(self.ddof, self.priors, self.shrinkage, self.floor))

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        scores = np.empty((len(self.levels_), len(table)))
        whiteners = [Upper.of(Upper.of(whitener).after(self.transform_)) for whitener in self.whiteners_]
        for rows, block in blocks(table.numbers):
            told = less_row(block, self.centre_)
            for score, mean, whitener, level in zip(scores, self.means_, whiteners, self.levels_, strict=True):
                away = whitener.after(less_row(told, mean))
                score[rows] = level - 0.5 * np.einsum("ij,ij->i", away, away)
        return posterior(scores.T)

    def check_learned(self) -> None:
        """A mean for each class and column, a whitener for each class."""
        classes, columns = len(self.classes_), len(self.columns_)
        directions = self.transform_.shape[-1]
        expected = [
            (self.priors_, (classes,)),
            (self.centre_, (columns,)),
            (self.transform_, (columns, directions)),
            (self.means_, (classes, columns)),
            (self.deviations_, (classes, columns)),
            (self.whiteners_, (classes, directions, directions)),
            (self.levels_, (classes,)),
        ]
        if any(np.shape(array) != shape for array, shape in expected):
            raise ValueError("means or covariances that do not fit the columns and classes")

    def explain(self) -> Explanation:
        """The priors, and the mean and deviation of each column by class."""
        names = [column.name for column in self.columns_]
        left_out = len(names) - self.transform_.shape[1]
        note = NARROW.format(left_out) if left_out else ""
        header = ("column", *self.classes_)
        return (
            prior_section(self.target_, self.classes_, self.priors_),
            Section("Means", header, tuple(rows_of(names, self.means_ + self.centre_))),
            Section("Standard deviations", header, tuple(rows_of(names, self.deviations_)), note=note),
        )


def floored(bells: Bells, floor: float, classes: tuple[str, ...]) -> Iterator[str]:
    """What a person should know of classes without a full covariance of their own."""
    flat = [label for label, least in zip(classes, bells.least, strict=True) if least < floor]
    if flat:
        yield (
            f"the covariance of {_named(flat)} is singular, and its narrowest directions are set by 'floor'; "
            "'shrinkage' or lda would be steadier"
        )
    few = [label for label, borrowed in zip(classes, bells.borrowed, strict=True) if borrowed]
    if few and len(bells.whiteners[0]):
        yield f"too few rows of {_named(few)} for a covariance of its own: it has the shared one"


def _named(labels: list[str]) -> str:
    more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"class{'es' if len(labels) > 1 else ''} {', '.join(labels[:NAMED])}{more}"
