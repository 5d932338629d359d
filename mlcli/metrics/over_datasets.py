"""Models compared over several datasets: ranks and their test, pairs of models, and why there may be no test.

Scores of different datasets are one column here, so what is compared is the order within a dataset (ranks), and
for pairs the differences. Those of a metric that has a unit, such as rmse, are differences of logarithms: 0.01 is
one percent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from mlcli.core.names import listed
from mlcli.core.tables import Array
from mlcli.metrics.base import Better
from mlcli.metrics.difference import Difference, holm
from mlcli.metrics.ranks import (
    SAME_SCORE,
    Posterior,
    RankTest,
    critical_difference,
    friedman,
    groups_alike,
    posterior,
    ranked,
    wilcoxon,
    wins_ties_losses,
)

FEWEST_DATASETS = 5
"""Fewer say too little of datasets to come: nothing is tested."""
WILCOXON = "exact Wilcoxon signed-rank test over datasets"


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
    """Where it was asked for, and there are datasets enough."""


@dataclass(frozen=True, eq=False)
class OverDatasets:
    """What a table of scores says of its models."""

    table: ScoreTable
    ranks: tuple[float, ...]
    """The mean rank of each model."""
    test: RankTest | None
    difference: float | None
    """The critical difference of mean ranks."""
    groups: tuple[tuple[int, ...], ...]
    """Models whose mean ranks cannot be told apart."""
    pairs: tuple[PairOverDatasets, ...]
    why: str
    """Why there is no test, or nothing."""

    @property
    def order(self) -> list[int]:
        """The models by mean rank, the best first."""
        return sorted(range(len(self.ranks)), key=lambda place: self.ranks[place])


def score_table(
    rows: Iterable[tuple[str, str, float]], metric: str, better: Better, by_factors: bool = False
) -> ScoreTable:
    """The table of rows (dataset, model, score), repeated ones averaged.

    Models without a score on most datasets are left out, then datasets without a score of all that are left.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for dataset, model, score in rows:
        found.setdefault(dataset, {}).setdefault(model, []).append(score)
    every = dict.fromkeys(model for scores in found.values() for model in scores)
    known = {model: sum(model in scores for scores in found.values()) for model in every}
    models = tuple(model for model in every if 2 * known[model] > len(found))
    whole = [name for name, scores in found.items() if scores.keys() >= set(models)]
    left_out = (
        *(f"{model} is left out: it has no score on most datasets" for model in every if model not in models),
        *(
            f"{name} is left out: it has no score of {listed([model for model in models if model not in scores])}"
            for name, scores in found.items()
            if name not in whole
        ),
    )
    scores = np.array([[np.mean(found[name][model]) for model in models] for name in whole])
    positive = bool(scores.size) and bool((scores > 0).all())
    shape = len(whole), len(models)
    return ScoreTable(
        metric, better, tuple(whole), models, scores.reshape(shape), by_factors and positive, left_out
    )


def compare_over_datasets(table: ScoreTable, rope: float | None = None, against: str = "") -> OverDatasets:
    """What can be said of the models of a table, without tests where it has fewer than five datasets.

    With a region of practical equivalence, ``rope``, it is also said what is to be believed of each pair.
    Pairs are all that there are, or with ``against`` those of one model with each of the others.
    """
    datasets, models = table.scores.shape
    ranks = ranked(table.merits).mean(axis=0) if datasets else np.zeros(0)
    why = _why_untested(datasets)
    test = None if why or models < 2 else friedman(table.merits)
    apart = None if why or models < 2 else critical_difference(models, datasets)
    groups = groups_alike(ranks, apart) if apart is not None else []
    if not why and models > 1 and test is None:
        why = "all models have the same score on every dataset"
    return OverDatasets(
        table,
        tuple(map(float, ranks)),
        test,
        apart,
        tuple(groups),
        tuple(_pairs(table, ranks, rope, against)),
        why,
    )


def _why_untested(datasets: int) -> str:
    if datasets >= FEWEST_DATASETS:
        return ""
    return f"no test over {datasets} datasets: at least {FEWEST_DATASETS} are needed"


def _pairs(table: ScoreTable, ranks: Array, rope: float | None, against: str) -> list[PairOverDatasets]:
    """Every pair, the model of the better mean rank first; p-values corrected over all of them."""
    order = np.argsort(ranks, kind="stable").tolist()
    every = [
        pair
        for pair in combinations(order, 2)
        if not against or against in (table.models[pair[0]], table.models[pair[1]])
    ]
    differences = [table.merits[:, first] - table.merits[:, second] for first, second in every]
    enough = len(table.datasets) >= FEWEST_DATASETS
    tests = holm([_difference(one, enough, table.rounding) for one in differences])
    return [
        PairOverDatasets(
            table.models[first],
            table.models[second],
            test,
            *wins_ties_losses(apart, table.rounding),
            None if rope is None or not enough else posterior(apart, rope, table.rounding),
        )
        for (first, second), apart, test in zip(every, differences, tests, strict=True)
    ]


def _difference(differences: Array, enough: bool, rounding: float) -> Difference:
    if not len(differences):
        return Difference(None, why="there is no dataset that all models have a score of")
    mean = float(differences.mean())
    if not enough:
        return Difference(mean, why=_why_untested(len(differences)))
    return Difference(mean, p=wilcoxon(differences, rounding), test=WILCOXON)
