"""The columns that densities describe, and their components as tables: where these lie, and how wide they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.em import Mixture
from mlcli.tasks.unsupervised import UnlabelledRows

SET_BY_FLOOR = (
    "columns follow from each other in the training rows, or outnumber them, and 'floor' sets how dense such rows "
    "are; leave columns out, or try covariance: diagonal"
)
"""What is to be known of a covariance that lies on the floor."""


def varying_columns(data: UnlabelledRows) -> tuple[Rows, Array, Array]:
    """The places of the columns that vary, with their means and standard deviations.

    A column of one value would have an infinite density: it is left out, with a warning. A row alone has none.
    """
    columns = data.table.number_columns
    if not columns:
        raise FitError("there is no column to describe")
    found = moments(data.table.numbers, data.weights)
    varies = np.flatnonzero(found.variance > 0)
    constant = [column.name for column, variance in zip(columns, found.variance, strict=True) if variance == 0]
    if not len(varies):
        raise FitError("the training rows are all equal: a density needs rows that differ")
    if constant:
        text = f"columns with one value in all training rows are left out of the density: {listed(constant)}"
        warnings.warn(text, MlcliWarning, stacklevel=3)
    return varies, found.mean[varies], np.sqrt(found.variance[varies])


def varying_part(table: Table, varies: Rows) -> Array:
    """The numbers that a density describes."""
    return table.numbers if len(varies) == table.numbers.shape[1] else table.numbers[:, varies]


def with_constants(drawn: Array, varies: Rows, constants: Array) -> Array:
    """Drawn rows with the columns that do not vary."""
    numbers = np.tile(constants, (len(drawn), 1))
    numbers[:, varies] = drawn
    return numbers


def check_varying_columns(varies: Rows, columns: int) -> None:
    """Refuse (ValueError) places that are none of so many columns, each once and in order."""
    if varies.ndim != 1 or not np.isin(varies, np.arange(columns)).all() or (np.diff(varies) <= 0).any():
        raise ValueError("a density of columns that are not there")


def component_tables(mixture: Mixture, columns: Sequence[Column]) -> findings.Explanation:
    """Shares with means, then standard deviations and, where columns vary together, their correlations."""
    names = tuple(column.name for column in columns)
    deviations = np.array([mixture.kind.deviations(covariance) for covariance in mixture.covariances])
    shares = mixture.shares.tolist()
    centres = tuple(
        (str(k), share, *mean) for k, (share, mean) in enumerate(zip(shares, mixture.means.tolist(), strict=True))
    )
    widths = tuple((str(k), *each) for k, each in enumerate(deviations.tolist()))
    return (
        findings.Table("Components: share of the rows, and means", ("component", "share", *names), centres),
        findings.Table("Components: standard deviations", ("component", *names), widths),
        *_correlations(mixture, deviations, names),
    )


def check_mixture(mixture: Mixture, columns: int) -> None:
    """Refuse (ValueError) parts that are no mixture over so many columns."""
    count = len(np.atleast_1d(mixture.shares))
    wanted = ((count,), (count, columns), (count, *mixture.kind.shape(columns)))
    if tuple(map(np.shape, (mixture.shares, mixture.means, mixture.covariances))) != wanted:
        raise ValueError("a mixture whose parts do not fit its columns")
    if not (mixture.shares >= 0).all():
        raise ValueError("a mixture with shares below 0")


def _correlations(mixture: Mixture, deviations: Array, names: Sequence[str]) -> findings.Explanation:
    """For each component the pair of columns that vary together most."""
    if mixture.covariances.ndim < 3 or len(names) < 2:
        return ()
    rows = []
    for k, (covariance, deviation) in enumerate(zip(mixture.covariances, deviations, strict=True)):
        correlation = np.triu(covariance / np.outer(deviation, deviation), 1)
        first, second = np.unravel_index(np.abs(correlation).argmax(), correlation.shape)
        rows.append((str(k), names[first], names[second], float(correlation[first, second])))
    header = ("component", "column", "and column", "correlation")
    return (findings.Table("Components: columns that vary together most", header, tuple(rows)),)
