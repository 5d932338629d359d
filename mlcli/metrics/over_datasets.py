"""Models compared over several datasets: ranks and their tests, pairs of models, and when there is no test.

Scores of different datasets share a column here. So the order of models within a dataset (their ranks) is
compared, and for pairs the differences. Differences of a metric that has a unit, such as rmse, are those of
logarithms: 0.01 is one percent.

    mean rank        R_j = (1/N) Σ_i r_ij, rank 1 for the best score of a dataset; ties share their mean rank
    Friedman         χ² = 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)² with k − 1 degrees of freedom, divided by
                     1 − Σ (t³ − t) / (N (k³ − k)) for ties of t scores
    Iman-Davenport   F = (N − 1) χ² / (N (k − 1) − χ²), with k − 1 and (k − 1)(N − 1) degrees of freedom
    Nemenyi          critical difference of mean ranks q √(k (k + 1) / (12 N)), q of the range of k normal numbers
    Wilcoxon         W₊ = Σ of the ranks of |d_i| where d_i > 0, with its exact distribution: each rank counts
                     with probability ½. Differences of 0 are ranked, then left out (Pratt); ties share ranks.
    Bayesian         w ~ Dirichlet(½, 1, ..., 1) over (0, d_1, ..., d_N). A draw says "better" where Σ_ij w_i w_j
                     [d_i + d_j > 2 rope] exceeds the shares below −2 rope and between. The probability of each
                     answer is its share of the draws.

Scores are an array of N datasets × k models, larger is better. Demšar 2006, Statistical comparisons of
classifiers over multiple data sets, has all but the correction for ties. Benavoli et al. 2017, Time for a
change: a tutorial for comparing multiple classifiers through Bayesian analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from mlcli.core.names import listed
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array
from mlcli.metrics.base import Better
from mlcli.metrics.difference import Difference, holm

SAME_SCORE = 1e-12
"""Scores that differ by less than this share of the largest are equal: the rest is rounding."""
LEVEL = 0.05
DRAWS = 50_000


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
    for index, first in enumerate(order):
        group = tuple(int(model) for model in order[index:] if ranks[model] - ranks[first] <= difference)
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
    # twice the rank of each size, ties sharing theirs: whole numbers
    less = sizes[:, None] - sizes[None, :]
    smaller, equal = (less > rounding).sum(axis=1), (np.abs(less) <= rounding).sum(axis=1)
    doubled_ranks = np.asarray(2 * smaller + equal + 1)
    doubled = doubled_ranks[counting]
    if not len(doubled):
        return 1.0
    # the probability of each sum of ranks when each counts with probability ½
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in map(int, doubled):
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    value = int(doubled[differences[counting] > 0].sum())
    return float(min(1.0, 2 * min(chances[: value + 1].sum(), chances[value:].sum())))


def posterior(differences: Array, rope: float, rounding: float = SAME_SCORE) -> Posterior:
    """The posterior for the next dataset of the same kind; differences within ±rope count as none."""
    values = np.concatenate([[0.0], np.where(np.abs(differences) <= rounding, 0.0, differences)])
    sums = values[:, None] + values[None, :]
    weights = _dirichlet(len(differences))
    limit, shares_by_side = 2 * rope, []
    for signed_sums in (sums, -sums):
        beyond = (signed_sums > limit) + 0.5 * (signed_sums == limit)  # half of what lies at the limit
        shares_by_side.append(((weights @ beyond) * weights).sum(axis=1))
    above, below = shares_by_side
    shares = np.column_stack([above, 1 - above - below, below])
    if rope == 0:
        shares[:, 1] = 0.0
    better, alike, worse = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    return Posterior(float(better), float(alike), float(worse))


def wins_ties_losses(differences: Array, rounding: float = SAME_SCORE) -> tuple[int, int, int]:
    """On how many datasets the first of two models is better, equal and worse."""
    wins, losses = (int((side * differences > rounding).sum()) for side in (1.0, -1.0))
    return wins, len(differences) - wins - losses, losses


@lru_cache(maxsize=4)
def _dirichlet(count: int) -> Array:
    """Draws of weights for a number of differences; all pairs of models get the same draws."""
    rng = rng_for("bayesian signed-rank", count)
    # ½ is the prior weight of one more difference of 0
    return np.asarray(rng.dirichlet([0.5, *[1.0] * count], size=DRAWS))


FEWEST_DATASETS = 5
"""With fewer datasets nothing is tested."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores (datasets × models) of one metric."""

    metric: str
    better: Better
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    scores: Array
    by_factors: bool = False
    """Whether scores, all above 0, of different datasets can be compared by their ratios only."""
    left_out: tuple[str, ...] = ()
    """What is not in the table, and why."""

    @cached_property
    def merits(self) -> Array:
        """The scores so that a larger one is better, and differences of datasets can be compared."""
        scores = np.log(self.scores) if self.by_factors else self.scores
        return np.asarray({"high": scores, "low": -scores, "zero": -np.abs(scores)}[self.better])

    @property
    def rounding(self) -> float:
        """How much merits, or their differences, may be apart by rounding."""
        largest = float(np.abs(self.merits).max(initial=0.0))
        return SAME_SCORE * (max(1.0, largest) if self.by_factors else largest)


@dataclass(frozen=True)
class PairOverDatasets:
    """Two models over all datasets."""

    first: str
    second: str
    difference: Difference
    """Of the first from the second, positive where it is better."""
    wins: int
    ties: int
    losses: int
    belief: Posterior | None
    """None if it was not requested, or there are too few datasets."""


@dataclass(frozen=True, eq=False)
class OverDatasets:
    """Mean ranks, tests and pairs of the models of a table."""

    table: ScoreTable
    ranks: tuple[float, ...]
    """The mean rank of each model."""
    test: RankTest | None
    difference: float | None
    """The critical difference of mean ranks."""
    groups: tuple[tuple[int, ...], ...]
    """Models whose mean ranks do not differ significantly."""
    pairs: tuple[PairOverDatasets, ...]
    why: str
    """Why there is no test, or nothing."""

    @property
    def order(self) -> list[int]:
        """The models by mean rank, the best first."""
        return sorted(range(len(self.ranks)), key=lambda index: self.ranks[index])


def score_table(
    rows: Iterable[tuple[str, str, float]], metric: str, better: Better, by_factors: bool = False
) -> ScoreTable:
    """The table of rows (dataset, model, score), repeated ones averaged.

    Models without a score on most datasets are left out, then datasets without a score of all that are left.
    """
    results: dict[str, dict[str, list[float]]] = {}
    for dataset, model, score in rows:
        results.setdefault(dataset, {}).setdefault(model, []).append(score)
    every = dict.fromkeys(model for scores in results.values() for model in scores)
    counts = {model: sum(model in scores for scores in results.values()) for model in every}
    models = tuple(model for model in every if 2 * counts[model] > len(results))
    complete = [name for name, scores in results.items() if scores.keys() >= set(models)]
    left_out = (
        *(f"{model} is left out: it has no score on most datasets" for model in every if model not in models),
        *(
            f"{name} is left out: it has no score of {listed([model for model in models if model not in scores])}"
            for name, scores in results.items()
            if name not in complete
        ),
    )
    scores = np.array([[np.mean(results[name][model]) for model in models] for name in complete])
    positive = bool(scores.size) and bool((scores > 0).all())
    shape = len(complete), len(models)
    return ScoreTable(
        metric, better, tuple(complete), models, scores.reshape(shape), by_factors and positive, left_out
    )


def compare_over_datasets(table: ScoreTable, rope: float | None = None, against: str = "") -> OverDatasets:
    """Compare the models of a table; without tests if it has fewer than five datasets.

    With a region of practical equivalence, ``rope``, each pair also gets posterior probabilities. All pairs are
    compared, or with ``against`` only one model with each of the others.
    """
    datasets, models = table.scores.shape
    ranks = ranked(table.merits).mean(axis=0) if datasets else np.zeros(0)
    why = _why_untested(datasets)
    test = None if why or models < 2 else friedman(table.merits)
    difference = None if why or models < 2 else critical_difference(models, datasets)
    groups = groups_alike(ranks, difference) if difference is not None else []
    if not why and models > 1 and test is None:
        why = "all models have the same score on every dataset"
    return OverDatasets(
        table,
        tuple(map(float, ranks)),
        test,
        difference,
        tuple(groups),
        tuple(_pairs(table, ranks, rope, against)),
        why,
    )


def _why_untested(datasets: int) -> str:
    if datasets >= FEWEST_DATASETS:
        return ""
    return f"no test over {datasets} datasets: at least {FEWEST_DATASETS} are needed"


def _pairs(table: ScoreTable, ranks: Array, rope: float | None, against: str) -> list[PairOverDatasets]:
    """The pairs, the model of the better mean rank first, with p-values corrected for their number."""
    order = np.argsort(ranks, kind="stable").tolist()
    pairs = [
        pair
        for pair in combinations(order, 2)
        if not against or against in (table.models[pair[0]], table.models[pair[1]])
    ]
    differences = [table.merits[:, first] - table.merits[:, second] for first, second in pairs]
    why_untested = _why_untested(len(table.datasets))
    tests: list[Difference] = []
    for values in differences:
        if not len(values):
            tests.append(Difference(None, why="there is no dataset that all models have a score of"))
        elif why_untested:
            tests.append(Difference(float(values.mean()), why=why_untested))
        else:
            p = wilcoxon(values, table.rounding)
            test = "exact Wilcoxon signed-rank test over datasets"
            tests.append(Difference(float(values.mean()), p=p, test=test))
    return [
        PairOverDatasets(
            table.models[first],
            table.models[second],
            test,
            *wins_ties_losses(values, table.rounding),
            None if rope is None or why_untested else posterior(values, rope, table.rounding),
        )
        for (first, second), values, test in zip(pairs, differences, holm(tests), strict=True)
    ]
