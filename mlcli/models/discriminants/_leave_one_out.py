"""Leave-one-out of normal classes (lda, qda): a row changes the mean and the scatter of its own class only.

Without a row a = x − μ of a class with n rows, the mean moves by −a / (n − 1) and the scatter loses
f·aaᵀ with f = n / (n − 1). By Sherman and Morrison's formula, with h = aᵀS⁻¹a,

    (S − f·aaᵀ)⁻¹ = S⁻¹ + f·S⁻¹aaᵀS⁻¹ / (1 − f·h),    |S − f·aaᵀ| = |S|·(1 − f·h).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.abilities import LeaveOneOutTable, centred
from mlcli.core.model import Step
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.posteriors import certain_posterior, log_priors
from mlcli.tasks.supervised import LabelledRows

LEAST = 1e-5
"""The smallest eigenvalue that leaves enough digits, in units of columns or of the shared covariance."""
ROUNDING = 2e-15
"""The relative error of a squared distance, for a covariance without small eigenvalues."""

Priors = tuple[float, ...] | None


@dataclass(frozen=True, eq=False)
class Classes:
    """Complete rows of normal classes, in columns that vary by about 1 within classes."""

    X: Array
    y: Rows
    """The class of each row among those that have rows."""
    present: Codes
    counts: Array
    means: Array
    deviations: Array
    """Each row less the mean of its class."""
    scatter: Array
    """The scatter of all classes, each about its own mean."""
    least: float
    """The smallest eigenvalue of the scatter, which has a diagonal of ones."""

    @classmethod
    def of(cls, rows: LabelledRows, steps: Sequence[Step]) -> Classes | None:
        """The classes; None if a class has one row, or columns hardly vary within classes or are collinear."""
        view = LeaveOneOutTable.behind(rows.table, steps)
        present, y, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
        if view is None or counts.min() < 2:
            return None
        numbers = view.table.numbers[:, ~view.redundant]
        numbers = numbers[:, np.ptp(numbers, axis=0) > 0]
        X = centred(numbers)
        means = np.array([X[y == k].mean(axis=0) for k in range(len(counts))])
        deviations = X - means[y]
        unit = np.sqrt((deviations**2).sum(axis=0))
        largest = np.abs(numbers).max(axis=0, initial=0.0)
        if (unit <= 1e-8 * np.sqrt(len(X)) * largest).any():  # within classes a column may vary by rounding alone
            return None
        deviations /= unit
        scatter = deviations.T @ deviations
        least = float(np.linalg.eigvalsh(scatter).min(initial=1.0))
        if least < LEAST:
            return None
        return cls(X / unit, y, present, counts.astype(np.float64), means / unit, deviations, scatter, least)

    def posteriors(self, rows: LabelledRows, priors: Priors, log_densities: Array, errors: Array) -> Array:
        """The posteriors of each row from its log-densities by class without it; NaN if their errors matter."""
        totals = rows.class_totals - rows.outputs
        joint = np.full(totals.shape, -np.inf)
        joint[:, self.present] = log_densities
        return certain_posterior(joint + log_priors(totals, priors), errors)


def lda_without_each_row(rows: LabelledRows, steps: Sequence[Step], priors: Priors, ddof: int) -> Array | None:
    """The posteriors of each row by linear discriminants of all others."""
    classes = Classes.of(rows, steps)
    freedom = 0 if classes is None else len(rows) - 1 - ddof * len(classes.counts)
    if classes is None or freedom <= 0:
        return None
    index, ratio = np.arange(len(rows)), (classes.counts / (classes.counts - 1))[classes.y]
    whitener = np.linalg.inv(np.linalg.cholesky(classes.scatter)).T
    deviations = classes.deviations @ whitener
    left = 1 - ratio * (deviations**2).sum(axis=1)
    from_means = (classes.X @ whitener)[:, None] - classes.means @ whitener
    from_means[index, classes.y] = ratio[:, None] * deviations
    certain = left * classes.least >= LEAST
    across = np.einsum("nkp,np->nk", from_means, deviations)
    lengths = (from_means**2).sum(axis=2) + (ratio / np.where(certain, left, 1.0))[:, None] * across**2
    lengths *= freedom
    errors = np.where(certain, ROUNDING / (classes.least * np.where(certain, left, 1.0)), np.inf)
    return classes.posteriors(rows, priors, -0.5 * lengths, errors * (1 + _second_smallest(lengths)))


def qda_without_each_row(
    rows: LabelledRows, steps: Sequence[Step], priors: Priors, ddof: int, floor: float
) -> Array | None:
    """The posteriors of each row by quadratic discriminants of all others; no variance may be near the floor."""
    classes = Classes.of(rows, steps)
    if classes is None or classes.counts.min() - 1 - ddof <= 0:
        return None
    shared = classes.scatter / (len(rows) - ddof * len(classes.counts))
    whitener = np.linalg.inv(np.linalg.cholesky(shared)).T
    X, means, deviations = classes.X @ whitener, classes.means @ whitener, classes.deviations @ whitener
    log_densities, errors = np.empty((len(X), len(means))), np.empty(len(X))
    needed, lengths = max(LEAST, 100 * floor), np.empty((len(X), len(means)))
    for k, count in enumerate(classes.counts):
        own, free, ratio = classes.y == k, count - ddof, count / (count - 1)
        variances, directions = np.linalg.eigh(deviations[own].T @ deviations[own] / free)
        if variances.min(initial=1.0) < needed:
            return None
        lengths[:, k] = (((X - means[k]) @ (directions / np.sqrt(variances))) ** 2).sum(axis=1)
        log_determinant = np.full(len(X), np.log(variances).sum())
        leverage = lengths[own, k] / free
        left = 1 - ratio * leverage
        certain = left * variances.min(initial=1.0) >= needed
        left = np.where(certain, left, 1.0)
        lengths[own, k] = ratio**2 * leverage / left * (free - 1)
        log_determinant[own] += len(shared) * np.log(free / (free - 1)) + np.log(left)
        log_densities[:, k] = -0.5 * (log_determinant + lengths[:, k])
        errors[own] = np.where(certain, ROUNDING / (classes.least * variances.min(initial=1.0) * left), np.inf)
    return classes.posteriors(rows, priors, log_densities, errors * (1 + _second_smallest(lengths)))


def _second_smallest(lengths: Array) -> Array:
    """The second smallest number of each row, by which the two likeliest classes differ."""
    return np.partition(lengths, min(1, lengths.shape[1] - 1), axis=1)[:, min(1, lengths.shape[1] - 1)]
