"""QDA: each class is a normal distribution with a mean and a covariance of its own.

Formula:
    P(k | x) ∝ π_k N(x; μ_k, Σ_k) with N(x; μ, Σ) = exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √((2π)^p |Σ|). π_k is the
    share of the class in training, μ_k its mean, and Σ_k = S_k / (N_k − ddof) with

        S_k = Σ_{i in k} w_i (x_i − μ_k)(x_i − μ_k)ᵀ.

    With `shrinkage` s it is (1 − s) Σ_k + s Σ, Σ being the covariance that `lda` has; s = 1 is `lda`.

Assumes:
    Numbers normally distributed within each class, and far more rows than columns in each. Decision
    boundaries are quadratic.

Cost:
    rows × columns² + classes × columns³ to fit, classes × columns² per row to predict.

Choices:
    The notes' density has (2π)^n in the place of (2π)^(n/2); it cancels. `ddof` 0 is maximum likelihood, as in
    scikit-learn. A class that is absent in training has probability 0.

    Directions in which no class varies (constant columns, columns that follow from others) are left out, as in
    `lda`. A single class may still vary in fewer directions than the others: it has no more rows than columns,
    or lacks a level. Its density would be infinite there, so no direction of a class has a variance below
    `floor` times the shared one, and a warning names the class; with `floor` 0 it is refused. A class with one
    row has the shared covariance. More rows, `shrinkage`, or `lda` are the better remedy.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Step
from mlcli.core.moments import less_row
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags, Table, blocks_of
from mlcli.engines.covariances import Normal, of_whitener
from mlcli.engines.posteriors import log_priors, posterior, priors_of, refuse_misfitting_priors
from mlcli.engines.sums import TrainingSums, sums_of_classes
from mlcli.engines.symmetric import Solved, solved
from mlcli.models.discriminants._leave_one_out import qda_without_each_row
from mlcli.models.discriminants._normal_classes import (
    LEFT_OUT,
    NormalClasses,
    freedom,
    rounded,
    whitening,
)
from mlcli.tasks.supervised import Classifier, LabelledRows


@register("qda", reference="Hastie, Tibshirani & Friedman 2009, section 4.3; Friedman 1989")
class QuadraticDiscriminants(NormalClasses, Classifier, LeaveOneOut):
    """Normal classes, each with its covariance."""

    ddof: int = param(
        1, "delta degrees of freedom: a covariance is divided by the rows of its class less this", ge=0, le=1
    )
    shrinkage: float = param(
        0.0, "shrinkage of covariances towards a shared one", ge=0, le=1, tune=Range(0.0, 1.0, simpler="high")
    )
    floor: float = param(1e-6, "smallest variance of a class in any direction, as a share of all", ge=0, lt=1)

    deviations_: Array = learned("classes", "columns")
    whiteners_: Array = learned("classes", "columns", "directions")
    """What makes the covariance of each class the identity (classes × columns × directions)."""
    levels_: Array = learned("classes")
    """The logarithm of the prior over the root of the determinant."""

    accepts = Accepts(weights=True, large=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Learn the mean and the covariance of each class."""
        data = data.counted()
        refuse_misfitting_priors(self.id, self.priors, data)
        sums, ddof = sums_of_classes(data), self.ddof
        free = sums.weight - ddof
        covariances = sums.scatter / np.where(free > 0, free, 1.0)[:, None, None]
        if self.shrinkage:
            shared = sums.within / freedom(sums, ddof)
            covariances = (1 - self.shrinkage) * covariances + self.shrinkage * shared
        inverse = solved(covariances, np.broadcast_to(np.eye(len(sums.origin)), sums.scatter.shape))
        log_prior = log_priors(sums.weight, self.priors)
        if self._surely_above_the_floor(sums, covariances, inverse)[~np.isneginf(log_prior)].all():
            self.whiteners_ = np.asarray(np.linalg.cholesky(inverse.solution))
            log_spreads = 0.5 * inverse.log_determinant
        else:
            whitened = whitening(data, sums, ddof)
            ddof = whitened.ddof
            self.whiteners_, log_spreads = self._with_floor(data, sums, whitened.transform, ddof)
        self.priors_ = priors_of(data.class_totals, self.priors)
        self.centre_, self.means_ = sums.origin, sums.mean
        self.levels_ = log_prior - log_spreads
        free = np.where(sums.weight > ddof, sums.weight - ddof, np.inf)
        self.deviations_ = np.sqrt(sums.squares / free[:, None])

    def _surely_above_the_floor(self, sums: TrainingSums, covariances: Array, inverse: Solved) -> Flags:
        """The classes whose covariance has no direction near the floor, and is far from singular."""
        own, squares = np.einsum("kii->ki", covariances), sums.squares.sum(axis=0)
        shared = squares / freedom(sums, self.ddof)
        too_narrow = max(1e-5, 100.0 * self.floor) * np.broadcast_to(shared, own.shape)
        shares = np.divide(own, too_narrow, out=np.full_like(own, 1e100), where=too_narrow > 0)
        wide = (inverse.left * shares).min(axis=1, initial=1.0) >= 1
        has_rows = (sums.weight > self.ddof) & ~rounded(sums, squares).any()
        # With 1e-5 of the variance of each column left by the others, sums give the densities to ten digits.
        return np.asarray(has_rows & wide & (inverse.least >= 1e-5))

    def _with_floor(
        self, data: LabelledRows, sums: TrainingSums, transform: Array, ddof: int
    ) -> tuple[Array, Array]:
        """The whitener of each covariance, and half the logarithm of its determinant, by its spectrum."""
        free, identity = sums.weight - ddof, np.eye(transform.shape[1])
        own = transform.T @ sums.scatter @ transform / np.where(free > 0, free, 1.0)[:, None, None]
        own[free <= 0] = identity
        variances, directions = np.linalg.eigh((1 - self.shrinkage) * own + self.shrinkage * identity)
        least = variances.min(axis=1, initial=1.0)
        singular = [label for label, smallest in zip(data.classes, least, strict=True) if smallest <= 1e-12]
        if singular and self.floor == 0:
            message = f"{self.id}: the covariance of class {' and '.join(singular[:3])} is singular"
            hint = "raise 'shrinkage' or 'floor', or use lda, whose classes share one covariance"
            raise FitError(message, hint=hint)
        flat = [label for label, smallest in zip(data.classes, least, strict=True) if smallest < self.floor]
        if flat:
            message = f"the covariance of {_named(flat)} is singular, and its narrowest directions are set by "
            message += "'floor'; 'shrinkage' or lda would be steadier"
            warnings.warn(message, MlcliWarning, stacklevel=3)
        few = (free <= 0) & (sums.weight > 0) & bool(len(identity))
        if few.any():
            labels = [label for label, has_few in zip(data.classes, few, strict=True) if has_few]
            message = f"too few rows of {_named(labels)} for a covariance of its own: it has the shared one"
            warnings.warn(message, MlcliWarning, stacklevel=3)
        variances = np.maximum(variances, self.floor)
        variances[variances <= 0] = 1.0
        return transform @ (directions / np.sqrt(variances)[:, None, :]), 0.5 * np.log(variances).sum(axis=1)

    def leave_one_out(self, rows: LabelledRows, steps: Sequence[Step]) -> Array | None:
        """The posteriors of each row by the discriminants of all others."""
        refuse_misfitting_priors(self.id, self.priors, rows)
        if self.shrinkage:
            return None
        return qda_without_each_row(rows, steps, self.priors, self.ddof, self.floor)

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        scores = np.empty((len(table), len(self.levels_)))
        for rows in blocks_of(len(table), len(self.columns_), 2**17):
            numbers = less_row(table.numbers[rows], self.centre_)
            for k, mean in enumerate(self.means_):
                whitened = less_row(numbers, mean) @ self.whiteners_[k]
                scores[rows, k] = self.levels_[k] - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return posterior(scores)

    def normals(self) -> list[Normal]:
        """The covariance of each class."""
        free = np.maximum(self.class_totals_ - self.ddof, 0.0)
        unit = np.sqrt(free @ self.deviations_**2 / (free.sum() or 1.0))
        return [of_whitener(whitener, unit) for whitener in self.whiteners_]

    def explain(self) -> findings.Explanation:
        """The priors, and the mean, deviation and covariances of the columns by class."""
        left_out = len(self.columns_) - self.whiteners_.shape[2]
        note = LEFT_OUT.format(left_out) if left_out else ""
        deviations = self.by_class("Standard deviations", self.deviations_, note)
        return *super().explain(), deviations, *self.covariance_tables()


def _named(labels: list[str]) -> str:
    """Up to three classes by name."""
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return f"class{'es' if len(labels) > 1 else ''} {', '.join(labels[:3])}{more}"
