"""Normal, Student t, F, χ², fair-coin and range probabilities, most by the incomplete beta function; no scipy.

The continued fraction is DLMF 8.17.22, evaluated by Lentz's method. The gamma functions before it are taken
together (Stirling's remainders), and x travels with its complement, so that no digits are lost when an argument is
large or x is close to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from mlcli.core.tables import Array

WIDEST = 9.0
"""Normal numbers beyond this are left out of the integral of the range."""
POINTS = 400
HALVINGS = 60
SMALLEST = 1e-300
"""Stands for a zero denominator in Lentz's method."""
CLOSE_ENOUGH = 1e-15
"""How near to 1 the last factor of the continued fraction comes."""
MOST_FACTORS = 100_000
"""The fraction needs about the square root of its larger argument."""
MOST_STEPS = 200
"""Newton doubles t at worst, then squares its error."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
STIRLING_FROM = 10.0
"""From here on Stirling's series is exact to the last digits."""


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    """The z below which a standard normal falls with probability p."""
    z = _root(_normal_tail, _normal_density, min(p, 1 - p), start=0.0)
    return math.copysign(z, p - 0.5)


def student_t_tail(t: float, df: float) -> float:
    """The probability that Student's t with ``df`` degrees of freedom is larger than t."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    half = _beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)) / 2
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=256)
def student_t_quantile(p: float, df: float) -> float:
    """The t below which Student's t with ``df`` degrees of freedom falls with probability p."""
    if p == 0.5:
        return 0.0
    start = abs(normal_quantile(p))
    t = _root(lambda t: student_t_tail(t, df), lambda t: _student_t_density(t, df), min(p, 1 - p), start)
    return math.copysign(t, p - 0.5)


def fair_coin_two_sided(heads: int, tails: int) -> float:
    """The exact two-sided probability of a split at least as uneven as this when both sides are equally likely."""
    fewer, more = min(heads, tails), max(heads, tails)
    return 1.0 if more - fewer <= 1 else 2 * incomplete_beta(more, fewer + 1, 0.5)


def f_tail(f: float, of: float, within: float) -> float:
    """The probability that F with ``of`` and ``within`` degrees of freedom is larger than f."""
    if math.isinf(f):
        return 0.0
    return _beta(within / 2, of / 2, within / (within + of * f), of * f / (within + of * f))


def chi_square_tail(x: float, df: int) -> float:
    """The probability that χ² with a whole number of degrees of freedom is larger than x, as a finite sum."""
    odd = df % 2
    tail, term = (math.erfc(math.sqrt(x / 2)), math.sqrt(2 * x / math.pi)) if odd else (0.0, 1.0)
    for power in range(df // 2):
        tail += term * math.exp(-x / 2)
        term *= x / (2 * power + 2 + odd)
    return min(1.0, tail)


def range_tail(q: float, count: int) -> float:
    """The probability that so many standard normal numbers, each divided by √2, span more than q / √2."""
    z = np.linspace(-WIDEST, WIDEST, POINTS)
    below, inside = _shares_below(z), _shares_below(z) - _shares_below(z - q)
    density = np.exp(-(z**2) / 2) / math.sqrt(math.tau)
    # 1 − k ∫ φ(z) (Φ(z) − Φ(z − q))^(k − 1) dz, written so that small probabilities keep their digits
    beyond = density * (below ** (count - 1) - inside ** (count - 1))
    return float(min(1.0, count * beyond.sum() * (z[1] - z[0])))


@lru_cache(maxsize=64)
def range_quantile(p: float, count: int) -> float:
    """What so many standard normal numbers span with probability p at most."""
    low, high = 0.0, 2 * WIDEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, count) > 1 - p else (low, middle)
    return (low + high) / 2


def _shares_below(z: Array) -> Array:
    return np.array([_normal_tail(-one) for one in z])


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    return _beta(a, b, x, 1 - x)


def _beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b), where y is 1 - x."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, y, x)
    return _front(a, b, x, y) / (a * _fraction(a, b, x))


def _front(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / B(a, b)."""
    log_x = math.log(x) if x < 0.5 else math.log1p(-y)
    log_y = math.log(y) if y < 0.5 else math.log1p(-x)
    return math.exp(a * log_x + b * log_y - _log_beta(a, b))


def _log_beta(a: float, b: float) -> float:
    """Log of the beta function."""
    small, large = min(a, b), max(a, b)
    if large < STIRLING_FROM:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)
    growth = (large - 0.5) * math.log1p(small / large) + small * math.log(small + large) - small
    return math.lgamma(small) - growth - _stirling(small + large) + _stirling(large)


def _stirling(x: float) -> float:
    """What log Γ(x) has beyond (x - ½) log x - x + ½ log 2π."""
    return sum(term * (1 / x) ** (2 * i + 1) for i, term in enumerate(STIRLING))


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 + d1/(1 + d2/(1 + ...)) below the front factor."""
    value, C, D = 1.0, 1.0, 0.0
    for step in range(1, MOST_FACTORS):
        d = _coefficient(a, b, x, step)
        D = 1 / ((1 + d * D) or SMALLEST)
        C = (1 + d / C) or SMALLEST
        value *= C * D
        if abs(C * D - 1) < CLOSE_ENOUGH:
            break
    return value


def _coefficient(a: float, b: float, x: float, step: int) -> float:
    m = step // 2
    if step % 2:
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def _normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def _normal_density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(math.tau)


def _student_t_density(t: float, df: float) -> float:
    """For t > 0: the front factor of the incomplete beta function, by t."""
    return _front(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)) / t


def _root(tail: Callable[[float], float], density: Callable[[float], float], p: float, start: float) -> float:
    """Where a tail probability is p, by Newton from the left: tails are convex there, so no step goes too far."""
    t = start
    for _ in range(MOST_STEPS):
        step = (tail(t) - p) / density(t)
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t
