"""Tails and quantiles of Student's t and F, by the incomplete beta function.

Every table of scores needs them, and importing ``scipy.special`` takes nearly half as long as a short evaluation.
Distributions that few commands need come from SciPy, where they are used.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist


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
