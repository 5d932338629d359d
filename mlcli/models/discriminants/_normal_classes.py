"""Normal classes: what is known of them, and coordinates in which the covariance that they share is the identity.

Singular values show which columns follow from others; directions in which classes do not vary are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
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
from mlcli.tasks.classification import Classifier, LabelledRows

UNCERTAIN = 1e-10
"""A column that varies by less than this share of its size may vary by rounding only."""
LEAST_SPREAD = 1e-4
"""A direction in which classes vary less than this share of what columns do is left out, as in scikit-learn."""
SAME = 1e-9
"""Means of classes that are closer than this share of the spread do not differ."""
NARROW = (
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
    """Of each class, from the centre (classes × columns)."""

    def conflicts(self) -> list[str]:
        """Given priors add up to 1."""
        return prior_conflicts(self.priors)

    def normals(self) -> Sequence[Normal]:
        """The covariance of each class."""
        raise TypeError(f"{type(self).__name__} does not say what covariances it has")

    @property
    def covariance_type(self) -> CovarianceType:
        """What the covariance of a class may look like."""
        return COVARIANCE_TYPES["full"]

    def adjustable_parameters(self, table: Table) -> float | None:
        """Of each class that there is a mean and a covariance, and of the priors one less than there are."""
        of_class = len(self.columns_) + self.covariance_type.free_parameters(len(self.columns_))
        present = np.count_nonzero(self.class_totals_)
        return float(present * of_class + present - 1)

    def roots(self) -> list[Array]:
        """The root of each covariance."""
        return [normal.root for normal in self.normals()]

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of the density of a row, whatever its class."""
        return log_density(table.numbers - self.centre_, logarithm(self.priors_), self.means_, self.normals())

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """A class by its prior, then a row of its normal distribution."""
        classes, away = drawn(n, self.priors_, self.means_, self.roots(), rng)
        return self.drawn((away + self.centre_).T, classes)

    def explain(self) -> findings.Explanation:
        """The priors and the means; then what a subclass tells of each class."""
        return (
            prior_table(self.target_, self.classes_, self.priors_),
            self.by_class("Means", self.means_ + self.centre_),
        )

    def covariance_tables(self) -> findings.Explanation:
        """The covariance of each class that has one."""
        known = zip(self.classes_, self.normals(), self.priors_, strict=True)
        of_class = {name: normal.covariance for name, normal, prior in known if prior > 0}
        return covariance_table("Covariances", [column.name for column in self.columns_], of_class, self.target_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Bayes' rule for the row: prior times density of each class, and its share of their sum."""
        priors, away = logarithm(self.priors_), table.numbers[:1] - self.centre_
        joint = log_joint(away, priors, self.means_, self.normals())[:, 0]
        possible = np.isfinite(joint)
        density = np.subtract(joint, priors, out=np.full_like(joint, -np.inf), where=possible)
        lines = (("log prior", priors), ("log density", density), ("log of the product", joint))
        shares = posterior(joint[None])[0] if possible.any() else self.priors_
        rows = tuple((what, *values.tolist()) for what, values in (*lines, ("share of the products", shares)))
        return (findings.Table("Prior times density", ("factor", *self.classes_), rows),)

    def by_class(self, title: str, values: Array, note: str = "") -> findings.Table:
        """What each class has in each column (classes × columns)."""
        return table_by_class(title, [column.name for column in self.columns_], self.classes_, values, note)


@dataclass(frozen=True, eq=False)
class Whitening:
    """``transform`` (columns × directions) makes the shared covariance the identity."""

    transform: Array
    varies: Flags
    """The columns that vary within some class."""
    ddof: int
    """What the rows allow of what was asked."""


def whitening(data: LabelledRows, sums: TrainingSums, ddof: int) -> Whitening:
    """The whitening of training rows, with a warning of what it leaves out."""
    size = np.abs(sums.mean + sums.origin)
    varies = np.asarray((sums.squares > sums.weight[:, None] * (ROUNDING_OF_SQUARES * size) ** 2).any(axis=0))
    ddof = _possible(ddof, sums, varies)
    divisor = freedom(sums, ddof) or 1.0
    units = np.sqrt(sums.squares.sum(axis=0)[varies] / divisor)
    means = (sums.mean + sums.origin)[:, varies]

    away = data.table.numbers[:, varies] - means[data.y]
    reduced = np.linalg.qr(away / units * np.sqrt(data.weights / divisor)[:, None], mode="r")
    _, spreads, directions = np.linalg.svd(reduced, full_matrices=False)
    kept = spreads > LEAST_SPREAD
    transform = np.zeros((len(varies), int(kept.sum())))
    transform[varies] = directions[kept].T / spreads[kept] / units[:, None]
    result = Whitening(transform, varies, ddof)
    for doubt in _doubts(sums, result):
        warnings.warn(doubt, MlcliWarning, stacklevel=3)
    return result


def from_centre(sums: TrainingSums) -> Array:
    """The means of the classes from the mean of all rows; those of classes without rows are there, too."""
    return np.where(sums.weight[:, None] > 0, sums.mean - sums.overall.mean, 0.0)


def rounded(sums: TrainingSums, squares: Array) -> Flags:
    """The columns that vary, but within classes not at all, or by what may be rounding."""
    size = np.abs(sums.mean + sums.origin).max(axis=0)
    least = sums.weight.sum() * (UNCERTAIN * size) ** 2
    return np.asarray((squares <= least) & (sums.overall.squares > 0))


def freedom(sums: TrainingSums, ddof: int) -> float:
    """What the shared scatter is divided by."""
    return float(sums.weight.sum() - ddof * np.count_nonzero(sums.weight))


def _possible(ddof: int, sums: TrainingSums, varies: Flags) -> int:
    """``ddof``, or 0 with a warning where rows weigh so little that nothing would be left to divide by."""
    if freedom(sums, ddof) > 0 or not varies.any():
        return ddof
    text = f"the rows weigh too little for covariances with ddof {ddof}: ddof 0 is taken"
    warnings.warn(text, MlcliWarning, stacklevel=3)
    return 0


def _doubts(sums: TrainingSums, whitening: Whitening) -> Iterator[str]:
    """What a person should know of directions that are left out."""
    means = sums.mean[sums.weight > 0]
    apart = means.max(axis=0) - means.min(axis=0)
    telling = int((~whitening.varies & (apart > SAME * np.abs(means + sums.origin).max(axis=0))).sum())
    if telling:
        yield (
            f"{telling} column{'s do' if telling > 1 else ' does'} not vary within any class, though the classes "
            "differ there: no covariance can use that, and it is left out"
        )
    varying, directions = int(whitening.varies.sum()), whitening.transform.shape[1]
    if directions < varying and freedom(sums, 1) < varying:
        yield (
            f"{varying} columns vary within classes, and the rows show only {directions} directions: what lies "
            "outside them is left out; pca in front, or more rows, would help"
        )
