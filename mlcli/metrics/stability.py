"""Fold stability: do the accuracies of folds agree, does one stand apart, or are they inconsistent?

Lecture notes give three verdicts and no rule. The rule here, in shares of rows:

    spread = 1.4826 · median |v - median|, the robust standard deviation of the folds
    error  = sqrt(p (1 - p) / n), what n rows of a fold give by chance; p is the median, drawn to the middle by one
             row of either kind, so that a perfect median leaves room for a wrong row
    inconsistent    spread > max(0.05, 2 · error), or more than one fold stands apart
    a fold apart    |v - median| > max(3 · spread, 0.02, 3 · its own error)
    consistent      no fold stands apart

Without the error terms, folds of 15 rows would nearly always be called inconsistent.

Any metric has a test besides, of whether its splits vary more than their rows explain (``beyond_rows``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array
from mlcli.metrics.distributions import f_tail
from mlcli.metrics.pooling import rounds_of_rows

WIDE, FAR = 0.05, 0.02


@dataclass(frozen=True)
class Stability:
    """The verdict, and what it rests on."""

    verdict: Literal["consistent", "outlier split", "inconsistent"]
    apart: tuple[int, ...]
    """Positions of the folds that stand apart."""
    median: float
    spread: float
    why: str


def fold_stability(values: Sequence[float], rows_per_fold: Sequence[int]) -> Stability:
    """The verdict on accuracies (shares, not percent) of folds with so many judged rows."""
    result, rows = np.array(values, dtype=np.float64), np.array(rows_per_fold, dtype=np.float64)
    median = float(np.median(result))
    distances = np.abs(result - median)
    # A normal sample's standard deviation by its median absolute deviation
    spread, errors = 1.4826 * float(np.median(distances)), _chance_errors(median, rows)
    limits = np.maximum(max(3 * spread, FAR), 3 * errors)
    apart = tuple(int(fold) for fold in np.flatnonzero(distances > limits))
    widest = max(WIDE, 2 * float(np.median(errors)))
    if spread > widest:
        why = f"the folds spread by {spread:.3f} around {median:.3f}, more than {widest:.3f}"
        return Stability("inconsistent", (), median, spread, why)
    if not apart:
        why = f"every fold is as near to {median:.3f} as chance and the others' spread allow"
        return Stability("consistent", (), median, spread, why)
    named = ", ".join(f"fold {fold + 1} ({result[fold]:.3f})" for fold in apart)
    verdict: Literal["outlier split", "inconsistent"] = "outlier split" if len(apart) == 1 else "inconsistent"
    verdict_words = "outlier split" if len(apart) == 1 else "outlier splits"
    return Stability(verdict, apart, median, spread, f"{verdict_words}: {named}, far from the median {median:.3f}")


def beyond_rows(values: Array, splits: Sequence[Answers], variance: float, freedom: float) -> bool:
    """Whether values of splits vary more than their rows explain: an F test at 1 %.

    ``variance`` is what rows explain of the variance of the mean over splits that judge each row once, with its
    degrees of freedom. Splits of uneven sizes vary unevenly, so theirs are by Welch & Satterthwaite.
    """
    first, *others = rounds_of_rows(splits)
    if len(first) < 2 or variance <= 0 or any(len(each) != len(first) for each in others):
        return False
    by_round = values.reshape(-1, len(first))
    of_splits = 1 / np.array([len(answers) for answers in first])
    between = float(of_splits.sum() ** 2 / (of_splits**2).sum()) - 1
    ratio = float(by_round.var(axis=1, ddof=1).mean()) / len(first) / variance
    # the level of the test
    return between > 0 and f_tail(ratio, between, freedom) < 0.01


def _chance_errors(median: float, rows: Array) -> Array:
    share = (median * rows + 1) / (rows + 2)
    errors: Array = np.sqrt(share * (1 - share) / rows)
    return errors
