"""Two models over several datasets: Wilcoxon's signed-rank test, and its Bayesian form with practical equivalence.

Formula:
    Wilcoxon   W₊ = Σ of the ranks of |d_i| where d_i > 0. Its distribution is exact: each rank counts or not with
               probability ½. Differences of 0 are ranked and then left out (Pratt); ties share their ranks.
    Bayesian   w ~ Dirichlet(½, 1, ..., 1) over (0, d_1, ..., d_N); a draw says "better" where
               Σ_ij w_i w_j [d_i + d_j > 2 rope] is more than the shares below −2 rope and between. The
               probability of each answer is its share of the draws.

Benavoli et al. 2017, Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array
from mlcli.metrics.ranks import SAME_SCORE

DRAWS = 50_000
PRIOR = 0.5
"""The weight of one more difference of 0, in the region of practical equivalence."""


@dataclass(frozen=True)
class Posterior:
    """How probable it is that the first of two models is better, that they are equivalent, that it is worse."""

    better: float
    alike: float
    worse: float


def wilcoxon(differences: Array) -> float:
    """The exact two-sided p of differences that are as often above 0 as below; 1 where all are 0."""
    known = _without_rounding(differences)
    doubled = _doubled_ranks(np.abs(known))[known != 0]
    if not len(doubled):
        return 1.0
    chances = _sums_of_half(doubled)
    found = int(doubled[known[known != 0] > 0].sum())
    return float(min(1.0, 2 * min(chances[: found + 1].sum(), chances[found:].sum())))


def posterior(differences: Array, rope: float) -> Posterior:
    """What is to be believed of the next dataset of the same kind; differences within ±rope count as none."""
    values = np.concatenate([[0.0], _without_rounding(differences)])
    sums = values[:, None] + values[None, :]
    weights = _dirichlet(len(differences))
    above, below = (((weights @ _beyond(side * sums, 2 * rope)) * weights).sum(axis=1) for side in (1.0, -1.0))
    shares = np.column_stack([above, 1 - above - below, below])
    if rope == 0:
        shares[:, 1] = 0.0
    better, alike, worse = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    return Posterior(float(better), float(alike), float(worse))


def wins_ties_losses(differences: Array) -> tuple[int, int, int]:
    """On how many datasets the first of two models is better, equal and worse."""
    known = _without_rounding(differences)
    return int((known > 0).sum()), int((known == 0).sum()), int((known < 0).sum())


def _without_rounding(differences: Array) -> Array:
    near = SAME_SCORE * max(1.0, float(np.abs(differences).max(initial=0.0)))
    return np.where(np.abs(differences) <= near, 0.0, differences)


def _doubled_ranks(sizes: Array) -> Array:
    """Twice the rank of each size, equal ones sharing theirs: whole numbers."""
    smaller, equal = (sizes[None, :] < sizes[:, None]).sum(axis=1), (sizes[None, :] == sizes[:, None]).sum(axis=1)
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
