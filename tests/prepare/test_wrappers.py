"""Selection by a model agrees with scikit-learn's, and no selection can see the test rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlcli.core.errors import FitError
from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import inner_folds, inner_holdout
from mlcli.prepare.embedded_selection import EmbeddedSelection
from mlcli.prepare.exhaustive_subsets import ExhaustiveSubsets, slack
from tests.support.rows import labelled, table_of, valued

DIABETES, WDBC, IRIS = load_diabetes(), load_breast_cancer(), load_iris()


def numbers(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def diabetes() -> Any:
    return valued(numbers(DIABETES.data), DIABETES.target.tolist())


def of_classes(loaded: Any, columns: int) -> Any:
    return labelled(numbers(np.ascontiguousarray(loaded.data[:, :columns])), [str(y) for y in loaded.target])


def learned(name: str, params: dict[str, Any], data: Any) -> Any:
    step = build(STEPS.load(name), params)
    step.learn(data, np.random.default_rng(1))
    return step


def in_its_order(data: Any) -> tuple[Any, np.random.Generator]:
    """The rows as a step sorts them, and the random numbers that it then draws."""
    return data.take(order_of_content(data)), np.random.default_rng(1)


DIRECTIONS = {"forward-selection": "forward", "backward-elimination": "backward"}


@pytest.mark.parametrize(("name", "direction"), DIRECTIONS.items())
@pytest.mark.parametrize("keep", [2, 5])
def test_columns_are_those_of_scikit_learn(name: str, direction: str, keep: int) -> None:
    data, rng = in_its_order(diabetes())
    folds = PredefinedSplit(inner_folds(data, 5, rng))
    theirs = SequentialFeatureSelector(
        LinearRegression(),
        n_features_to_select=keep,
        direction=direction,
        scoring="neg_mean_squared_error",
        cv=folds,
    ).fit(data.table.numbers, data.y)
    assert np.array_equal(learned(name, {"keep": keep}, diabetes()).kept_, theirs.get_support())


def test_classes_are_selected_for_by_their_errors() -> None:
    data, rng = in_its_order(of_classes(WDBC, 8))
    folds = PredefinedSplit(inner_folds(data, 5, rng))
    peer = KNeighborsClassifier(5)
    theirs = SequentialFeatureSelector(peer, n_features_to_select=2, scoring="accuracy", cv=folds)
    base = {"use": "knn", "steps": []}
    step = learned("forward-selection", {"keep": 2, "base": base}, of_classes(WDBC, 8))
    assert np.array_equal(step.kept_, theirs.fit(data.table.numbers, data.y).get_support())


@pytest.mark.parametrize("name", ["forward-selection", "backward-elimination"])
def test_so_many_subsets_are_tried(name: str) -> None:
    """SOURCES.md: a wrapper fits d (d + 1) / 2 models, 10 for d = 4."""
    step = learned(name, {"patience": None}, of_classes(IRIS, 4))
    assert len(step.path_) == (5 if name == "forward-selection" else 4)
    assert step.tried_ == 10


MOVES = {"forward-selection": "added", "backward-elimination": "taken away"}


@pytest.mark.parametrize(("name", "move"), MOVES.items())
def test_the_path_names_the_columns_in_their_order(name: str, move: str) -> None:
    step = learned(name, {"patience": None}, of_classes(IRIS, 4))
    _, path, _ = step.explain()
    assert path.title == f"Columns {move}, one after another"
    assert path.note == "10 subsets of the columns tried in inner cross-validation"
    counts, names, losses = zip(*path.rows, strict=True)
    assert counts == tuple(step.sizes_)
    assert losses == tuple(step.path_)
    best = counts.index(step.kept_.sum())
    seen = names[: best + 1] if move == "added" else names[best + 1 :]
    assert set(step.kept()) >= set(seen) - {""}


def test_without_a_number_the_best_point_of_the_path_is_kept() -> None:
    step = learned("forward-selection", {"patience": None}, diabetes())
    assert len(step.path_) == 11
    assert step.kept_.sum() == step.sizes_[np.argmin(step.path_)]


def test_every_subset_is_tried_and_the_bound_is_hoeffdings() -> None:
    data, rng = in_its_order(of_classes(IRIS, 4))
    step = learned("exhaustive-subsets", {}, of_classes(IRIS, 4))
    aside = inner_holdout(data, 0.3, rng)
    train, test = data.take(np.flatnonzero(~aside)), data.take(np.flatnonzero(aside))
    errors = {}
    for size in range(1, 5):
        for subset in combinations(range(4), size):
            model = GaussianNB().fit(train.table.numbers[:, subset], train.y)
            errors[subset] = np.mean(model.predict(test.table.numbers[:, subset]) != test.y)
    best = min(errors, key=lambda one: (errors[one], len(one)))
    assert step.tried_ == 15
    *_, shown = step.explain()
    assert [loss for _, loss in shown.rows] == pytest.approx(sorted(errors.values()))
    assert tuple(np.flatnonzero(step.kept_).tolist()) == best
    assert step.loss_ == pytest.approx(errors[best])
    assert step.bound_ == pytest.approx(errors[best] + np.sqrt(0.5 * np.log(2 * 15 / 0.05) / len(test)))
    assert slack(1, 200, 0.05) == pytest.approx(np.sqrt(np.log(40) / 400))


def test_too_many_subsets_are_refused() -> None:
    with pytest.raises(FitError, match="30 columns have 1,073,741,823 subsets"):
        learned("exhaustive-subsets", {}, of_classes(WDBC, 30))
    assert build(ExhaustiveSubsets, {"largest": 2})._subsets(30)[-1] == (28, 29)


@pytest.mark.parametrize("keep", [2, 5, 8])
def test_taking_away_the_least_coefficient_is_that_of_scikit_learn(keep: int) -> None:
    theirs = RFE(LinearRegression(), n_features_to_select=keep)
    theirs.fit(StandardScaler().fit_transform(DIABETES.data), DIABETES.target)
    params = {"keep": keep, "rounds": "one-by-one", "base": "linear-regression"}
    step = learned("embedded-selection", params, diabetes())
    assert np.array_equal(step.kept_, theirs.get_support())


def test_coefficients_count_in_units_of_their_columns() -> None:
    step = learned("embedded-selection", {"base": "linear-regression"}, diabetes())
    expected = np.abs(LinearRegression().fit(DIABETES.data, DIABETES.target).coef_) * DIABETES.data.std(axis=0)
    assert step.counts_ == pytest.approx(expected, rel=1e-8)


def test_trees_count_the_impurity_that_columns_take_away() -> None:
    data = of_classes(WDBC, 10)
    step = learned("embedded-selection", {"base": "decision-tree", "keep": 3}, data)
    theirs = DecisionTreeClassifier(random_state=0).fit(WDBC.data[:, :10], WDBC.target).feature_importances_
    assert step.counts_ == pytest.approx(theirs, abs=0.05)
    assert step.kept() == [f"x{j}" for j in sorted(np.argsort(-theirs)[:3])]
    base = {"use": "random-forest", "params": {"trees": 30}}
    forest = learned("embedded-selection", {"base": base, "keep": 3}, data)
    assert set(forest.kept()) >= {"x7"}
    assert forest.counts_.sum() == pytest.approx(1)


@pytest.mark.parametrize("base", ["linear-regression", "decision-tree"])
def test_forward_adds_what_the_fitted_base_lacks_and_not_what_it_has(base: str) -> None:
    rng = np.random.default_rng(0)
    first, second, noise = rng.normal(size=(3, 300))
    again = first + 0.1 * rng.normal(size=300)
    columns = {"noise": noise, "again": again, "second": second, "first": first}
    table = table_of({name: cells.tolist() for name, cells in columns.items()})
    params = {"base": base, "rounds": "forward", "keep": 2}
    step = learned("embedded-selection", params, valued(table, (3 * first + second).tolist()))
    assert step.kept() == ["second", "first"]


def test_levels_count_together_and_a_model_without_coefficients_is_shuffled() -> None:
    rng = np.random.default_rng(0)
    level, noise = rng.integers(0, 3, 300), rng.normal(size=300)
    table = table_of({"noise": noise.tolist(), "level": np.array(["u", "v", "w"])[level].tolist()})
    data = valued(table, (level == 1).astype(float).tolist())
    for base in ("linear-regression", "decision-tree", "newton-boosting", "knn"):
        step: EmbeddedSelection = learned("embedded-selection", {"base": base, "keep": 1}, data)
        assert step.kept() == ["level"], base


FILTERS = ("anova", "chi-square", "correlation", "mutual-information", "signal-to-noise")
SELECTIONS = [
    *((name, {"keep": 1}) for name in FILTERS),
    ("cfs", {}),
    *((name, {"keep": 1, "base": "knn"}) for name in ("forward-selection", "backward-elimination")),
    ("embedded-selection", {"keep": 1, "base": "knn"}),
    ("exhaustive-subsets", {"largest": 1, "base": "knn"}),
]


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
@pytest.mark.parametrize(("name", "params"), SELECTIONS, ids=[name for name, _ in SELECTIONS])
def test_selection_cannot_see_the_rows_that_are_judged(name: str, params: dict[str, Any]) -> None:
    """A column that tells the class in test rows only is not chosen, and the answers are as good as guesses."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3))
    train, test = np.arange(200), np.arange(200, 400)
    X[train, 0] += y[train]
    X[test, 2] += 20 * y[test]
    data = labelled(numbers(X), [str(k) for k in y])
    model = Pipeline(steps=(build(STEPS.load(name), params),), model=MODELS.load("lda")())
    learn(model, data.take(train), np.random.default_rng(1))
    kept = model.steps[0].kept()  # type: ignore[attr-defined]
    assert "x2" not in kept
    answers: Any = predict_rows(model, data.take(test))
    assert 0.35 < np.mean(answers.predicted == answers.truth) < 0.65
    leaked = replace(data, table=numbers(np.where(np.arange(3) == 2, 20.0 * y[:, None], X)))
    told = build(STEPS.load(name), params)
    told.learn(leaked.take(train), np.random.default_rng(1))
    assert told.kept() == ["x2"]
