"""Newton boosting beside scikit-learn's histogram boosting, LightGBM and its own formula.

Columns have few distinct values, so that every program has a bin for each, and no two splits gain the same but for
rounding (then programs may differ): so they must choose the same splits.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.state import check_loaded
from mlcli.core.tables import Array
from mlcli.models.boosting.gradient_boosting import GradientBoosting
from mlcli.models.boosting.newton_boosting import NewtonBoosting
from mlcli.models.forests.random_forest import RandomForest
from tests.golden.asking import asked, fitted
from tests.golden.shipped import numeric
from tests.support.rows import labelled, table_of, valued

ROUNDS = 12


def coarse(n: int = 300, columns: int = 4, seed: int = 2) -> Array:
    """Rows of numbers in quarters."""
    return np.round(np.random.default_rng(seed).normal(size=(n, columns)) * 4) / 4


def values_of(X: Array) -> Array:
    """A noisy function of them."""
    noise = np.random.default_rng(2).normal(size=len(X))
    return np.asarray(X[:, 0] + 2 * np.abs(X[:, 1]) + X[:, 0] * X[:, 2] + noise)


def classes_of(X: Array, classes: int) -> list[str]:
    """About as many rows in each class."""
    values = values_of(X)
    cuts = np.quantile(values, np.arange(1, classes) / classes)
    return ["abc"[k] for k in np.searchsorted(cuts, values)]


def peer(kind: Any, **params: Any) -> Any:
    """Scikit-learn's, with the same settings."""
    return kind(max_iter=ROUNDS, early_stopping=False, **params)


@pytest.mark.parametrize("l2", [0.0, 1.0])
@pytest.mark.parametrize(("loss", "theirs"), [("squared", "squared_error"), ("absolute", "absolute_error")])
def test_values_are_those_of_scikit_learn(loss: str, theirs: str, l2: float) -> None:
    X, asked_for = coarse(), coarse(seed=9)
    y = values_of(X)
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=l2, loss=loss), valued(numeric(X), list(y)))
    other = peer(HistGradientBoostingRegressor, loss=theirs, l2_regularization=l2).fit(X, y)
    assert model.predict_values(numeric(asked_for)) == pytest.approx(other.predict(asked_for), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(classes: int) -> None:
    X, asked_for = coarse(), coarse(seed=9)
    labels = classes_of(X, classes)
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=0.5), labelled(numeric(X), labels))
    other = peer(HistGradientBoostingClassifier, l2_regularization=0.5).fit(X, labels)
    assert model.predict_proba(numeric(asked_for)) == pytest.approx(other.predict_proba(asked_for), abs=1e-6)


@pytest.mark.parametrize("weights", ["whole", "fractions"])
def test_weights_are_those_of_scikit_learn(weights: str) -> None:
    X = coarse()
    y, whole = values_of(X), np.random.default_rng(3).integers(1, 4, len(X))
    weight = {"whole": whole, "fractions": 1 + whole / 7}[weights]
    rows = valued(numeric(X), list(y), weight=list(weight))
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=0.0, min_leaf=1, max_leaves=8), rows)
    other = peer(HistGradientBoostingRegressor, min_samples_leaf=1, max_leaf_nodes=8).fit(X, y, weight)
    assert model.predict_values(numeric(X)) == pytest.approx(other.predict(X), abs=1e-6)


@pytest.mark.parametrize(("loss", "theirs"), [("squared", "l2"), ("huber", "huber")])
def test_values_are_those_of_lightgbm(loss: str, theirs: str) -> None:
    """Around the same start: LightGBM's Huber loss starts from the mean, ours from where it is least."""
    X = coarse()
    y = values_of(X)
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=1.0, loss=loss, delta=0.9), valued(numeric(X), list(y)))
    start = float(model.start_[0])
    other = lightgbm.LGBMRegressor(
        objective=theirs, alpha=0.9, n_estimators=ROUNDS, reg_lambda=1.0, min_data_in_bin=1, verbose=-1,
        boost_from_average=False, num_threads=1,
    ).fit(X, y - start)  # fmt: skip
    assert model.predict_values(numeric(X)) == pytest.approx(start + np.asarray(other.predict(X)), abs=1e-6)


def test_missing_cells_go_where_scikit_learn_sends_them() -> None:
    X = coarse()
    y = values_of(X)
    X[np.random.default_rng(4).random(X.shape) < 0.2] = np.nan
    X[y > np.quantile(y, 0.9), 0] = np.nan
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=0.0), valued(numeric(X), list(y)))
    other = peer(HistGradientBoostingRegressor).fit(X, y)
    asked_for = np.vstack([X, np.full((1, X.shape[1]), np.nan)])
    assert model.predict_values(numeric(asked_for)) == pytest.approx(other.predict(asked_for), abs=1e-6)


def test_monotone_answers_are_those_of_lightgbm_and_rise() -> None:
    X = coarse()
    y = values_of(X) - 3 * np.sin(3 * X[:, 3])
    rows = valued(numeric(X), list(y))
    directions = {"x3": "rising", "x0": "falling"}
    model = fitted(NewtonBoosting(rounds=ROUNDS, l2=0.0, max_depth=3, monotone=directions), rows)
    other = lightgbm.LGBMRegressor(
        n_estimators=ROUNDS, max_depth=3, min_data_in_bin=1, verbose=-1, num_threads=1,
        monotone_constraints=[-1, 0, 0, 1], monotone_constraints_method="basic",
    ).fit(X, y)  # fmt: skip
    assert model.predict_values(numeric(X)) == pytest.approx(other.predict(X), abs=1e-6)
    line = np.repeat(X[:1], 50, axis=0)
    line[:, 3] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict_values(numeric(line))) >= 0).all()
    free = fitted(NewtonBoosting(rounds=ROUNDS, l2=0.0), rows)
    assert (np.diff(free.predict_values(numeric(line))) < 0).any()


def test_leaves_of_one_tree_by_the_formula() -> None:
    """−G / (H + l2), Chen & Guestrin 2016 (5): g = ±5 around the mean 5, h = 1, l2 = 1."""
    rows = valued(table_of({"x": [1.0, 2.0, 3.0, 4.0]}), [0.0, 0.0, 10.0, 10.0])
    model = fitted(NewtonBoosting(rounds=1, learning_rate=0.5, min_leaf=1, max_leaves=2), rows)
    assert model.predict_values(rows.table) == pytest.approx(5 + 0.5 * np.array([-1, -1, 1, 1]) * 10 / 3)
    gain = (10**2 / 3 + 10**2 / 3 - 0) / 2
    assert model.trees_.gain[0] == pytest.approx(gain)


def test_no_grouping_of_levels_gains_more_than_the_one_found() -> None:
    """Fisher 1958, beside all groupings of six levels."""
    rng = np.random.default_rng(6)
    levels = rng.integers(0, 6, 120)
    y = rng.normal(size=6)[levels] + rng.normal(size=120)
    rows = valued(table_of({"x": ["uvwxyz"[k] for k in levels]}), list(y))
    model = fitted(NewtonBoosting(rounds=1, max_leaves=2, min_leaf=1, l2=0.0), rows)
    g = y.mean() - y
    groups = [np.isin(levels, group) for size in (1, 2, 3) for group in itertools.combinations(range(6), size)]
    gains = [(g[one].sum() ** 2 / one.sum() + g[~one].sum() ** 2 / (~one).sum()) / 2 for one in groups]
    assert model.trees_.gain[0] == pytest.approx(max(gains))


def test_rare_levels_share_a_bin_when_there_are_too_many() -> None:
    names = [f"level {k:03}" for k in range(400)]
    cells = names + names[:200] * 3
    y = [float(name < "level 050") for name in cells]
    model = fitted(NewtonBoosting(rounds=20, min_leaf=1), valued(table_of({"x": cells}), y))
    said = model.predict_values(table_of({"x": cells}))
    assert np.corrcoef(said, y)[0, 1] > 0.99
    assert len(set(np.round(said[200:400], 12))) == 1


def test_the_rounds_with_the_smallest_loss_of_rows_held_aside_are_kept() -> None:
    X = coarse(n=400)
    rng = np.random.default_rng(5)
    rows = valued(numeric(X), list(X[:, 0] + 3 * rng.normal(size=400)))
    model = fitted(NewtonBoosting(rounds=200, stop_after=10, validation=0.3, learning_rate=0.3), rows)
    best = int(np.argmin(model.aside_loss_))
    assert 0 < best < 100
    assert len(model.trees_) == best
    assert len(model.aside_loss_) == best + 11
    assert model.training_loss_[-1] < model.training_loss_[best]


def test_too_few_rows_to_hold_any_aside_are_said_so() -> None:
    rows = valued(table_of({"x": [1.0, 2.0]}), [0.0, 1.0])
    with pytest.warns(MlcliWarning, match="too few"):
        fitted(NewtonBoosting(stop_after=5, validation=0.01), rows)


@pytest.mark.parametrize("method", [NewtonBoosting, GradientBoosting, RandomForest])
def test_trees_without_a_split_are_said_so(method: Any) -> None:
    """Ten rows make no two leaves of 20: scikit-learn's trees, too, say the mean of all, and say nothing of it."""
    x = np.arange(10.0)
    theirs = HistGradientBoostingRegressor(min_samples_leaf=20).fit(x[:, None], x)
    assert np.ptp(theirs.predict(x[:, None])) == 0
    rows = valued(numeric(x[:, None]), list(x))
    with pytest.warns(MlcliWarning, match=r"no tree has a split.* min_leaf=2 would help"):
        assert np.ptp(fitted(method(min_leaf=20), rows).predict_values(rows.table)) < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.ptp(fitted(method(min_leaf=2), rows).predict_values(rows.table)) > 1
        fitted(method(min_leaf=20), valued(numeric(x[:, None]), [1.0] * 10))


@pytest.mark.parametrize("name", ["x9", "colour"])
def test_a_direction_needs_a_column_with_an_order(name: str) -> None:
    rows = valued(table_of({"x": [1.0, 2.0], "colour": ["red", "blue"]}), [0.0, 1.0])
    with pytest.raises(FitError, match=name):
        fitted(NewtonBoosting(monotone={name: "rising"}), rows)


def test_a_direction_needs_numbers_or_two_classes() -> None:
    X = coarse(60)
    with pytest.raises(FitError, match="two classes"):
        fitted(NewtonBoosting(monotone={"x0": "rising"}), labelled(numeric(X), classes_of(X, 3)))


def test_gains_in_the_explanation_are_shares_of_columns_asked_for() -> None:
    X = coarse()
    model = fitted(NewtonBoosting(rounds=5), valued(numeric(X), list(values_of(X))))
    worth = next(section for section in model.explain() if section.title == "Feature importance")
    assert sum(float(row[1]) for row in worth.rows if row[1] is not None) == pytest.approx(1.0)
    assert worth.rows[-1][0] == "x3"
    curve = next(section for section in model.explain() if section.title == "Loss")
    assert curve.rows[0][1] == pytest.approx(np.var(values_of(X)) / 2)


CORRUPTIONS: dict[str, Any] = {
    "left": lambda a: np.where(a >= 0, 0, a),
    "roots": lambda a: a + 1,
    "feature": lambda a: a + 99,
    "value": lambda a: a * np.nan,
    "threshold": lambda a: a[:3],
    "gain": lambda a: a[:-1],
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_trees_that_could_lead_a_row_astray_are_refused(name: str) -> None:
    X = coarse(100)
    rows = valued(numeric(X), list(values_of(X)))
    model = fitted(NewtonBoosting(rounds=2), rows)
    check_loaded(model)
    model.trees_ = replace(model.trees_, **{name: CORRUPTIONS[name](getattr(model.trees_, name))})
    with pytest.raises(ValueError, match="saved trees"):
        check_loaded(model)


def test_weight_zero_is_no_row() -> None:
    X = coarse(100)
    y = values_of(X)
    rows = valued(numeric(X), list(y))
    half = np.arange(100) % 2
    some = rows.take(np.flatnonzero(half))
    whole = replace(rows, weight=half.astype(float))
    model, other = fitted(NewtonBoosting(rounds=3), some), fitted(NewtonBoosting(rounds=3), whole)
    assert asked(model, rows).predicted == pytest.approx(asked(other, rows).predicted, abs=1e-12)
