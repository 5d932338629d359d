"""Models over several datasets: tests by their ranks (Friedman, Iman and Davenport, Nemenyi), and of two models by
signed ranks (Wilcoxon, and its Bayesian form with practical equivalence).

Formula:
    mean rank        R_j = (1/N) Σ_i r_ij, rank 1 for the best score of a dataset, equal scores share their ranks
    Friedman         χ² = 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)² with k − 1 degrees of freedom; for ties of
                     t scores it is divided by 1 − Σ (t³ − t) / (N (k³ − k))
    Iman-Davenport   F = (N − 1) χ² / (N (k − 1) − χ²), with k − 1 and (k − 1)(N − 1) degrees of freedom
    Nemenyi          critical difference of mean ranks q √(k (k + 1) / (6 N)), q of the range of k normal numbers
    Wilcoxon         W₊ = Σ of the ranks of |d_i| where d_i > 0. Its distribution is exact: each rank counts or not
                     with probability ½. Differences of 0 are ranked, then left out (Pratt); ties share ranks.
    Bayesian         w ~ Dirichlet(½, 1, ..., 1) over (0, d_1, ..., d_N); a draw says "better" where
                     Σ_ij w_i w_j [d_i + d_j > 2 rope] is more than the shares below −2 rope and between. The
                     probability of each answer is its share of the draws.

Scores are an array of N datasets × k models, larger is better. Demšar 2006, Statistical comparisons of classifiers
over multiple data sets, has them all but the correction for ties.
Benavoli et al. 2017, Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array

SAME_SCORE = 1e-12
"""Scores that differ by less than this share of the largest are equal: the rest is rounding."""
LEVEL = 0.05
DRAWS = 50_000
PRIOR = 0.5
"""The weight of one more difference of 0, in the region of practical equivalence."""


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
    rounding = SAME_SCORE * np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):  # two that are infinite are equal
        ahead = np.nan_to_num(scores[:, None, :] - scores[:, :, None], posinf=np.inf, neginf=-np.inf)
    better, equal = (ahead > rounding).sum(axis=2), (np.abs(ahead) <= rounding).sum(axis=2)
    return np.asarray(better + (equal + 1) / 2)


def friedman(scores: Array) -> RankTest | None:
    """The test of equal mean ranks; None where all scores of every dataset are equal."""
    from scipy.special import chdtrc, fdtrc

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
    p = 0.0 if math.isinf(f) else float(fdtrc(*freedom, f))
    return RankTest(chi_square, float(chdtrc(models - 1, chi_square)), f, freedom, p)


def critical_difference(models: int, datasets: int) -> float:
    """How far two mean ranks must lie apart to differ at 5 % (Nemenyi)."""
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - LEVEL, models, math.inf))
    return q * math.sqrt(models * (models + 1) / (12 * datasets))


def groups_alike(ranks: Array, difference: float) -> list[tuple[int, ...]]:
    """The largest groups of models whose mean ranks all lie within a difference, best first; none of one model."""
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    for place, first in enumerate(order):
        group = tuple(int(model) for model in order[place:] if ranks[model] - ranks[first] <= difference)
        if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
            groups.append(group)
    return groups


@dataclass(frozen=True)
class Posterior:
    """How probable it is that the first of two models is better, that they are equivalent, that it is worse."""

    better: float
    alike: float
    worse: float


def wilcoxon(differences: Array, rounding: float = SAME_SCORE) -> float:
    """The exact two-sided p of differences that are as often above 0 as below; 1 where all are 0.

    Differences that are apart by ``rounding`` at most are equal.
    """
    sizes = np.abs(differences)
    counting = sizes > rounding
    doubled = _doubled_ranks(sizes, rounding)[counting]
    if not len(doubled):
        return 1.0
    chances = _sums_of_half(doubled)
    found = int(doubled[differences[counting] > 0].sum())
    return float(min(1.0, 2 * min(chances[: found + 1].sum(), chances[found:].sum())))


def posterior(differences: Array, rope: float, rounding: float = SAME_SCORE) -> Posterior:
    """What is to be believed of the next dataset of the same kind; differences within ±rope count as none."""
    values = np.concatenate([[0.0], np.where(np.abs(differences) <= rounding, 0.0, differences)])
    sums = values[:, None] + values[None, :]
    weights = _dirichlet(len(differences))
    above, below = (((weights @ _beyond(side * sums, 2 * rope)) * weights).sum(axis=1) for side in (1.0, -1.0))
    shares = np.column_stack([above, 1 - above - below, below])
    if rope == 0:
        shares[:, 1] = 0.0
    better, alike, worse = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    return Posterior(float(better), float(alike), float(worse))


def wins_ties_losses(differences: Array, rounding: float = SAME_SCORE) -> tuple[int, int, int]:
    """On how many datasets the first of two models is better, equal and worse."""
    wins, losses = (int((side * differences > rounding).sum()) for side in (1.0, -1.0))
    return wins, len(differences) - wins - losses, losses


def _doubled_ranks(sizes: Array, rounding: float) -> Array:
    """Twice the rank of each size, equal ones sharing theirs: whole numbers."""
    less = sizes[:, None] - sizes[None, :]
    smaller, equal = (less > rounding).sum(axis=1), (np.abs(less) <= rounding).sum(axis=1)
    return np.asarray(2 * smaller + equal + 1)


def _sums_of_half(ranks: Array) -> Array:
    """The probability of each sum of ranks when each counts with probability ½."""
    chances = np.zeros(int(ranks.sum()) + 1)
    chances[0] = 1.0
    for rank in map(int, ranks):
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    return chances


def _beyond(sums: Array, limit: float) -> Array:
    """1 above a limit, ½ at it."""
    return np.asarray((sums > limit) + 0.5 * (sums == limit))


@lru_cache(maxsize=4)
def _dirichlet(count: int) -> Array:
    """The draws of weights for so many differences; all pairs of models meet the same."""
    rng = rng_for("bayesian signed-rank", count)
    return np.asarray(rng.dirichlet([PRIOR, *[1.0] * count], size=DRAWS))
