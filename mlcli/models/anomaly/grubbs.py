"""Grubbs' test: a row is an outlier when it lies farther out than the farthest of so many Gaussian rows would.

Formula:
    G(x) = |x − μ| / σ with n − 1 in σ; the farthest of n values is an outlier if its G is above the critical value
    (n − 1)/√n · √(t²/(n − 2 + t²)), where t is exceeded with probability α/(2n) under Student's t of n − 2 degrees
    of freedom (two-sided). It is taken out, and the test repeated with the others until the farthest passes.
    s(x) = G(x) over the last critical value, of several columns the largest: above 1 for outliers.
    ``of: distances`` tests Mahalanobis distances D(x) instead of cells, those that are large (one-sided, α/n).

Assumes:
    The values of good rows are Gaussian; their distances are not quite, least so for few columns. Several outliers
    may hide each other, as they widen σ (masking).

Cost:
    One pass over a column for each outlier in it, and a column³ for distances.

Choices:
    The notes give no critical value. μ and σ are those of the values that passed, so that new rows
    are measured without the outliers; Σ of the distances is that of all training rows. Each column is tested at α
    by itself. Nothing is taken out where only equal values would be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags, Table
from mlcli.metrics.intervals import student_t_quantile
from mlcli.models.anomaly.gaussian_anomaly import GaussianDetector, full_gaussian, mean_and_deviation
from mlcli.tasks.anomaly import Detector, ScreenedRows

FEWEST = 3
"""Of two values neither is farther from their mean."""
SHOWN = 5
"""So many tests of a column are shown."""
TESTED = ("of", "farthest", "mean", "standard deviation", "G", "critical value", "outlier")
"""What is kept of a test, as numbers."""


@register("grubbs", reference="Grubbs 1950, Sample criteria for testing outlying observations")
class Grubbs(GaussianDetector, Detector):
    """Takes outliers out one after another, then measures by what is left."""

    alpha: float = param(0.05, "the chance that the farthest of good rows is called an outlier", gt=0, lt=1)
    of: str = param(
        "values", "whether columns or distances from the mean are tested", choices=("distances", "values")
    )

    middle_: float = learned()
    unit_: float = learned()
    """The distance from the mean that an outlier is above; the axes have it where values are tested."""
    outliers_: Array = learned()
    """How many training rows are outliers in each column, or by their distance."""
    tests_: Array = learned("tests", len(TESTED))
    """The first tests of each column, or of the distances."""

    accepts = Accepts()

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find the outliers, and the mean and the spread of the others."""
        if len(data) < FEWEST:
            raise FitError(f"grubbs needs at least {FEWEST} training rows")
        self.outliers_ = np.zeros(len(self.columns_) if self.of == "values" else 1, np.int64)
        self.tests_ = np.empty((0, len(TESTED)))
        self.middle_, self.unit_ = 0.0, 1.0
        if self.of == "distances":
            gaussian = full_gaussian(data, ddof=1)
            self.mean_, self.axes_ = gaussian.mean, gaussian.axes
            distance = np.sqrt(self.squared_distances(data.table))
            passed = distance[self._passing(distance, 0, sides=1)]
            self.middle_ = float(passed.mean())
            self.unit_ = float(passed.std(ddof=1)) * critical(len(passed), self.alpha, sides=1) or 1.0
            return
        # Each column by itself, in units of its critical distance.
        _, deviation = mean_and_deviation(data, ddof=1)
        varying = np.flatnonzero(deviation > 0)
        self.mean_, self.axes_ = data.table.numbers.mean(axis=0), np.zeros((len(deviation), len(varying)))
        for axis, column in enumerate(varying.tolist()):
            values = data.table.numbers[:, column]
            passed = values[self._passing(values, column, sides=2)]
            self.mean_[column] = passed.mean()
            limit = critical(len(passed), self.alpha, sides=2)
            self.axes_[column, axis] = 1.0 / (passed.std(ddof=1) * limit)

    def _passing(self, values: Array, which: int, sides: int) -> Flags:
        """Which values pass; the first tests are stored."""
        tests = list(repeated_tests(values, self.alpha, sides))
        outliers = [test.row for test in tests if test.out]
        first = [(which, values[test.row], *test[1:]) for test in tests[:SHOWN]]
        self.outliers_[which] = len(outliers)
        self.tests_ = np.vstack([self.tests_, np.array(first, np.float64).reshape(-1, len(TESTED))])
        return ~np.isin(np.arange(len(values)), outliers)

    def score_rows(self, table: Table) -> Array:
        """How far out each row lies, in units of the critical distance."""
        parts = (table.numbers - self.mean_) @ self.axes_
        sizes = np.abs(parts).max(axis=1) if self.of == "values" else np.sqrt((parts**2).sum(axis=1))
        return np.asarray((sizes - self.middle_) / self.unit_)

    def own_limit(self) -> tuple[float, str]:
        """The critical value."""
        return 1.0, f"the critical value of Grubbs' test at {100 * self.alpha:g} %"

    def explain(self) -> findings.Explanation:
        """The outliers among the training rows, and how the farthest were tested."""
        names = [column.name for column in self.columns_] if self.of == "values" else ["distance from the mean"]
        rows = tuple(zip(names, self.outliers_.tolist(), strict=True))
        note = f"Tested at {100 * self.alpha:g} %, one row after another; a score above 1 is an outlier."
        tests = tuple(
            (names[int(which)], *numbers, "outlier" if out else "")
            for which, *numbers, out in self.tests_.tolist()
        )
        outliers = findings.Table("Outliers among the training rows", ("of", "rows"), rows, note=note)
        if not tests:
            return (outliers,)
        note = f"G = |value − mean| / standard deviation of the values left; the first {SHOWN} tests of each."
        return outliers, findings.Table("Tests of the farthest value", (*TESTED[:-1], ""), tests, note=note)

    def check_learned(self) -> None:
        """A number of outliers for whatever was tested."""
        super().check_learned()
        tested = len(self.columns_) if self.of == "values" else 1
        of_tested = np.isin(self.tests_[:, 0], np.arange(tested)).all()
        if self.outliers_.shape != (tested,) or not self.unit_ > 0 or not of_tested:
            raise ValueError("the outliers or the unit of grubbs do not fit what it tests")


def critical(n: int, alpha: float, sides: int) -> float:
    """What G of the farthest of n Gaussian values exceeds with probability α."""
    squared = student_t_quantile(alpha / (sides * n), n - 2) ** 2
    return float((n - 1) / np.sqrt(n) * np.sqrt(squared / (n - 2 + squared)))


class Test(NamedTuple):
    """A test of the farthest of the values that are left."""

    row: int
    mean: float
    deviation: float
    statistic: float
    critical: float
    out: bool
    """Whether it is an outlier; the last test finds none."""


def repeated_tests(values: Array, alpha: float, sides: int) -> Iterator[Test]:
    """The farthest value is tested, and taken out if it is an outlier, until one passes or three are left."""
    left = np.ones(len(values), dtype=bool)
    out = True
    while out and (count := int(left.sum())) > FEWEST:
        mean, deviation = values[left].mean(), values[left].std(ddof=1)
        distances = values - mean if sides == 1 else np.abs(values - mean)
        index = int(np.argmax(np.where(left, distances, -np.inf)))
        farthest, limit = distances[index], critical(count, alpha, sides)
        left[index] = False
        out = bool(farthest > limit * deviation and np.ptp(values[left]) > 0)
        yield Test(index, mean, deviation, farthest / deviation if deviation else 0.0, limit, out)
