"""Intervals of 95 %: how far a score may be from what it would be on all rows of the kind.

Wald is equation (23) of the notes; Wilson 1927 keeps inside [0, 1] and has a width at no errors. Means over splits
take Nadeau & Bengio's correction (Machine Learning 52, 2003), because the training parts of splits overlap.
Weighted rows count as many as Kish's effective number, (Σw)² / Σw².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.declaring import weighted_mean
from mlcli.metrics.distributions import normal_quantile, student_t_quantile, student_t_tail

LEVEL = 0.95
UPPER = (1 + LEVEL) / 2
PRINTED_Z = 1.96
"""The normal quantile as equation (23) rounds it."""
NO_SPREAD = 1e-12
"""A standard deviation below this share of the size of the values is rounding."""


@dataclass(frozen=True)
class Interval:
    """Where the score lies with 95 % confidence, or nowhere; ``how`` says how it was made, or why it was not."""

    low: float | None
    high: float | None
    how: str

    def within(self, low: float | None, high: float | None) -> Interval:
        """The part of the interval that a score can reach."""
        if self.low is None or self.high is None:
            return self
        lowest, highest = -math.inf if low is None else low, math.inf if high is None else high
        return Interval(max(self.low, lowest), min(self.high, highest), self.how)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, and the degrees of freedom that this error was estimated from."""

    mean: float
    error: float
    freedom: float

    def interval(self, how: str) -> Interval:
        """Student's t interval around the mean."""
        if self.freedom <= 0:
            return Interval(None, None, f"none: one value has no spread ({how})")
        if self.error == 0:
            return Interval(self.mean, self.mean, f"{how}; no spread was seen, so a width of 0 is not certainty")
        reach = student_t_quantile(UPPER, self.freedom) * self.error
        return Interval(self.mean - reach, self.mean + reach, how)

    def p_of_zero(self) -> float:
        """The two-sided p of a true mean of 0, for an error that is not 0."""
        return min(1.0, 2 * student_t_tail(abs(self.mean) / self.error, self.freedom))


def wald(share: float, rows: float) -> Interval:
    """Equation (23) of the notes; it may leave [0, 1], and has no width at 0 and 1."""
    reach = PRINTED_Z * math.sqrt(share * (1 - share) / rows)
    return Interval(share - reach, share + reach, f"Wald over {rows:.10g} rows")


def wilson(share: float, rows: float) -> Interval:
    """The interval of the shares that a normal test would not refuse."""
    z2 = normal_quantile(UPPER) ** 2
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    reach = math.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (1 + z2 / rows)
    low, high = min(centre - reach, share), max(centre + reach, share)  # rounding at 0 and 1
    return Interval(low, high, f"Wilson over {_counted(rows)}").within(0.0, 1.0)


def _counted(rows: float) -> str:
    """Rows as a person counts them; those with weights come to no whole number."""
    return f"{rows:.0f} distinct rows" if rows == int(rows) else f"{rows:.1f} effective rows (weighted)"


def effective_rows(weights: Array) -> float:
    """Kish's effective number of rows: as many equal rows would give the same precision."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def over_rows(values: Array, weights: Array) -> Estimate:
    """The mean of independent rows; those of weight 0 do not count, even where infinite."""
    values, weights = values[weights > 0], weights[weights > 0]
    rows = effective_rows(weights)
    mean = weighted_mean(values, weights)
    variance = weighted_mean((values - mean) ** 2, weights)
    return _estimate(mean, variance, 1 / (rows - 1) if rows > 1 else 0.0, rows - 1, scale=np.abs(values).max())


def over_splits(
    values: Sequence[float] | Array, train_rows: Sequence[int], test_rows: Sequence[int], scale: float
) -> Estimate:
    """The mean over J splits; (1/J + test/train) of the variance, since their training parts overlap.

    ``scale`` is the size of the numbers that the values were made from. Without training rows (a saved model) the
    splits share nothing but the model, and only 1/J remains.
    """
    found = np.array(values)
    overlap = sum(test_rows) / sum(train_rows) if sum(train_rows) else 0.0
    return _estimate(
        float(found.mean()), float(found.var(ddof=1)), 1 / len(found) + overlap, len(found) - 1, scale
    )


def _estimate(mean: float, variance: float, share: float, freedom: float, scale: float) -> Estimate:
    rounding = math.sqrt(variance) <= NO_SPREAD * scale
    return Estimate(mean, 0.0 if rounding else math.sqrt(variance * share), freedom)
