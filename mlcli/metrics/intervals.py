"""Confidence intervals of 95 %: Wald, Wilson, Student's t, and the percentile bootstrap.

Wald is equation (23) of the notes. Wilson 1927 stays inside [0, 1] and has a width even without errors. Means
over splits take Nadeau & Bengio's correction (Machine Learning 52, 2003), because the training parts of splits
overlap. Weighted rows count as Kish's effective number, (Σw)² / Σw².

Tails and quantiles of Student's t and F come from the incomplete beta function: every table of scores needs them,
and importing ``scipy.special`` takes nearly half as long as a short evaluation.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers
from mlcli.core.names import counted
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array
from mlcli.metrics.base import Metric, Undefined, Units, rows_or_groups, units_of


def student_t_tail(t: float, df: float) -> float:
    """The probability that Student's t with ``df`` degrees of freedom is larger than t."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    half = incomplete_beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)) / 2
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=256)
def student_t_quantile(p: float, df: float) -> float:
    """The t below which Student's t with ``df`` degrees of freedom falls with probability p."""
    if p == 0.5:
        return 0.0
    tail = min(p, 1 - p)
    t = -NormalDist().inv_cdf(tail)
    # Newton's method from below: the tail is convex, so that no step goes too far
    for _ in range(200):
        density = _power_term(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)) / t
        step = (student_t_tail(t, df) - tail) / density
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return math.copysign(t, p - 0.5)


def f_tail(f: float, between: float, within: float) -> float:
    """The probability that F with ``between`` and ``within`` degrees of freedom is larger than f."""
    if math.isinf(f):
        return 0.0
    total = within + between * f
    return incomplete_beta(within / 2, between / 2, within / total, between * f / total)


def incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function I_x(a, b).

    ``y`` is 1 - x: passing both keeps the digits of an x close to 1. The continued fraction is DLMF 8.17.22,
    evaluated by Lentz's method.
    """
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, y, x)
    fraction, C, D = 1.0, 1.0, 0.0
    for step in range(1, 100_000):  # it needs about the square root of the larger argument
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        D = 1 / ((1 + d * D) or 1e-300)
        C = (1 + d / C) or 1e-300
        fraction *= C * D
        if abs(C * D - 1) < 1e-15:
            break
    return _power_term(a, b, x, y) / (a * fraction)


def _power_term(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / B(a, b), where y is 1 - x."""
    log_x = math.log(x) if x < 0.5 else math.log1p(-y)
    log_y = math.log(y) if y < 0.5 else math.log1p(-x)
    return math.exp(a * log_x + b * log_y - _log_beta(a, b))


def _log_beta(a: float, b: float) -> float:
    """Log of the beta function; of large arguments by Stirling's series, since log Γ loses digits there."""
    small, large = min(a, b), max(a, b)
    if large < 10:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)

    def remainder(x: float) -> float:
        terms = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
        return sum(term * (1 / x) ** (2 * i + 1) for i, term in enumerate(terms))

    growth = (large - 0.5) * math.log1p(small / large) + small * math.log(small + large) - small
    return math.lgamma(small) - growth - remainder(small + large) + remainder(large)


LEVEL = 0.95
UPPER = (1 + LEVEL) / 2
FARTHEST = 1_000
"""An interval to so many times a mean says no more than none. The standard error of a mean of values that are not
negative is itself at most, so that of rows only two (t = 12.7; of three 4.3) can reach as far."""
NO_SPREAD = 1e-12
"""A standard deviation below this share of the size of the values is rounding."""
LITTLE_SPREAD = 1e-6
"""The same of the influence of rows on rates, since derivatives err by more than sums do."""


@dataclass(frozen=True)
class Interval:
    """Where the score lies with 95 % confidence, or nowhere; ``how`` says how it was made, or why it was not."""

    low: float | None
    high: float | None
    how: str
    remark: str = ""
    """What a reader of the score must know of it."""
    units: Units = ""
    """What it counts, where it is not over splits."""
    trust: float | None = None
    """For how much of a fresh unit one counts, where that is less than 1."""

    def holding(self, value: float) -> Interval:
        """The interval, wide enough to hold a score that is a mean where it is of all rows together."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=min(self.low, value), high=max(self.high, value))

    def shifted(self, by: float) -> Interval:
        """The interval of a score that is so much higher."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=self.low + by, high=self.high + by)

    def within(self, low: float | None, high: float | None) -> Interval:
        """The part of the interval that a score can reach."""
        if self.low is None or self.high is None:
            return self
        lowest, highest = -math.inf if low is None else low, math.inf if high is None else high
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))


@dataclass(frozen=True)
class ScoreEstimate:
    """A score with its standard error, and the degrees of freedom that this error was estimated from."""

    mean: float
    error: float
    freedom: float

    def interval(self, how: str) -> Interval:
        """Student's t interval around the score."""
        return self._reaching(how, lambda reach: (self.mean - reach, self.mean + reach))

    def by_factors(self, how: str, longer: float = 0.0) -> Interval:
        """Student's t interval around the logarithm of a score above 0, longer above by so much over √n."""

        def ends(reach: float) -> tuple[float, float]:
            below = reach / self.mean
            above = below * (1 + longer / math.sqrt(self.freedom + 1))
            return self.mean * math.exp(-below), self.mean * math.exp(above)

        farthest = self.mean * math.log(FARTHEST)
        if self.freedom > 0 and student_t_quantile(UPPER, self.freedom) * self.error > farthest:
            return Interval(None, None, f"none: a mean of so few may be {FARTHEST:,} times as large ({how})")
        return self._reaching(f"{how}, on the scale of logarithms", ends)

    def by_odds(self, how: str) -> Interval:
        """Student's t interval around the logarithm of the odds of a share."""

        def ends(reach: float) -> tuple[float, float]:
            odds = self.mean / (1 - self.mean)
            factor = math.exp(min(reach / (self.mean * (1 - self.mean)), 700.0))  # exp of more is infinite
            return odds / (odds + factor), odds / (odds + 1 / factor)

        return self._reaching(f"{how}, on the scale of log odds", ends)

    def _reaching(self, how: str, ends: Callable[[float], tuple[float, float]]) -> Interval:
        if self.freedom <= 0:
            return Interval(None, None, f"none: one value has no spread ({how})")
        if self.error <= NO_SPREAD * abs(self.mean):
            return Interval(None, None, f"none: no spread was seen, which is not certainty ({how})")
        return Interval(*ends(student_t_quantile(UPPER, self.freedom) * self.error), how)

    def p_of_zero(self) -> float:
        """The two-sided p of a true mean of 0, for an error that is not 0."""
        return min(1.0, 2 * student_t_tail(abs(self.mean) / self.error, self.freedom))


def wald(share: float, rows: float) -> Interval:
    """Equation (23) of the notes; it may leave [0, 1], and has no width at 0 and 1."""
    # the normal quantile as equation (23) rounds it
    reach = 1.96 * math.sqrt(share * (1 - share) / rows)
    return Interval(share - reach, share + reach, f"Wald over {rows:.10g} rows")


def wilson(share: float, rows: float) -> Interval:
    """The interval of the shares that a normal test would not refuse."""
    return scored_share(share, rows, NormalDist().inv_cdf(UPPER), f"Wilson over {counted_rows(rows)}")


def scored_share(share: float, rows: float, quantile: float, how: str) -> Interval:
    """Wilson's interval with another quantile, such as Student's where the number of rows was estimated."""
    z2 = quantile**2
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    reach = math.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (1 + z2 / rows)
    low, high = min(centre - reach, share), max(centre + reach, share)  # rounding at 0 and 1
    return Interval(low, high, how).within(0.0, 1.0)


def counted_rows(rows: float) -> str:
    """Rows as a person counts them; those with weights come to no whole number."""
    return f"{rows:.0f} distinct rows" if rows == int(rows) else f"{rows:.1f} effective rows (weighted)"


def effective_rows(weights: Array) -> float:
    """Kish's effective number of rows: as many equal rows would give the same precision."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def over_splits(
    values: Sequence[float] | Array, train_rows: Sequence[int], test_rows: Sequence[int], scale: float
) -> ScoreEstimate:
    """The mean over J splits; (1/J + test/train) of the variance, since their training parts overlap.

    ``scale`` is the size of the numbers that the values were made from. Without training rows (a saved model) the
    splits share nothing but the model, and only 1/J remains.
    """
    result = np.array(values)
    overlap = sum(test_rows) / sum(train_rows) if sum(train_rows) else 0.0
    variance = float(result.var(ddof=1)) if len(result) > 1 else 0.0
    rounding = math.sqrt(variance) <= NO_SPREAD * scale
    error = 0.0 if rounding else math.sqrt(variance * (1 / len(result) + overlap))
    return ScoreEstimate(float(result.mean()), error, len(result) - 1)


# The bootstrap over rows (Efron 1979).
#
# Percentile intervals use 1,000 resamples. Above 20,000 rows they use fewer, so that at most 20 million rows are
# drawn, but at least 200. A resample is a weighting of the rows: how often each was drawn, times its own weight.
# Rows that belong together, such as those of a sequence or repeated predictions for one row, are drawn together.
# The row numbers seed the resamples, so that all models and metrics share them, as paired tests need.

_kept: dict[tuple[Metric, str], Array] = {}


def replicates(metric: Metric, answers: Answers) -> Array:
    """The metric of every resample of the rows, NaN where it is undefined."""
    arrays = answers.arrays()
    digest = hashlib.sha256(repr((type(answers), answers.facts(), list(arrays))).encode())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).data)
    key = metric, digest.hexdigest()
    if key not in _kept:
        # an interval and every comparison need the same replicates
        if len(_kept) == 500:
            _kept.clear()
        _kept[key] = np.concatenate([_scores_under(metric, answers, block) for block in weightings(answers)])
    return _kept[key]


def percentile_interval(values: Array, how: str) -> Interval:
    """The middle 95 % of replicates; undefined ones are left out and counted."""
    defined = values[np.isfinite(values)]
    if 2 * len(defined) < len(values):
        return Interval(None, None, f"none: undefined in {len(values) - len(defined)} of {len(values)} resamples")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if high - low <= NO_SPREAD * max(abs(low), abs(high)):
        return Interval(None, None, f"none: no spread was seen, which is not certainty ({how})")
    how = f"{how}, {len(defined)} resamples"
    if len(defined) < len(values):
        how += f" ({len(values) - len(defined)} more were undefined)"
    return Interval(float(low), float(high), how)


def resamples_for(rows: int) -> int:
    """How many resamples of so many rows."""
    return max(200, min(1_000, 20_000_000 // max(rows, 1)))


def drawn_from(answers: Answers) -> str:
    """What is drawn, in words."""
    count = len(np.unique(rows_or_groups(answers)))
    return counted(count, "row") if units_of(answers) is None else f"{count} groups of dependent rows"


def weightings(answers: Answers) -> Iterator[Array]:
    """Blocks (B × n) of weightings of the rows."""
    # number the units in the order in which they appear
    from mlcli.tasks.sequence_windows import numbered_by_appearance

    unit = numbered_by_appearance(rows_or_groups(answers)).astype(np.intp)
    count, numbers = int(unit.max()) + 1, hashlib.sha256(answers.rows.astype("<i8").tobytes()).hexdigest()
    for counts in _drawn(numbers, count, len(answers)):
        yield (counts if count == len(answers) else counts[:, unit]) * answers.weights


@lru_cache(maxsize=1)
def _drawn(numbers: str, units: int, rows: int) -> tuple[NDArray[np.uint16], ...]:
    """How often each unit was drawn, in blocks of resamples; cached, since all models and metrics share them."""
    rng = rng_for("bootstrap", numbers)
    blocks, left = [], resamples_for(rows)
    while left:
        # as many rows at once as fit into the cache
        times = min(left, max(1, (1 << 17) // rows))
        drawn = rng.integers(0, units, size=(times, units)) + units * np.arange(times)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=times * units).reshape(times, units)
        blocks.append(counts.astype(np.uint16))
        left -= times
    return tuple(blocks)


def _scores_under(metric: Metric, answers: Answers, block: Array) -> Array:
    """The metric under each weighting of a block, NaN where it is undefined."""
    if metric.under is not None:
        return metric.under(answers, block)
    scores = (metric.compute(answers.with_header(weight=weighting)) for weighting in block)
    return np.array([np.nan if isinstance(score, Undefined) else score for score in scores])
