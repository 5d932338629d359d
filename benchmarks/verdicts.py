"""Size and power of verdicts: how often tests claim a difference that is not there, and see one that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.known_truth import UNSTABLE, Array, Method, Rounds, judged, lda, majority, seeded_by, tree
from mlcli.metrics.difference import Difference, compare, holm
from mlcli.metrics.registry import metric_named
from mlcli.tasks.supervised import LabelAnswers


def blocks(apart: Sequence[float], rows: int, rng: np.random.Generator) -> tuple[list[Array], Array]:
    """Features of several models, each with its own that set the classes apart so far."""
    y = rng.permutation(np.arange(rows) % 2).astype(np.float64)
    X = [rng.normal(size=(rows, 2)) for _ in apart]
    for own, far in zip(X, apart, strict=True):
        own[:, 0] += far * y
    return X, y


APART = {0.5: 0.0, 0.75: 1.349, 0.8: 1.683, 0.85: 2.073}
"""How far apart two clouds are of which the best rule gets such a share right: twice the normal quantile."""


def compared(
    accuracy: Sequence[float],
    protocol: Rounds,
    rows: int,
    rng: np.random.Generator,
    baseline: bool = False,
    method: Method = lda,
) -> list[list[Difference]]:
    """Every model compared with every other, or with the largest class as mlcli's table does."""
    features, y = blocks([APART[share] for share in accuracy], rows, rng)
    deals = list(protocol.deal(y, np.arange(rows), rng))
    found = [judged(method, X, y, protocol, deals, None) for X in features]
    metric = metric_named("accuracy", LabelAnswers)
    others = [judged(majority, features[0], y, protocol, deals, None)] if baseline else found
    return [
        [
            compare(metric, one.splits, other.splits, one.train_rows, one.pooled, unstable=method in UNSTABLE)
            for other in others
            if other is not one
        ]
        for one in found
    ]


def sure_of(pairs: Sequence[Sequence[Difference]]) -> bool:
    """Whether the best of several is called better than another after Holm's correction."""
    best = max(pairs, key=lambda row: sum(one.mean or 0.0 for one in row))
    return any(one.distinguishable for one in holm(best))


def gains(pairs: Sequence[Sequence[Difference]]) -> bool:
    """Whether any model is called better than the baseline after Holm's correction."""
    return any(one.distinguishable and (one.mean or 0.0) > 0 for one in holm([row[0] for row in pairs]))


Claim = Callable[[Sequence[Sequence[Difference]]], bool]


@dataclass(frozen=True)
class Contest:
    """How often a verdict claims something about models of these accuracies."""

    name: str
    accuracy: tuple[float, ...]
    claims: Claim
    rows: int
    protocols: tuple[int, ...] = (0, 1, 2, 3)
    baseline: bool = False
    method: Method = lda


def first_pair(pairs: Sequence[Sequence[Difference]]) -> bool:
    """Whether the first two are told apart."""
    return pairs[0][0].distinguishable


CONTESTS = (
    *(Contest("two equal models told apart", (0.8, 0.8), first_pair, rows) for rows in (60, 200)),
    Contest("two equal trees told apart", (0.8, 0.8), first_pair, 200, (0, 1), method=tree),
    Contest("best of six equal models called better", (0.8,) * 6, sure_of, 200, (0, 1, 3)),
    Contest("0.85 told from 0.75", (0.85, 0.75), first_pair, 200),
    Contest("a gain of nine models on noise", (0.5,) * 9, gains, 60, (0, 1, 3), baseline=True),
    Contest("a gain of nine models on noise", (0.5,) * 9, gains, 200, (0, 1, 3), baseline=True),
)


def claimed(contest: Contest, protocol: Rounds, times: int) -> float:
    """The share of datasets in which the verdict claims it."""
    rng = seeded_by(contest.name, protocol.name, contest.rows)
    found = (
        compared(contest.accuracy, protocol, contest.rows, rng, contest.baseline, contest.method)
        for _ in range(times)
    )
    return float(np.mean([contest.claims(one) for one in found]))
