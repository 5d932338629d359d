"""Honesty: how often the intervals of 95 % hold the truth, and how often tests see a difference that is not there.

Data of known truth are drawn many times, judged by protocols as mlcli judges them, and summed up by the very
functions that make its tables. The truth is what the method scores on fresh rows on average, having learned from
as many rows as it does in the protocol. Run `python -m benchmarks.honesty` (about ten minutes on two quiet cores);
it writes honesty.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers, Header
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.difference import Difference, compare, holm
from mlcli.metrics.over_units import over_units, parts_of
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.regression import ValueAnswers

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
FEATURES = 5
LABEL_METRICS = ("accuracy", "f1-macro", "auc", "log-loss")
VALUE_METRICS = ("rmse", "mae", "r2")
SIZES = (60, 200, 1000)
SEED = 20_11
TRUTHS, FRESH = 200, 5_000
"""How many training sets the truth is a mean over, and how many fresh rows judge each."""


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

    found = np.zeros(len(y))
    for one in range(folds):
        outside, inside = fold != one, fold == one
        fitted = DecisionTreeClassifier(random_state=0).fit(X[outside], y[outside])
        found[inside] = fitted.predict(X[inside])
    return np.clip(found, 1e-3, 1 - 1e-3)


def tree_of_values(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The value by an unpruned tree."""
    from sklearn.tree import DecisionTreeRegressor

    found = np.zeros(len(y))
    for one in range(folds):
        outside, inside = fold != one, fold == one
        found[inside] = DecisionTreeRegressor(random_state=0).fit(X[outside], y[outside]).predict(X[inside])
    return found


UNSTEADY = (tree, tree_of_values)
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
def truth_of(problem: Problem, method: Method, learned: int, seed: int) -> dict[str, float]:
    """What a method scores on fresh rows, on average over training sets of so many rows."""
    found: dict[str, list[float]] = {metric.name: [] for metric in metrics_of(problem)}
    rng = np.random.default_rng([seed, learned])
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


# Coverage


@dataclass(frozen=True)
class Setting:
    """One line of figures: a problem judged by a protocol."""

    problem: Problem
    name: str
    method: Method
    protocol: Rounds
    rows: int


@dataclass(frozen=True)
class Covered:
    """How often intervals held the truth, of those that were made, and how wide they were by rows alone."""

    metric: str
    share: float
    made: float
    none_wide: int
    width: float
    beside_rows: float
    """How wide by what rows alone give, each counted as one of fresh data, whether they form groups or not."""
    bias: float


def coverage(setting: Setting, times: int) -> list[Covered]:
    """The coverage of every metric in a setting."""
    problem, protocol = setting.problem, setting.protocol
    truth = truth_of(problem, setting.method, protocol.learned(setting.rows), SEED)
    rng = np.random.default_rng([SEED, setting.rows, PROTOCOLS.index(protocol), len(setting.name)])
    low, high, mean, alone = (np.full((len(truth), times), np.nan) for _ in range(4))
    for time in range(times):
        X, y = problem.draw(setting.rows, rng)
        while isinstance(problem, Classes) and min(y.sum(), len(y) - y.sum()) < 2 * problem.group_size:
            X, y = problem.draw(setting.rows, rng)
        groups = np.arange(setting.rows) // problem.group_size
        deals = list(protocol.deal(y, groups, rng))
        found = judged(setting.method, X, y, protocol, deals, groups if problem.group_size > 1 else None)
        for place, metric in enumerate(metrics_of(problem)):
            one = summarise(
                metric, found.splits, found.train_rows, found.pooled, unsteady=setting.method in UNSTEADY
            )
            mean[place, time] = np.nan if one.mean is None else one.mean
            alone[place, time] = width_by_rows(metric, found)
            if one.low is not None and one.high is not None:
                low[place, time], high[place, time] = one.low, one.high
    return [
        _covered(name, true, low[place], high[place], mean[place], alone[place])
        for place, (name, true) in enumerate(truth.items())
    ]


def width_by_rows(metric: Metric, found: Outcome) -> float:
    """How wide the interval would be if rows were all that varies: 3.92 standard errors of their mean."""
    units = over_units(metric, parts_of(metric, found.splits, found.pooled), grouped=False)
    return 2 * 1.96 * units.error if units is not None and units.error > 0 else np.nan


def _covered(name: str, truth: float, low: Array, high: Array, mean: Array, alone: Array) -> Covered:
    made = ~np.isnan(low)
    within = (low[made] <= truth) & (truth <= high[made])
    spread = 2 * 1.96 * float(np.nanstd(mean))
    return Covered(
        metric=name,
        share=float(within.mean()) if made.any() else np.nan,
        made=float(made.mean()),
        none_wide=int((high[made] <= low[made]).sum()),
        width=float(np.median(high[made] - low[made])) / spread if made.any() and spread else np.nan,
        beside_rows=float(np.nanmedian((high - low) / alone)),
        bias=float(np.nanmean(mean)) - truth,
    )


def settings(sizes: Sequence[int] = SIZES) -> Iterator[Setting]:
    """Every line of the table of coverage."""
    for rows in sizes:
        for protocol in PROTOCOLS:
            yield from (Setting(one, f"lda, {name}", lda, protocol, rows) for name, one in CLASSES.items())
            yield from (Setting(one, f"ridge, {name}", ridge, protocol, rows) for name, one in LINES.items())
            if protocol.folds and rows < max(SIZES):
                middle, line = CLASSES["middle"], LINES["middle"]
                yield Setting(middle, "tree, middle", tree, protocol, rows)
                yield Setting(line, "tree of values, middle", tree_of_values, protocol, rows)
    for protocol in PROTOCOLS[:2]:
        yield Setting(Classes(1.8, group_size=10), "lda, 30 groups × 10", lda, protocol, 300)
        yield Setting(Line(0.6, group_size=10), "ridge, 30 groups × 10", ridge, protocol, 300)


# Size and power of the verdict


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
            compare(metric, one.splits, other.splits, one.train_rows, one.pooled, unsteady=method in UNSTEADY)
            for other in others
            if other is not one
        ]
        for one in found
    ]


def majority(X: Array, y: Array, fold: Ints, folds: int) -> Array:
    """The share of class 1; judged one by one that of all rows, as the table does."""
    shares = (
        np.full(folds, y.mean())
        if folds == len(y)
        else _sums_outside(y, fold, folds) / _sums_outside(np.ones_like(y), fold, folds)
    )
    return np.asarray(np.where(shares > 0.5, 0.75, 0.25)[fold])


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
    *(Contest("two equal models told apart", (0.8, 0.8), first_pair, rows) for rows in SIZES[:2]),
    Contest("two equal trees told apart", (0.8, 0.8), first_pair, 200, (0, 1), method=tree),
    Contest("best of six equal models called better", (0.8,) * 6, sure_of, 200, (0, 1, 3)),
    Contest("0.85 told from 0.75", (0.85, 0.75), first_pair, 200),
    Contest("a gain of nine models on noise", (0.5,) * 9, gains, 60, (0, 1, 3), baseline=True),
    Contest("a gain of nine models on noise", (0.5,) * 9, gains, 200, (0, 1, 3), baseline=True),
)


def claimed(contest: Contest, protocol: Rounds, times: int) -> float:
    """The share of datasets in which the verdict claims it."""
    rng = np.random.default_rng([SEED, contest.rows, len(contest.accuracy), PROTOCOLS.index(protocol)])
    found = (
        compared(contest.accuracy, protocol, contest.rows, rng, contest.baseline, contest.method)
        for _ in range(times)
    )
    return float(np.mean([contest.claims(one) for one in found]))


# The page

ABOUT = """# Honesty of intervals and verdicts

Written by `python -m benchmarks.honesty`: data of known truth, {times} datasets a line (seed {seed}), judged
and summed up by mlcli's own functions. The truth is what the method scores on fresh rows on average, having
learned from as many rows as it does in the protocol. A share of 95 % of {times} is known to ± {error:.1f} points
(one standard error).

## Coverage of the 95 % interval

In %, of the intervals that were made; in brackets the median width by that of 3.92 standard deviations of the
score over datasets, then by that of 3.92 standard errors which rows alone give, each counted as a fresh one. `-`
behind it: so many % of datasets have none (an area of 1, or one that is undefined).
"""


def page(times: int, sizes: Sequence[int], workers: int) -> str:
    """All figures."""
    error = 100 * float(np.sqrt(0.95 * 0.05 / times))
    lines = [ABOUT.format(times=times, seed=SEED, error=error)]
    with Pool(workers) as pool:
        for labels, names in ((True, LABEL_METRICS), (False, VALUE_METRICS)):
            chosen = [one for one in settings(sizes) if isinstance(one.problem, Classes) is labels]
            lines += [_row(["method, data", "protocol", "rows", *names]), _row(["---"] * (3 + len(names)))]
            covered = pool.imap(partial(coverage, times=times), chosen)
            for setting, found in zip(chosen, covered, strict=True):
                about = [setting.name, setting.protocol.name, str(setting.rows)]
                lines.append(_row([*about, *map(_written, found)]))
                print(lines[-1], flush=True)
            lines.append("")
        lines += ["## Verdicts", "", "Claims by accuracy, in % of datasets.", ""]
        lines += [_row(["claim", "rows", *(one.name for one in PROTOCOLS)]), _row(["---"] * (2 + len(PROTOCOLS)))]
        asked = [(one, PROTOCOLS[place], 2 * times) for one in CONTESTS for place in one.protocols]
        shares = dict(
            zip([(one, protocol) for one, protocol, _ in asked], pool.starmap(claimed, asked), strict=True)
        )
        for one in CONTESTS:
            figures = [f"{100 * shares[one, p]:.1f}" if (one, p) in shares else "" for p in PROTOCOLS]
            lines.append(_row([one.name, str(one.rows), *figures]))
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _written(found: Covered) -> str:
    none = f" -{100 * (1 - found.made):.0f}" if found.made < 1 else ""
    return f"{100 * found.share:.1f} ({found.width:.2f}, {found.beside_rows:.2f}){none}" + "!" * bool(
        found.none_wide
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300, help="datasets a line")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), help="rows")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("honesty.md"))
    given = parser.parse_args()
    given.output.write_text(page(given.times, given.sizes, given.workers), encoding="utf-8")


if __name__ == "__main__":
    main()
