"""Normal classes: what is known of them, and coordinates in which the covariance that they share is the identity.

Singular values show which columns follow from others; directions in which classes do not vary are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence, RowExplainer
from mlcli.core.errors import MlcliWarning
from mlcli.core.moments import ROUNDING_OF_SQUARES
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.covariances import (
    COVARIANCE_TYPES,
    CovarianceType,
    Normal,
    covariance_table,
    drawn,
    log_density,
    log_joint,
)
from mlcli.engines.posteriors import logarithm, posterior, prior_conflicts, prior_table, table_by_class
from mlcli.engines.sums import TrainingSums
from mlcli.tasks.supervised import Classifier, LabelledRows

LEFT_OUT = (
    "Directions left out, since classes do not vary there (constant columns, columns that follow from others): {}."
)


@dataclass(kw_only=True, eq=False)
class NormalClasses(Classifier, CountsParameters, Generative, GivesEvidence, RowExplainer):
    """A normal distribution for each class."""

    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )

    priors_: Array = learned("classes")
    centre_: Array = learned("columns")
    means_: Array = learned("classes", "columns")
    """The mean of each class, less the centre (classes × columns)."""

    def conflicts(self) -> list[str]:
        """Given priors add up to 1."""
        return prior_conflicts(self.priors)

    def normals(self) -> Sequence[Normal]:
        """The covariance of each class."""
        raise NotImplementedError

    @property
    def covariance_type(self) -> CovarianceType:
        """The form of the covariances."""
        return COVARIANCE_TYPES["full"]

    def adjustable_parameters(self, table: Table) -> float | None:
        """A mean and a covariance for each class with rows, and all priors but one."""
        of_class = len(self.columns_) + self.covariance_type.free_parameters(len(self.columns_))
        present = np.count_nonzero(self.class_totals_)
        return float(present * of_class + present - 1)

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of the density of a row, whatever its class."""
        return log_density(table.numbers - self.centre_, logarithm(self.priors_), self.means_, self.normals())

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """A class by its prior, then a row of its normal distribution."""
        roots = [normal.root for normal in self.normals()]
        classes, X = drawn(n, self.priors_, self.means_, roots, rng)
        return self.drawn((X + self.centre_).T, classes)

    def explain(self) -> findings.Explanation:
        """The priors and the means; subclasses add more."""
        return (
            prior_table(self.target_, self.classes_, self.priors_),
            self.by_class("Means", self.means_ + self.centre_),
        )

    def covariance_tables(self) -> findings.Explanation:
        """The covariance of each class that can occur."""
        classes = zip(self.classes_, self.normals(), self.priors_, strict=True)
        by_class = {name: normal.covariance for name, normal, prior in classes if prior > 0}
        return covariance_table("Covariances", [column.name for column in self.columns_], by_class, self.target_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Bayes' rule for the row: prior times density of each class, and its share of their sum."""
        priors, X = logarithm(self.priors_), table.numbers[:1] - self.centre_
        joint = log_joint(X, priors, self.means_, self.normals())[:, 0]
        possible = np.isfinite(joint)
        density = np.subtract(joint, priors, out=np.full_like(joint, -np.inf), where=possible)
        lines = (("log prior", priors), ("log density", density), ("log of the product", joint))
        shares = posterior(joint[None])[0] if possible.any() else self.priors_
        rows = tuple((name, *values.tolist()) for name, values in (*lines, ("share of the products", shares)))
        return (findings.Table("Prior times density", ("factor", *self.classes_), rows),)

    def by_class(self, title: str, values: Array, note: str = "") -> findings.Table:
        """A table of values by class and column (classes × columns)."""
        return table_by_class(title, [column.name for column in self.columns_], self.classes_, values, note)


@dataclass(frozen=True, eq=False)
class Whitening:
    """``transform`` (columns × directions) makes the shared covariance the identity."""

    transform: Array
    ddof: int
    """The requested one, or 0 if the rows weigh too little for it."""


def whitening(data: LabelledRows, sums: TrainingSums, ddof: int) -> Whitening:
    """The whitening of training rows, with warnings about directions that it leaves out."""
    size = np.abs(sums.mean + sums.origin)
    varies = np.asarray((sums.squares > sums.weight[:, None] * (ROUNDING_OF_SQUARES * size) ** 2).any(axis=0))
    if freedom(sums, ddof) <= 0 and varies.any():
        message = f"the rows weigh too little for covariances with ddof {ddof}: ddof 0 is taken"
        warnings.warn(message, MlcliWarning, stacklevel=3)
        ddof = 0
    divisor = freedom(sums, ddof) or 1.0
    units = np.sqrt(sums.squares.sum(axis=0)[varies] / divisor)
    centred = data.table.numbers[:, varies] - (sums.mean + sums.origin)[:, varies][data.y]
    reduced = np.linalg.qr(centred / units * np.sqrt(data.weights / divisor)[:, None], mode="r")
    _, spreads, directions = np.linalg.svd(reduced, full_matrices=False)
    kept = spreads > 1e-4  # in standard deviations of columns, as in scikit-learn
    transform = np.zeros((len(varies), int(kept.sum())))
    transform[varies] = directions[kept].T / spreads[kept] / units[:, None]

    means = sums.mean[sums.weight > 0]
    differs = means.max(axis=0) - means.min(axis=0) > 1e-9 * np.abs(means + sums.origin).max(axis=0)
    telling = int((~varies & differs).sum())
    if telling:
        message = f"{telling} column{'s do' if telling > 1 else ' does'} not vary within any class, though the "
        message += "classes differ there: no covariance can use that, and it is left out"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    varying, dimensions = int(varies.sum()), int(kept.sum())
    if dimensions < varying and freedom(sums, 1) < varying:
        message = f"{varying} columns vary within classes, and the rows show only {dimensions} directions: what "
        message += "lies outside them is left out; pca in front, or more rows, would help"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    return Whitening(transform, ddof)


def from_centre(sums: TrainingSums) -> Array:
    """The means of classes less the mean of all rows; 0 for a class without rows."""
    return np.where(sums.weight[:, None] > 0, sums.mean - sums.overall.mean, 0.0)


def rounded(sums: TrainingSums, squares: Array) -> Flags:
    """The columns that vary, but within classes not at all, or so little that it may be rounding."""
    size = np.abs(sums.mean + sums.origin).max(axis=0)
    least = sums.weight.sum() * (1e-10 * size) ** 2
    return np.asarray((squares <= least) & (sums.overall.squares > 0))


def freedom(sums: TrainingSums, ddof: int) -> float:
    """The divisor of the shared scatter."""
    return float(sums.weight.sum() - ddof * np.count_nonzero(sums.weight))
