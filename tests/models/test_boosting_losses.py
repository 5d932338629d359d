"""Losses of boosting: derivatives beside finite differences, starts beside a search for the least cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from mlcli.core.moments import quantiles
from mlcli.core.tables import Array
from mlcli.models.boosting._losses import (
    AbsoluteLoss,
    HuberLoss,
    LogisticLoss,
    SoftmaxLoss,
    SquaredLoss,
)

RNG = np.random.default_rng(0)
N = 40
Y, CODES = RNG.normal(size=N), RNG.integers(0, 3, N).astype(np.int32)
W = RNG.integers(1, 4, N).astype(float)
LOSSES: dict[str, Any] = {
    "squared": SquaredLoss(Y, W),
    "absolute": AbsoluteLoss(Y, W),
    "huber": HuberLoss(Y, W, 0.7),
    "logistic": LogisticLoss((CODES == 1).astype(float), W),
    "softmax": SoftmaxLoss(CODES, W, 3),
}
CURVED = ("squared", "logistic", "softmax")
STEP = 1e-5


def some_scores(loss: Any) -> Array:
    """Scores near the start."""
    return np.asarray(loss.start[:, None] + RNG.normal(size=(len(loss.start), N)))


def changed(loss: Any, scores: Array, output: int, row: int, by: float) -> Any:
    """The loss after one score has changed."""
    moved = scores.copy()
    moved[output, row] += by
    return loss.at(moved)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_differences_of_the_cost(name: str) -> None:
    loss = LOSSES[name]
    scores = some_scores(loss)
    gradient = loss.at(scores).gradient
    for output, row in np.ndindex(*scores.shape):
        up, down = (changed(loss, scores, output, row, by).cost for by in (STEP, -STEP))
        assert (up - down) * W.sum() / (2 * STEP) == pytest.approx(gradient[output, row], abs=1e-5)


@pytest.mark.parametrize("name", CURVED)
def test_hessians_are_differences_of_the_gradient(name: str) -> None:
    loss = LOSSES[name]
    scores = some_scores(loss)
    hessian = loss.at(scores).hessian
    for output, row in np.ndindex(*scores.shape):
        up, down = (changed(loss, scores, output, row, by).gradient[output, row] for by in (STEP, -STEP))
        assert (up - down) / (2 * STEP) == pytest.approx(hessian[output, row], abs=1e-6)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "softmax"])
def test_no_constant_costs_less_than_the_start(name: str) -> None:
    loss = LOSSES[name]
    least = minimize_scalar(lambda score: loss.at(np.full((1, N), score)).cost)
    assert loss.at(np.full((1, N), loss.start[0])).cost <= least.fun + 1e-12


def test_softmax_starts_from_the_class_shares() -> None:
    powers = np.exp(LOSSES["softmax"].start)
    assert powers / powers.sum() == pytest.approx(np.bincount(CODES, weights=W) / W.sum())


@pytest.mark.parametrize("far", [-800.0, 800.0])
def test_far_scores_do_not_overflow(far: float) -> None:
    with np.errstate(over="raise"):
        for name in ("logistic", "softmax"):
            loss = LOSSES[name]
            assert np.isfinite(loss.at(np.full((len(loss.start), N), far)).gradient).all()


def test_a_whole_weight_counts_as_that_many_values() -> None:
    for share in (0.1, 0.5, 0.9):
        repeated = np.repeat(Y, W.astype(int))
        assert quantiles(Y, W, share) == quantiles(repeated, np.ones(len(repeated)), share)
    assert quantiles(Y, np.ones(N), 0.5) == pytest.approx(float(np.median(Y)))
