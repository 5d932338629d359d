"""Gradient boosting beside scikit-learn's, whose exact search finds the same splits where values are few."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from mlcli.engines.trees.losses import HuberLoss
from mlcli.models.boosting.gradient_boosting import GradientBoosting
from tests.golden.asking import fitted
from tests.golden.shipped import numeric
from tests.golden.test_newton_boosting import classes_of, coarse, values_of
from tests.rows import labelled, table_of, valued

ROUNDS = 12


def test_values_are_those_of_scikit_learn() -> None:
    X = coarse()
    y = values_of(X)
    model = fitted(GradientBoosting(rounds=ROUNDS, min_leaf=3), valued(numeric(X), list(y)))
    other = GradientBoostingRegressor(n_estimators=ROUNDS, min_samples_leaf=3).fit(X, y)
    assert model.predict_values(numeric(X)) == pytest.approx(other.predict(X), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(classes: int) -> None:
    X = coarse()
    labels = classes_of(X, classes)
    model = fitted(GradientBoosting(rounds=ROUNDS, min_leaf=3), labelled(numeric(X), labels))
    other = GradientBoostingClassifier(n_estimators=ROUNDS, min_samples_leaf=3).fit(X, labels)
    assert model.predict_proba(numeric(X)) == pytest.approx(other.predict_proba(X), abs=1e-6)


def test_leaves_of_the_absolute_loss_are_medians() -> None:
    """Friedman 2001, algorithm 3 (LAD_TreeBoost)."""
    x = np.repeat([0.0, 1.0], 31)
    y = np.random.default_rng(0).standard_t(1.5, size=62) + 4 * x
    rows = valued(table_of({"x": list(x)}), list(y))
    model = fitted(GradientBoosting(rounds=1, loss="absolute", learning_rate=1.0), rows)
    assert model.predict_values(rows.table) == pytest.approx(np.repeat([np.median(y[:31]), np.median(y[31:])], 31))


def test_leaves_of_huber_are_where_as_much_pulls_up_as_down() -> None:
    """Huber 1964: Σ ψ((y − γ)) = 0 in each leaf."""
    x = np.repeat([0.0, 1.0], 30)
    y = np.random.default_rng(0).standard_t(1.5, size=60) + 4 * x
    rows = valued(table_of({"x": list(x)}), list(y))
    model = fitted(GradientBoosting(rounds=1, loss="huber", delta=0.8, learning_rate=1.0), rows)
    short = y - model.predict_values(rows.table)
    for side in (0.0, 1.0):
        assert np.clip(short[x == side], -0.8, 0.8).sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 0.5, 10.0])
def test_steps_of_newton_and_halving_find_the_same(delta: float) -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.standard_t(1.5, size=31), rng.integers(1, 4, 31).astype(float)
    loss = HuberLoss(values, weights, delta)
    assert loss.best_of(values, weights) == pytest.approx(loss._halved(values, weights), abs=1e-9)


def test_a_leaf_of_one_class_takes_a_finite_step() -> None:
    rows = labelled(table_of({"x": [0.0, 0.0, 1.0, 1.0]}), ["a", "a", "b", "b"])
    model = fitted(GradientBoosting(rounds=1, learning_rate=1.0), rows)
    odds = np.log(model.predict_proba(rows.table)[:, 1] / model.predict_proba(rows.table)[:, 0])
    assert odds == pytest.approx([-2, -2, 2, 2])  # Σ r / Σ p(1 − p) = (½ + ½) / (¼ + ¼)


def test_losses_fall_round_by_round() -> None:
    X = coarse()
    for loss in ("squared", "absolute", "huber"):
        model = fitted(GradientBoosting(rounds=10, loss=loss), valued(numeric(X), list(values_of(X))))
        assert (np.diff(model.training_loss_) < 0).all()
