"""CORAL: moves training rows so that their means and covariances are those of the domain that is asked about.

Formula:
    x ← m_T + (x − m_S) (C_S + l2 I)^(−½) (C_T + l2 I)^(½), with mean m and covariance C of the training rows S and
    of the rows T of the target domain (those without a target). With ``means: kept`` m_S stands in m_T's place.

Assumes:
    That domains differ by a linear map of the columns, the same for all targets; that classes are about equally
    frequent, or values alike distributed, in both, else that is taken for such a difference. Columns on one scale.

Cost:
    Two covariances and their eigenvectors: rows × p² + p³.

Choices:
    Only training rows are moved; rows that are asked about stay as they are. Covariances divide by n − 1. The
    paper moves columns that were centred in each domain, which is `means: target`, and adds 1 to all variances;
    here `l2` is small, so that covariances become equal. Without rows of another domain (protocol
    `leave-domains-out`, or rows whose target is empty) nothing is changed, which is warned of.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.prepare._columns import RowStep
from mlcli.prepare.importance_weights import NO_OTHER_DOMAIN
from mlcli.tasks.supervised import SupervisedRows


@register("coral", reference="Sun, Feng & Saenko 2016, Return of frustratingly easy domain adaptation")
class Coral(RowStep):
    """Training rows with the covariance of the target domain."""

    l2: float = param(1e-6, "what is added to the variance of every column", gt=0, tune=(1e-6, 1.0))
    means: str = param("target", "which means the rows get", choices=("target", "kept"))

    moved_: Array = learned()
    """How far the mean of each column moves, and its standard deviation before and after."""

    accepts = Accepts(weights=True, unlabelled=True)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The rows, moved."""
        if data.unlabelled is None or len(data.unlabelled) < 2 or len(data) < 2:
            warnings.warn(NO_OTHER_DOMAIN, MlcliWarning, stacklevel=2)
            self.moved_ = np.empty((0, 3))
            return data
        X, other = data.table.numbers, data.unlabelled.counted()
        (mean, own), (aim, wanted) = _moments(X, data.weights), _moments(other.table.numbers, other.weights)
        aim = mean if self.means == "kept" else aim
        ridge = self.l2 * np.eye(len(mean))
        moved = aim + (X - mean) @ _power(own + ridge, -0.5) @ _power(wanted + ridge, 0.5)
        spreads = (np.sqrt(np.diag(one)) for one in (own, wanted))
        self.moved_ = np.column_stack([aim - mean, *spreads])
        table = data.table
        return data.with_table(type(table)(table.columns, np.ascontiguousarray(moved), table.codes))

    def explain(self) -> Explanation:
        """What became of each column."""
        if self.moved_ is None:
            return ()
        if not len(self.moved_):
            return (Lines("Training rows", ("none is moved: there were no rows of another domain",)),)
        moved = zip(self.columns_, self.moved_.tolist(), strict=True)
        rows = tuple((column.name, *numbers) for column, numbers in moved)
        header = ("column", "shift of the mean", "standard deviation before", "after")
        return (Table("Training rows moved to the target domain", header, rows),)


def _moments(X: Array, weights: Array) -> tuple[Array, Array]:
    """The mean and the covariance of weighted rows."""
    mean = np.average(X, axis=0, weights=weights)
    apart = (X - mean) * np.sqrt(weights)[:, None]
    return mean, apart.T @ apart / max(float(weights.sum()) - 1.0, 1.0)


def _power(matrix: Array, exponent: float) -> Array:
    """A power of a symmetric matrix with eigenvalues above 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, np.finfo(np.float64).tiny) ** exponent) @ vectors.T)
