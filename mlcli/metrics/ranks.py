"""Models over several datasets by their ranks: Friedman's test, Iman and Davenport's F, Nemenyi's difference.

Formula:
    mean rank        R_j = (1/N) Σ_i r_ij, rank 1 for the best score of a dataset, equal scores share their ranks
    Friedman         χ² = 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)² with k − 1 degrees of freedom; for ties of
                     t scores it is divided by 1 − Σ (t³ − t) / (N (k³ − k))
    Iman-Davenport   F = (N − 1) χ² / (N (k − 1) − χ²), with k − 1 and (k − 1)(N − 1) degrees of freedom
    Nemenyi          critical difference of mean ranks q √(k (k + 1) / (6 N)), q of the range of k normal numbers

Scores are an array of N datasets × k models, larger is better. Demšar 2006, Statistical comparisons of classifiers
over multiple data sets, has them all but the correction for ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.distributions import chi_square_tail, f_tail

SAME_SCORE = 1e-12
"""Scores that differ by less than this share of the largest are equal: the rest is rounding."""
LEVEL = 0.05
WIDEST = 9.0
"""Normal numbers beyond this are left out of the integral of the range."""
POINTS = 400
HALVINGS = 60


@dataclass(frozen=True)
class RankTest:
    """Whether mean ranks differ by more than chance: Friedman's χ², and the sharper F made of it."""

    chi_square: float
    chi_square_p: float
    f: float
    freedom: tuple[int, int]
    p: float
    """Of F."""


def ranked(scores: Array) -> Array:
    """The ranks of the models on each dataset; 1 is the best, and equal scores share the mean of their ranks."""
    near = SAME_SCORE * np.abs(scores).max()
    ahead = scores[:, None, :] - scores[:, :, None]
    better, equal = (ahead > near).sum(axis=2), (np.abs(ahead) <= near).sum(axis=2)
    return np.asarray(better + (equal + 1) / 2)


def friedman(scores: Array) -> RankTest | None:
    """The test of equal mean ranks; None where all scores of every dataset are equal."""
    datasets, models = scores.shape
    ranks = ranked(scores)
    spread = float(((ranks - (models + 1) / 2) ** 2).sum())
    if spread == 0:
        return None
    between = float(((ranks.mean(axis=0) - (models + 1) / 2) ** 2).sum())
    chi_square = datasets**2 * (models - 1) * between / spread
    left = datasets * (models - 1) - chi_square
    freedom = models - 1, (models - 1) * (datasets - 1)
    f = (datasets - 1) * chi_square / left if left > SAME_SCORE * chi_square else math.inf
    return RankTest(chi_square, chi_square_tail(chi_square, models - 1), f, freedom, f_tail(f, *freedom))


def critical_difference(models: int, datasets: int) -> float:
    """How far two mean ranks must lie apart to differ at 5 % (Nemenyi)."""
    return range_quantile(1 - LEVEL, models) * math.sqrt(models * (models + 1) / (12 * datasets))


def groups_alike(ranks: Array, difference: float) -> list[tuple[int, ...]]:
    """The largest groups of models whose mean ranks all lie within a difference, best first; none of one model."""
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    for place, first in enumerate(order):
        group = tuple(int(model) for model in order[place:] if ranks[model] - ranks[first] <= difference)
        if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
            groups.append(group)
    return groups


def range_tail(q: float, count: int) -> float:
    """The probability that so many standard normal numbers, each divided by √2, span more than q / √2."""
    z = np.linspace(-WIDEST, WIDEST, POINTS)
    below, inside = _normal(z), _normal(z) - _normal(z - q)
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


def _normal(z: Array) -> Array:
    return np.array([math.erfc(-one / math.sqrt(2)) / 2 for one in z])
