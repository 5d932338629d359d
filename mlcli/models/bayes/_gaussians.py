"""One normal distribution for each numeric column and class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.containers import LabelledRows
from mlcli.core.moments import Moments, moments
from mlcli.core.tables import Array, Flags

FRACTION = 1e-9
"""What is added to every variance, as a share of the largest variance of any column."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """``means`` and ``variances`` are classes × columns; columns not ``kept`` take no part."""

    means: Array
    variances: Array
    kept: Flags

    def log_likelihood(self, numbers: Array) -> Array:
        """The log-density (n × classes) of the kept columns together; a missing cell adds nothing."""
        numbers = numbers[:, self.kept]
        known = ~np.isnan(numbers)
        found = np.zeros((len(numbers), len(self.means)))
        classes = zip(self.means[:, self.kept], self.variances[:, self.kept], strict=True)
        for k, (mean, variance) in enumerate(classes):
            terms = np.log(2 * np.pi * variance) + (numbers - mean) ** 2 / variance
            found[:, k] = -0.5 * np.where(known, terms, 0.0).sum(axis=1)
        return found


def gaussians_of(data: LabelledRows, ddof: int, zero_variance: str) -> Gaussians:
    """The distributions of training rows; a class without a cell in a column has the column's own, of all rows."""
    numbers, weights = data.table.numbers, data.weights
    overall = moments(numbers, weights)
    of_class = [moments(numbers[data.y == k], weights[data.y == k], ddof) for k in range(len(data.classes))]
    means = np.array([np.where(own.weight > 0, own.mean, overall.mean) for own in of_class])
    variances = np.array([np.where(own.weight > 0, own.variance, overall.variance) for own in of_class])
    variances = variances + ADDED[zero_variance](overall)
    # Nothing can be added where no column varies; such columns say nothing and are left out, as in "drop".
    return Gaussians(means, variances, np.asarray((variances > 0).all(axis=0)))


def _share_of_the_largest(overall: Moments) -> float:
    return FRACTION * float(overall.variance.max(initial=0.0))


ADDED: dict[str, Callable[[Moments], float]] = {"add": _share_of_the_largest, "drop": lambda overall: 0.0}
