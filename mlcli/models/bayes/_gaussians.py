"""One normal distribution for each numeric column and class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.moments import Moments, spreads
from mlcli.core.tables import Array, Flags
from mlcli.tasks.classification import LabelledRows

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
        kept = self.kept
        if not kept.all():
            return Gaussians(self.means[:, kept], self.variances[:, kept], kept[kept]).log_likelihood(
                numbers[:, kept]
            )
        found = np.empty((len(self.means), len(numbers))).T
        logs, precisions = np.log(2 * np.pi * self.variances), 1 / self.variances
        levels = logs.sum(axis=1)
        for rows in row_blocks(*numbers.shape):
            block, here = numbers[rows], found[rows]
            for k, mean in enumerate(self.means):
                away = block - mean
                away *= away
                here[:, k] = -0.5 * (away @ precisions[k] + levels[k])
            if np.isnan(here).any():
                here[:] = self._with_gaps(block, logs, precisions)
        return found

    def _of_kept(self) -> Gaussians:
        return Gaussians(self.means[:, self.kept], self.variances[:, self.kept], self.kept[self.kept])

    def _with_gaps(self, numbers: Array, logs: Array, precisions: Array) -> Array:
        known = ~np.isnan(numbers)
        terms = [
            np.where(known, log + (numbers - mean) ** 2 * precision, 0.0).sum(axis=1)
            for mean, log, precision in zip(self.means, logs, precisions, strict=True)
        ]
        return -0.5 * np.column_stack(terms)


def gaussians_of(data: LabelledRows, ddof: int, zero_variance: str) -> Gaussians:
    """The distributions of training rows; a class without a cell in a column has the column's own, of all rows."""
    by_class = spreads(data.table.numbers, data.weights, data.y, len(data.classes))
    own, overall = by_class.moments(ddof), by_class.together().moments(0)
    means = np.where(own.weight > 0, own.mean, overall.mean)
    variances = np.where(own.weight > 0, own.variance, overall.variance)
    variances = variances + ADDED[zero_variance](overall)
    # Nothing can be added where no column varies; such columns say nothing and are left out, as in "drop".
    return Gaussians(means, variances, np.asarray((variances > 0).all(axis=0)))


def _share_of_the_largest(overall: Moments) -> float:
    return FRACTION * float(overall.variance.max(initial=0.0))


ADDED: dict[str, Callable[[Moments], float]] = {"add": _share_of_the_largest, "drop": lambda overall: 0.0}
