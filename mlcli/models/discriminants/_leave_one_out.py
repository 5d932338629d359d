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
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.posteriors import certain_posterior, log_priors
from mlcli.tasks.classification import LabelledRows

LEAST = 1e-5
"""The smallest eigenvalue of a covariance that leaves enough digits, in units of its columns or the shared one."""
ROUNDING = 2e-15
"""The error of a squared distance, in units of it and for a covariance without small eigenvalues."""

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
    away: Array
    """Each row less the mean of its class."""
    scatter: Array
    """Of all classes, each about its own mean."""
    least: float
    """The smallest eigenvalue of the scatter, which has a diagonal of ones."""

    @classmethod
    def of(cls, rows: LabelledRows, steps: Sequence[Step]) -> Classes | None:
        """The classes; None where a class has one row, or columns hardly vary within classes or are collinear."""
        seen = LeaveOneOutTable.behind(rows.table, steps)
        present, y, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
        if seen is None or counts.min() < 2:
            return None
        numbers = seen.table.numbers[:, ~seen.redundant]
        numbers = numbers[:, np.ptp(numbers, axis=0) > 0]
        X = centred(numbers)
        means = np.array([X[y == k].mean(axis=0) for k in range(len(counts))])
        away = X - means[y]
        unit = np.sqrt((away**2).sum(axis=0))
        largest = np.abs(numbers).max(axis=0, initial=0.0)
        if (unit <= 1e-8 * np.sqrt(len(X)) * largest).any():  # within classes a column may vary by rounding alone
            return None
        away /= unit
        scatter = away.T @ away
        least = float(np.linalg.eigvalsh(scatter).min(initial=1.0))
        if least < LEAST:
            return None
        return cls(X / unit, y, present, counts.astype(np.float64), means / unit, away, scatter, least)

    def posteriors(self, rows: LabelledRows, priors: Priors, log_densities: Array, errors: Array) -> Array:
        """Those of each row, from its log-densities by class without it; NaN where errors of these matter."""
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
    away = classes.away @ whitener
    left = 1 - ratio * (away**2).sum(axis=1)
    from_means = (classes.X @ whitener)[:, None] - classes.means @ whitener
    from_means[index, classes.y] = ratio[:, None] * away
    known = left * classes.least >= LEAST
    across = np.einsum("nkp,np->nk", from_means, away)
    lengths = (from_means**2).sum(axis=2) + (ratio / np.where(known, left, 1.0))[:, None] * across**2
    lengths *= freedom
    errors = np.where(known, ROUNDING / (classes.least * np.where(known, left, 1.0)), np.inf)
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
    X, means, away, columns = classes.X @ whitener, classes.means @ whitener, classes.away @ whitener, len(shared)
    log_densities, errors = np.empty((len(X), len(means))), np.empty(len(X))
    needed, lengths = max(LEAST, 100 * floor), np.empty((len(X), len(means)))
    for k, count in enumerate(classes.counts):
        own, free, ratio = classes.y == k, count - ddof, count / (count - 1)
        variances, directions = np.linalg.eigh(away[own].T @ away[own] / free)
        if variances.min(initial=1.0) < needed:
            return None
        lengths[:, k] = (((X - means[k]) @ (directions / np.sqrt(variances))) ** 2).sum(axis=1)
        log_determinant = np.full(len(X), np.log(variances).sum())
        leverage = lengths[own, k] / free
        left = 1 - ratio * leverage
        known = left * variances.min(initial=1.0) >= needed
        left = np.where(known, left, 1.0)
        lengths[own, k] = ratio**2 * leverage / left * (free - 1)
        log_determinant[own] += columns * np.log(free / (free - 1)) + np.log(left)
        log_densities[:, k] = -0.5 * (log_determinant + lengths[:, k])
        errors[own] = np.where(known, ROUNDING / (classes.least * variances.min(initial=1.0) * left), np.inf)
    return classes.posteriors(rows, priors, log_densities, errors * (1 + _second_smallest(lengths)))


def _second_smallest(lengths: Array) -> Array:
    """The second smallest number of each row: the size of what two likely classes differ in."""
    return np.partition(lengths, min(1, lengths.shape[1] - 1), axis=1)[:, min(1, lengths.shape[1] - 1)]
