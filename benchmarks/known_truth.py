"""Data of known truth, the methods that are judged on them, and how: what benchmarks/honesty.py draws from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers, Header
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.registry import metric_named
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
FEATURES = 5
LABEL_METRICS = ("accuracy", "f1-macro", "auc", "log-loss")
VALUE_METRICS = ("rmse", "mae", "r2")
SEED = 20_11
TRUTHS, FRESH = 200, 5_000
"""How many training sets the truth is a mean over, and how many fresh rows judge each."""


def seeded_by(*about: str | int) -> np.random.Generator:
    """Random numbers of its own for each line, so that no two lines are lucky together."""
    return np.random.default_rng([SEED, crc32(repr(about).encode())])


# Data of known truth


@dataclass(frozen=True)
class Classes:
    """Two Gaussian clouds; the further apart, the easier. Groups, where there are any, share label and a shift."""

    apart: float
    share: float = 0.5
    group_size: int = 1

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Features and classes."""
        groups = -(-rows // self.group_size)
        label = (rng.random(groups) < self.share).astype(np.float64)
        shift = rng.normal(size=(groups, FEATURES)) if self.group_size > 1 else np.zeros((groups, FEATURES))
        y, moved = (np.repeat(of_group, self.group_size, axis=0)[:rows] for of_group in (label, shift))
        X = rng.normal(size=(rows, FEATURES)) + moved
        X[:, 0] += self.apart * y
        return X, y


@dataclass(frozen=True)
class Line:
    """A linear function of the features with noise; ``explained`` is the share of the variance that is none."""

    explained: float
    group_size: int = 1

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Features and values."""
        groups = -(-rows // self.group_size)
        X = rng.normal(size=(rows, FEATURES))
        shift = np.repeat(rng.normal(size=groups), self.group_size)[:rows] if self.group_size > 1 else 0.0
        noise = (rng.normal(size=rows) + shift) / (np.sqrt(2) if self.group_size > 1 else 1)
        signal = X.sum(axis=1) / np.sqrt(FEATURES)
        return X, np.sqrt(self.explained) * signal + np.sqrt(1 - self.explained) * noise


Problem = Classes | Line
CLASSES = {
    "hard": Classes(0.8),
    "middle": Classes(1.8),
    "easy": Classes(3.8),
    "85:15": Classes(2.2, share=0.15),
}
LINES = {"hard": Line(0.2), "middle": Line(0.6), "easy": Line(0.95)}


# Methods, fitted to the rows outside of each fold at once

Method = Callable[[Array, Array, Ints, int], Array]
"""From features, targets, the fold of each row (-1: learned from only) and folds to answers by the others."""


def _sums_outside(values: Array, fold: Ints, folds: int) -> Array:
    """The sum of values over the rows outside each fold."""
    inside = np.zeros((folds, *values.shape[1:]))
    judged = fold >= 0
    if folds == judged.sum() == len(fold):
        inside[fold] = values
    else:
        np.add.at(inside, fold[judged], values[judged])
    return np.asarray(values.sum(axis=0) - inside)


def lda(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The probability of class 1 by linear discriminant analysis."""
    both = np.stack([1 - y, y], axis=1)
    count = _sums_outside(both, fold, folds)
    mean = _sums_outside(both[:, :, None] * X[:, None, :], fold, folds) / count[:, :, None]
    square = _sums_outside(X[:, :, None] * X[:, None, :], fold, folds)
    scatter = square - np.einsum("fk,fki,fkj->fij", count, mean, mean)
    covariance = scatter / (count.sum(axis=1) - 2)[:, None, None]
    slope = np.linalg.solve(covariance, (mean[:, 1] - mean[:, 0])[:, :, None])[:, :, 0]
    start = np.log(count[:, 1] / count[:, 0]) - (slope * (mean[:, 1] + mean[:, 0])).sum(axis=1) / 2
    odds = np.einsum("ni,ni->n", X, slope[fold]) + start[fold]
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))


def ridge(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """Values by ridge regression with a penalty of 1."""
    ones = np.concatenate([np.ones((len(X), 1)), X], axis=1)
    square = _sums_outside(ones[:, :, None] * ones[:, None, :], fold, folds)
    square += np.diag([0.0] + [1.0] * X.shape[1])
    slope = np.linalg.solve(square, _sums_outside(ones * y[:, None], fold, folds)[:, :, None])[:, :, 0]
    return np.asarray(np.einsum("ni,ni->n", ones, slope[fold]))


def tree(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The class by an unpruned tree, as a probability of nearly 0 or 1."""
    from sklearn.tree import DecisionTreeClassifier

    return np.clip(_grown(DecisionTreeClassifier(random_state=0), X, y, fold, folds), 1e-3, 1 - 1e-3)


def tree_of_values(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The value by an unpruned tree."""
    from sklearn.tree import DecisionTreeRegressor

    return _grown(DecisionTreeRegressor(random_state=0), X, y, fold, folds)


def _grown(tree: Any, X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """What a tree answers that is grown from the rows outside of each fold; what scikit-learn checks is right."""
    from sklearn import config_context

    found, exact = np.zeros(len(y)), X.astype(np.float32)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for one in range(folds):
            outside, inside = fold != one, fold == one
            grown = tree.fit(exact[outside], y[outside], check_input=False)
            found[inside] = grown.predict(exact[inside], check_input=False)
    return found


UNSTABLE = (tree, tree_of_values)
"""Methods that a few other training rows change a lot."""


# Protocols: the fold of each row, in each round


@dataclass(frozen=True)
class Rounds:
    """How rows are judged: by so many folds, so often; a share of them once; or one by one."""

    name: str
    folds: int = 10
    repeats: int = 1
    share: float = 0.0

    def learned(self, rows: int) -> int:
        """How many rows each fit learns from."""
        if self.share:
            return rows - round(rows * self.share)
        return rows - rows // (self.folds or rows)

    def deal(self, y: Array, groups: Ints, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
        """The fold of each row and how many there are, round by round; classes are balanced, groups kept whole."""
        units = np.unique(groups)
        first = np.unique(groups, return_index=True)[1]
        for _ in range(self.repeats):
            order = rng.permutation(len(units))
            if set(np.unique(y)) <= {0.0, 1.0}:
                order = order[np.argsort(y[first[order]], kind="stable")]
            of_unit = np.empty(len(units), np.intp)
            if self.share:
                period = np.floor(np.arange(1, len(units) + 1) * self.share + 0.5)
                of_unit[order] = np.where(np.diff(period, prepend=0) > 0, 0, -1)
                yield of_unit[groups], 1
            else:
                folds = self.folds or len(units)
                of_unit[order] = np.arange(len(units)) % folds
                yield of_unit[groups], folds


PROTOCOLS = (
    Rounds("10-fold"),
    Rounds("5 x 10-fold", repeats=5),
    Rounds("holdout", share=0.3),
    Rounds("leave-one-out", folds=0),
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answers of one method by split, with how many rows each split learned from."""

    splits: list[Any]
    train_rows: list[int]
    pooled: bool


def judged(
    method: Method, X: Array, y: Array, protocol: Rounds, deals: Sequence[tuple[Ints, int]], groups: Ints | None
) -> Outcome:
    """What a method answers under a protocol."""
    splits: list[Answers] = []
    for fold, folds in deals:
        found = method(X, y, fold, folds)
        if protocol.folds == 0:
            order = np.argsort(fold, kind="stable")
            ends = np.searchsorted(fold[order], np.arange(folds + 1))
            places = (slice(*pair) for pair in pairwise(ends.tolist()))
            splits += answers_of(order, y, found, groups).parted(places)
            continue
        splits += [answers_of(np.flatnonzero(fold == one), y, found, groups) for one in range(folds)]
    return Outcome(splits, [len(y) - len(one) for one in splits], protocol.folds == 0)


def answers_of(rows: Ints, y: Array, found: Array, groups: Ints | None) -> Answers:
    """Answers about some rows: classes with probabilities, or values."""
    header = Header(rows=rows, group=None if groups is None else groups[rows].astype(np.int32))
    truth, said = y[rows], found[rows]
    if not set(np.unique(y)) <= {0.0, 1.0}:
        return ValueAnswers(header=header, truth=truth, predicted=said)
    return LabelAnswers(
        header=header,
        truth=truth.astype(np.int32),
        predicted=(said > 0.5).astype(np.int32),
        classes=("no", "yes"),
        probabilities=np.stack([1 - said, said], axis=1),
    )


@cache
def metrics_of(problem: Problem) -> tuple[Metric, ...]:
    """The metrics that judge answers to a problem."""
    labels = isinstance(problem, Classes)
    kind = LabelAnswers if labels else ValueAnswers
    return tuple(metric_named(name, kind) for name in (LABEL_METRICS if labels else VALUE_METRICS))


@cache
def truth_of(problem: Problem, method: Method, learned: int) -> dict[str, float]:
    """What a method scores on fresh rows, on average over training sets of so many rows."""
    found: dict[str, list[float]] = {metric.name: [] for metric in metrics_of(problem)}
    rng = seeded_by(repr(problem), method.__name__, learned)
    for _ in range(TRUTHS):
        (X, y), (fresh, known) = problem.draw(learned, rng), problem.draw(FRESH, rng)
        if len(np.unique(y)) < 2:
            continue
        fold = np.concatenate([np.full(learned, -1), np.zeros(FRESH, np.intp)]).astype(np.intp)
        both = np.concatenate([y, known])
        answers = answers_of(
            np.arange(learned, learned + FRESH), both, method(np.concatenate([X, fresh]), both, fold, 1), None
        )
        for metric in metrics_of(problem):
            score = metric.compute(answers)
            assert not isinstance(score, Undefined)
            found[metric.name].append(score)
    return {name: float(np.mean(values)) for name, values in found.items()}


def majority(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The share of class 1; judged one by one that of all rows, as the table does."""
    shares = (
        np.full(folds, y.mean())
        if folds == len(y)
        else _sums_outside(y, fold, folds) / _sums_outside(np.ones_like(y), fold, folds)
    )
    return np.asarray(np.where(shares > 0.5, 0.75, 0.25)[fold])
