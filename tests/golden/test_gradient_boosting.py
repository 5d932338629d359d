"""Gradient boosting beside scikit-learn's, whose exact search finds the same splits where values are few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from mlcli.models.boosting._losses import LOSSES_OF_VALUES, HuberLoss, Loss, loss_of_classes
from mlcli.models.boosting.gradient_boosting import GradientBoosting, line_search
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.trees.decision_tree import DecisionTree
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers, numeric
from tests.golden.test_newton_boosting import classes_of, coarse, values_of
from tests.support.rows import labelled, table_of, valued

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
def test_no_value_costs_less_huber_than_the_best(delta: float) -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.standard_t(1.5, size=31), rng.integers(1, 4, 31).astype(float)
    loss = HuberLoss(values, weights, delta)
    assert weights @ loss.pull(values - loss.best_of(values, weights)) == pytest.approx(0, abs=1e-9)


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


# Any regressor as the base: algorithm 2 of the notes.


def test_one_round_of_linear_regression_is_least_squares() -> None:
    data = in_numbers("concrete")
    model = fitted(GradientBoosting(base=LinearRegression(), rounds=1, learning_rate=1.0), data)
    X = np.column_stack([np.ones(len(data)), data.table.numbers])
    plane = X @ np.linalg.lstsq(X, data.y, rcond=None)[0]
    assert model.predict_values(data.table) == pytest.approx(plane, abs=1e-9 * np.abs(data.y).max())


def test_trees_as_a_base_are_the_trees_of_the_squared_loss() -> None:
    # A leaf's mean is its best step, so that one multiplier, 1, is as good as one for each leaf.
    X = coarse()
    rows = valued(numeric(X), list(values_of(X)))
    base = fitted(GradientBoosting(base=DecisionTree(max_depth=3, min_leaf=3), rounds=ROUNDS), rows)
    trees = fitted(GradientBoosting(rounds=ROUNDS, min_leaf=3), rows)
    assert base.multipliers_ == pytest.approx(np.full(ROUNDS, 0.1))
    assert base.predict_values(rows.table) == pytest.approx(trees.predict_values(rows.table), abs=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_the_line_search_finds_the_minimum_of_values(loss: str) -> None:
    rng = np.random.default_rng(2)
    y, says = rng.standard_t(2, size=80), rng.normal(size=80)
    assert_lowest(LOSSES_OF_VALUES[loss](y, np.ones(80), 0.7), np.zeros((1, 80)), 0, says + y)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_line_search_finds_the_minimum_of_classes(classes: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, classes, 80).astype(np.int32)
    outputs = 1 if classes == 2 else classes
    loss = loss_of_classes(y, np.arange(classes, dtype=np.int32), np.ones(80))
    says = rng.normal(size=80) + (y == classes - 1)
    assert_lowest(loss, np.zeros((outputs, 80)), outputs - 1, says)


def assert_lowest(loss: Loss, scores: Any, output: int, says: Any) -> None:
    """Where the search ends is as low as SciPy's minimum."""

    def cost(far: float) -> float:
        moved = scores.copy()
        moved[output] += far * says
        return loss.at(moved).cost

    theirs = minimize_scalar(cost, bounds=(0, 128), method="bounded", options={"xatol": 1e-10})
    found = line_search(loss, scores, output, says)
    assert found > 0
    assert cost(found) <= theirs.fun + 1e-9


def test_weak_learners_tell_classes_apart_and_stop_in_time() -> None:
    data = in_numbers("iris")
    model = fitted(GradientBoosting(base=LinearRegression(), rounds=200, stop_after=3), data)
    assert 1 <= model.stages() < len(model.training_loss_) <= 200 or model.stages() == 200
    assert (asked(model, data).predicted == data.y).mean() > 0.8
    stages = list(model.staged(data.table, [1, model.stages()]))
    assert stages[-1] == pytest.approx(model.predict_proba(data.table))


def test_parameters_of_trees_are_refused_beside_a_base() -> None:
    assert GradientBoosting(base=LinearRegression(), bins=9).conflicts() == ["bins is of trees, but base is given"]


def test_a_row_is_explained_by_its_score_after_rounds() -> None:
    """Those of scikit-learn after 1, 2, 4, 8 and 12 rounds; before any, the log-odds of all rows."""
    X = coarse()
    labels = classes_of(X, 2)
    model = fitted(GradientBoosting(rounds=ROUNDS, min_leaf=3), labelled(numeric(X), labels))
    other = GradientBoostingClassifier(n_estimators=ROUNDS, min_samples_leaf=3).fit(X, labels)
    (found,) = model.explain_answer(numeric(X[:1]))
    scores = [float(one[0, 0]) for one in other.staged_decision_function(X[:1])]
    shares = [one[0] for one in other.staged_predict_proba(X[:1])]
    share = np.mean(np.array(labels) == other.classes_[1])
    assert found.header == (
        "rounds",
        *(f"{of}" for of in (f"F({other.classes_[1]})", *map("p({})".format, other.classes_))),
    )
    assert [line[0] for line in found.rows] == [0, 1, 2, 4, 8, 12]
    assert found.rows[0][1:] == pytest.approx((np.log(share / (1 - share)), 1 - share, share))
    for at, *said in found.rows[1:]:
        assert said == pytest.approx([scores[at - 1], *shares[at - 1]], abs=1e-6)


def test_two_rounds_can_be_followed_by_hand() -> None:
    """The mean 4 leaves −3, −3, 2, 4, cut at 2.5; then 0, 0, −1, 1 are left, cut at 3.5."""
    data = valued(numeric(np.array([[1.0], [2.0], [3.0], [4.0]])), [1.0, 1.0, 6.0, 8.0])
    model = fitted(GradientBoosting(rounds=2, max_depth=1, learning_rate=1.0), data)
    _, losses, first, second, _ = model.explain()
    assert losses.note == "before any round, F₀: F(value) = 4"
    assert (first.title, first.answers[1:]) == ("Round 1: what is added to F(value)", ("-3", "+3"))
    assert second.conditions[1:] == ("x0 ≤ 3.5 or missing", "x0 > 3.5")
    assert second.answers[1:] == ("-0.333333", "+1")
    (found,) = model.explain_answer(numeric(np.array([[4.0]])))
    assert np.array(found.rows) == pytest.approx(np.array([[0, 4], [1, 7], [2, 8]]))
