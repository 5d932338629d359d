"""Scores of predicted numbers, from the errors: predicted minus true."""

from __future__ import annotations

import math

import numpy as np

from mlcli.core.moments import quantiles
from mlcli.core.tables import Array
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.registry import mean_of_rows, means_under, score, weighted_mean
from mlcli.tasks.supervised import ValueAnswers

VARIES = 1e-12
"""Values whose variance is a smaller share of the largest squared distance are one value but for rounding."""

HEAVY = 6.0
"""From this kurtosis of errors on (normal ones have 3) few rows are much of their squares; more rows bear more."""


@mean_of_rows("bias", ValueAnswers, better="zero")
def bias(answers: ValueAnswers) -> Array:
    """Mean of predicted minus true: positive if predictions are too high."""
    return answers.predicted - answers.truth


@mean_of_rows("mean-residual", ValueAnswers, better="zero")
def mean_residual(answers: ValueAnswers) -> Array:
    """Mean of true minus predicted: bias with the other sign."""
    return answers.truth - answers.predicted


@mean_of_rows("mae", ValueAnswers, better="low", low=0.0)
def mae(answers: ValueAnswers) -> Array:
    """Mean absolute error."""
    return np.abs(bias(answers))


def heavy_tails(answers: ValueAnswers) -> tuple[str, ...]:
    """The mark of squared errors that come mostly from a few rows."""
    errors, weight = bias(answers), answers.weight
    centred = errors - weighted_mean(errors, weight)
    centred = centred / (np.abs(centred).max(initial=0.0) or 1.0)  # fourth powers of 1e80 are infinite
    kurtosis = weighted_mean(centred**4, weight) / (weighted_mean(centred**2, weight) ** 2 or np.inf)
    heavy = kurtosis > max(HEAVY, math.sqrt(len(errors) / 10))
    return (HEAVY_TAILS,) * heavy


HEAVY_TAILS = (
    "errors have heavy tails: a few rows are much of their squares, so that its interval and that of r2 are too "
    "short; mae is better known"
)


@mean_of_rows("mse", ValueAnswers, better="low", low=0.0, scale="log", marks=heavy_tails)
def mse(answers: ValueAnswers) -> Array:
    """Mean squared error."""
    return bias(answers) ** 2


def rmse_under(answers: ValueAnswers, weightings: Array) -> Array:
    """The root of the mean squared error under many weightings."""
    return np.sqrt(means_under(mse(answers), weightings))


def influence_on_rmse(answers: ValueAnswers) -> Array | None:
    """The deviation of each squared error from their mean, divided by twice the root of the mean."""
    squares = mse(answers)
    mean = weighted_mean(squares, answers.weight)
    return (squares - mean) / (2 * math.sqrt(mean)) if mean > 0 else None


@score(
    "rmse",
    ValueAnswers,
    better="low",
    low=0.0,
    under=rmse_under,
    influence=influence_on_rmse,
    marks=heavy_tails,
    scale="log",
    by_rounds=True,
)
def rmse(answers: ValueAnswers) -> Score:
    """Root mean squared error, in the unit of the target."""
    return math.sqrt(weighted_mean(mse(answers), answers.weight))


@score("sse", ValueAnswers, better="low", low=0.0)
def sse(answers: ValueAnswers) -> Score:
    """Sum of squared errors (residual sum of squares)."""
    return float(answers.weights @ mse(answers))


def r2_under(answers: ValueAnswers, weightings: Array) -> Array:
    """The share of the variance explained under many weightings; NaN where all that counts has one value."""
    centred = answers.truth - answers.truth.mean()
    mean = means_under(centred, weightings)
    spread = means_under(centred**2, weightings) - mean**2
    varies = spread > VARIES * (centred**2).max(initial=0.0)
    unexplained = means_under(mse(answers), weightings) / np.where(varies, spread, 1.0)
    return np.where(varies, 1 - unexplained, np.nan)


def influence_on_r2(answers: ValueAnswers) -> Array | None:
    """By the delta method: R² is 1 minus the mean of squared errors over that of squared distances."""
    distances = (answers.truth - weighted_mean(answers.truth, answers.weight)) ** 2
    error, spread = (weighted_mean(squares, answers.weight) for squares in (mse(answers), distances))
    return (error / spread * (distances - spread) - (mse(answers) - error)) / spread if spread > 0 else None


@score("r2", ValueAnswers, better="high", high=1.0, under=r2_under, influence=influence_on_r2, pooling="always")
def r2(answers: ValueAnswers) -> Score:
    """Share of the variance explained: 1 minus squared error over squared distance from the test rows' mean."""
    truth = answers.truth[answers.weights > 0]
    if truth.min() == truth.max():
        return Undefined("the test rows all have the same value", "splits with more rows would help")
    distances = (answers.truth - weighted_mean(answers.truth, answers.weight)) ** 2
    return 1 - float(answers.weights @ mse(answers)) / float(answers.weights @ distances)


@score("median-absolute-error", ValueAnswers, better="low", low=0.0)
def median_absolute_error(answers: ValueAnswers) -> Score:
    """The absolute error that half of the rows stay below; the mean of two where the half falls between them."""
    counting = answers.weights > 0
    return float(quantiles(mae(answers)[counting], answers.weights[counting], 0.5))
