"""CORAL: aligns the mean and covariance of the training rows with those of the target domain.

Formula:
    x ← m_T + (x − m_S) (C_S + l2 I)^(−½) (C_T + l2 I)^(½), with mean m and covariance C of the training rows S and
    of the rows T of the target domain (those without a target value). With ``means: kept`` m_S replaces m_T.

Assumes:
    The domains differ by a linear map of the columns that is the same for all targets. Class frequencies, or the
    distribution of target values, are about equal in both domains; otherwise their difference is removed, too.
    Columns on one scale.

Cost:
    Two covariance matrices and their eigendecompositions: rows × p² + p³.

Choices:
    Only training rows are changed; rows to be predicted stay as they are. Covariances divide by n − 1. The paper
    centres the columns in each domain, which is `means: target`, and adds 1 to all variances; here `l2` is small,
    so that the covariances become equal. Without rows of another domain (protocol `leave-domains-out`, or rows
    with an empty target) nothing changes, and a warning is given.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array
from mlcli.prepare._columns import RowStep
from mlcli.prepare.importance_weights import NO_OTHER_DOMAIN
from mlcli.tasks.supervised import SupervisedRows


@register("coral", reference="Sun, Feng & Saenko 2016, Return of frustratingly easy domain adaptation")
class Coral(RowStep):
    """Give the training rows the covariance of the target domain."""

    l2: float = param(1e-6, "added to the variance of every column", gt=0, tune=(1e-6, 1.0))
    means: str = param("target", "the means that the rows get", choices=("target", "kept"))

    moved_: Array = learned()
    """For each column the shift of its mean, and its standard deviation before and after."""

    accepts = Accepts(weights=True, unlabelled=True)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The training rows, aligned with the target domain."""
        if data.unlabelled is None or len(data.unlabelled) < 2 or len(data) < 2:
            warnings.warn(NO_OTHER_DOMAIN, MlcliWarning, stacklevel=2)
            self.moved_ = np.empty((0, 3))
            return data
        table, target_rows = data.table, data.unlabelled.counted()
        source_mean, source_covariance = _mean_and_covariance(table.numbers, data.weights)
        mean, target_covariance = _mean_and_covariance(target_rows.table.numbers, target_rows.weights)
        if self.means == "kept":
            mean = source_mean
        ridge = self.l2 * np.eye(len(mean))
        whitening = _power(source_covariance + ridge, -0.5)
        recolouring = _power(target_covariance + ridge, 0.5)
        aligned = mean + (table.numbers - source_mean) @ whitening @ recolouring
        deviations = (np.sqrt(np.diag(covariance)) for covariance in (source_covariance, target_covariance))
        self.moved_ = np.column_stack([mean - source_mean, *deviations])
        return data.with_table(type(table)(table.columns, np.ascontiguousarray(aligned), table.codes))

    def explain(self) -> Explanation:
        """How much each column changed."""
        if self.moved_ is None:
            return ()
        if not len(self.moved_):
            return (Lines("Training rows", ("unchanged: there were no rows of another domain",)),)
        rows = tuple(
            (column.name, *numbers) for column, numbers in zip(self.columns_, self.moved_.tolist(), strict=True)
        )
        header = ("column", "shift of the mean", "standard deviation before", "after")
        return (Table("Training rows moved to the target domain", header, rows),)


def _mean_and_covariance(X: Array, weights: Array) -> tuple[Array, Array]:
    mean = np.average(X, axis=0, weights=weights)
    centred = (X - mean) * np.sqrt(weights)[:, None]
    return mean, centred.T @ centred / max(float(weights.sum()) - 1.0, 1.0)


def _power(matrix: Array, exponent: float) -> Array:
    """A power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, np.finfo(np.float64).tiny) ** exponent) @ vectors.T)
