"""Components of a mixture as tables: where they lie, and how wide they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.explanation import Explanation, Section
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.models.density._mixture import Mixture


def component_tables(mixture: Mixture, columns: Sequence[Column]) -> Explanation:
    """Shares with means, then standard deviations and, where columns vary together, their correlations."""
    names = tuple(column.name for column in columns)
    deviations = np.array([mixture.form.deviations(covariance) for covariance in mixture.covariances])
    shares = mixture.shares.tolist()
    centres = tuple(
        (str(k), share, *mean) for k, (share, mean) in enumerate(zip(shares, mixture.means.tolist(), strict=True))
    )
    widths = tuple((str(k), *each) for k, each in enumerate(deviations.tolist()))
    return (
        Section("Components: share of the rows, and means", ("component", "share", *names), centres),
        Section("Components: standard deviations", ("component", *names), widths),
        *_correlations(mixture, deviations, names),
    )


def refuse_misshapen(mixture: Mixture, columns: int) -> None:
    """Refuse (ValueError) parts that are no mixture over so many columns."""
    count = len(np.atleast_1d(mixture.shares))
    wanted = ((count,), (count, columns), (count, *mixture.form.shape(columns)))
    if tuple(map(np.shape, (mixture.shares, mixture.means, mixture.covariances))) != wanted:
        raise ValueError("a mixture whose parts do not fit its columns")
    if not (mixture.shares >= 0).all():
        raise ValueError("a mixture with shares below 0")


def _correlations(mixture: Mixture, deviations: Array, names: Sequence[str]) -> Explanation:
    """For each component the pair of columns that vary together most."""
    if mixture.covariances.ndim < 3 or len(names) < 2:
        return ()
    rows = []
    for k, (covariance, deviation) in enumerate(zip(mixture.covariances, deviations, strict=True)):
        correlation = np.triu(covariance / np.outer(deviation, deviation), 1)
        first, second = np.unravel_index(np.abs(correlation).argmax(), correlation.shape)
        rows.append((str(k), names[first], names[second], float(correlation[first, second])))
    header = ("component", "column", "and column", "correlation")
    return (Section("Components: columns that vary together most", header, tuple(rows)),)
