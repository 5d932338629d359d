"""random-forest beside decision-tree, scikit-learn's trees on the same bags, and the numbers of the notes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import Bag, order_of_content
from mlcli.engines.trees.findings import use_of_columns
from mlcli.engines.trees.structure import cells_of
from mlcli.models.forests._forest import SHARES
from mlcli.models.forests.random_forest import RandomForest
from mlcli.models.trees.decision_tree import DecisionTree
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from tests.contract.subjects import said_by
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import in_numbers, numeric
from tests.support.rows import labelled, table_of, valued

ALONE: dict[str, Any] = {"trees": 1, "bootstrap": False, "features": "all"}
"""One tree on all rows and columns."""


# With all rows and all columns, one tree is decision-tree's (CART): the same questions in another order of nodes.


def assert_same_questions(data: Any, **limits: Any) -> tuple[Any, Any]:
    """Both trees, after a look at whether they ask the same and answer alike."""
    forest, tree = fitted(RandomForest(**ALONE, **limits), data), fitted(DecisionTree(**limits), data)
    ours, exact = forest.trees_, tree.tree_
    asked_for = [set(zip(*np.unique(some.feature, return_counts=True), strict=True)) for some in (ours, exact)]
    assert asked_for[0] == asked_for[1]
    asking = ~np.isnan(exact.threshold)
    known = np.isin(ours.threshold, exact.threshold[asking])
    assert known[ours.feature >= 0].sum() >= asking.sum()
    assert said_by(asked(forest, data)) == pytest.approx(said_by(asked(tree, data)), abs=1e-12)
    return forest, tree


@pytest.mark.parametrize("name", ["iris", "weather_numeric", "cpu"])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"min_leaf": 5}], ids=str)
def test_one_tree_is_decision_tree_on_shipped_rows(name: str, limits: dict[str, Any]) -> None:
    assert_same_questions(in_numbers(name), **limits)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 4}, {"min_leaf": 7}], ids=str)
def test_one_tree_is_decision_tree_with_levels_gaps_and_weights(kind: str, limits: dict[str, Any]) -> None:
    data = rows_for(kind, EVERYTHING, 200)
    assert_same_questions(replace(data, weight=np.random.default_rng(0).integers(1, 4, 200) * 1.0), **limits)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_one_tree_is_decision_tree_with_weights_that_are_no_repeats(kind: str) -> None:
    data = rows_for(kind, EVERYTHING, 200)
    assert_same_questions(replace(data, weight=np.random.default_rng(0).lognormal(size=200)), max_depth=5)


@pytest.mark.parametrize("offset", [1e7, -1e12])
def test_one_tree_is_decision_tree_far_from_zero(offset: float) -> None:
    data = rows_for("regression", EVERYTHING, 200)
    assert_same_questions(replace(data, y=np.round(data.y, 1) * 1e3 + offset), max_depth=5)


def test_few_bins_are_runs_of_values() -> None:
    """Ten values in pairs: no threshold lies inside a pair."""
    data = valued(table_of({"x": np.arange(10.0).tolist()}), np.arange(10.0).tolist())
    model = fitted(RandomForest(**ALONE, bins=5), data)
    thresholds = model.trees_.threshold[model.trees_.feature >= 0]
    assert sorted(thresholds.tolist()) == [1.5, 3.5, 5.5, 7.5]


def test_with_few_leaves_the_split_that_gains_most_comes_first() -> None:
    """scikit-learn grows best first as well."""
    data = numbers("regression")
    ours = said_by(answered(RandomForest(**ALONE, max_leaves=6), data))
    theirs = DecisionTreeRegressor(max_leaf_nodes=6).fit(data.table.numbers, data.y)
    assert theirs.get_n_leaves() == 6
    assert ours == pytest.approx(theirs.predict(data.table.numbers))


# Every tree is scikit-learn's on the bag that it drew, so errors out of the bag and importances follow from those.


def numbers(kind: str, n: int = 120) -> Any:
    """Noisy rows whose numbers are the same in single precision, in which scikit-learn keeps them."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    common: dict[str, Any] = {"table": numeric(X), "rows": np.arange(n), "target": "y"}
    value = 2 * X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(0, 0.5, n)
    if kind == "regression":
        return ValuedRows(**common, y=value)
    return LabelledRows(**common, y=np.digitize(value, [-1, 1]).astype(np.int32), classes=("a", "b", "c"))


def peers(data: Any, trees: int, seed: int, **limits: Any) -> list[tuple[Any, Array]]:
    """scikit-learn's tree for each bag, and the bag."""
    made: Any = DecisionTreeRegressor if data.kind == "regression" else DecisionTreeClassifier
    bags: list[Array] = [
        Bag.of(data.weights).repeats(np.random.default_rng(each)).astype(np.float64)
        for each in np.random.default_rng(seed).integers(0, 2**62, trees)
    ]
    return [(made(**limits, random_state=0).fit(data.table.numbers, data.y, bag), bag) for bag in bags]


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_error_curve_and_importances_are_those_of_scikit_learns_trees_on_the_same_bags(kind: str) -> None:
    data = numbers(kind)
    data = data.take(order_of_content(data))
    model = fitted(RandomForest(trees=12, features="all", max_depth=3), data, seed=6)
    X, votes = data.table.numbers, np.zeros((len(data), data.outputs.shape[1]))
    curve: list[float] = []
    theirs = peers(data, 12, 6, max_depth=3)
    for tree, bag in theirs:
        out = bag == 0
        votes[out] += tree.predict_proba(X[out]) if kind == "classification" else tree.predict(X[out])[:, None]
        curve.append(
            loss(data, votes, np.array([other == 0 for _, other in theirs])[: len(curve) + 1].sum(axis=0))
        )
    assert model.curve_[:, 0].tolist() == [1, 2, 5, 10, 12]
    assert model.curve_[:, 1] == pytest.approx([curve[step - 1] for step in (1, 2, 5, 10, 12)])
    assert model.gained_ == pytest.approx(np.mean([tree.feature_importances_ for tree, _ in theirs], axis=0))


def loss(data: Any, votes: Array, voters: Array) -> float:
    """Share of wrong classes (of equal votes the largest wins) or root mean squared error, where voted on."""
    some = voters > 0
    if data.kind == "classification":
        by_size = np.argsort(-data.class_totals)
        return float((by_size[votes[some][:, by_size].round(12).argmax(axis=1)] != data.y[some]).mean())
    return float(np.sqrt(((votes[some, 0] / voters[some] - data.y[some]) ** 2).mean()))


def test_a_column_is_worth_what_shuffling_it_costs() -> None:
    """The class is the sign of x: a shuffled x is wrong about 2 p (1 − p) of the rows, noise about none."""
    rng = np.random.default_rng(0)
    x, noise = np.r_[rng.uniform(-2, -1, 300), rng.uniform(1, 2, 100)], rng.normal(size=400)
    data = labelled(table_of({"noise": noise.tolist(), "x": x.tolist()}), list("a" * 300 + "b" * 100))
    model = fitted(RandomForest(trees=40, features="all", shuffle=True), data)
    assert model.shuffled_ == pytest.approx([0, 2 * 0.25 * 0.75], abs=0.02)
    assert model.gained_ == pytest.approx([0, 1])
    assert model.curve_[-1, 1] == 0.0


# SOURCES.md, section 5.


def test_columns_drawn_are_the_floor_of_log2_f_plus_1() -> None:
    assert [SHARES["log2"](count) for count in (4, 7, 30, 64, 100)] == [3, 3, 5, 7, 7]


def test_share_of_rows_in_a_bag() -> None:
    bags = [Bag.of(np.ones(1000)).repeats(np.random.default_rng(seed)) for seed in range(50)]
    assert np.mean([(bag > 0).mean() for bag in bags]) == pytest.approx(0.632305, abs=0.005)
    assert {bag.sum() for bag in bags} == {1000.0}


def test_a_bag_draws_rows_as_often_as_they_weigh() -> None:
    weights = np.array([0.5, 1.5, 4.0])
    bag = Bag.of(weights)
    repeats = np.mean([bag.repeats(np.random.default_rng(seed)) for seed in range(3000)], axis=0)
    assert repeats * bag.unit == pytest.approx(weights, abs=0.15)


# As good as scikit-learn's forest, but for the noise of seeds.

PEERS: dict[str, Any] = {"classification": RandomForestClassifier, "regression": RandomForestRegressor}


@pytest.mark.parametrize("name", ["glass", "ionosphere", "diabetes_progression"])
def test_error_out_of_the_bag_is_scikit_learns_within_the_noise_of_seeds(name: str) -> None:
    data = in_numbers(name)
    ours = [fitted(RandomForest(trees=40, features="sqrt"), data, seed).curve_[-1, 1] for seed in range(5)]
    theirs = [their_error(data, seed) for seed in range(5)]
    noise = np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 5)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * noise


def their_error(data: Any, seed: int) -> float:
    """scikit-learn's error out of the bag."""
    peer = PEERS[data.kind](40, max_features="sqrt", oob_score=True, random_state=seed)
    score = float(peer.fit(data.table.numbers, data.y).oob_score_)
    return 1 - score if data.kind == "classification" else float(np.sqrt((1 - score) * np.var(data.y)))


# What is said of it.


def test_the_explanation_says_error_and_importances() -> None:
    sections = fitted(RandomForest(trees=7, shuffle=True), in_numbers("iris")).explain()
    assert [section.title for section in sections] == ["Forest", "Out-of-bag error", "Feature importance"]
    assert [row[0] for row in sections[1].rows] == [1, 2, 5, 7]
    assert sum(float(row[1] or 0) for row in sections[2].rows) == pytest.approx(1.0)
    assert len(sections[2].header) == 5


def test_without_bags_there_is_no_error_out_of_them() -> None:
    sections = fitted(RandomForest(trees=3, bootstrap=False), in_numbers("iris")).explain()
    assert [section.title for section in sections] == ["Forest", "Feature importance"]


@pytest.mark.parametrize("wrong", [{"features": "half"}, {"shuffle": True, "bootstrap": False}], ids=str)
def test_parameters_that_say_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        build(RandomForest, wrong)


def test_a_missing_number_where_training_had_none_goes_with_most_rows() -> None:
    data = labelled(table_of({"x": [1, 2, 3, 8, 9]}), list("aaabb"))
    model = fitted(RandomForest(**ALONE), data)
    empty = data.with_table(Table(data.table.columns, np.full((5, 1), np.nan), data.table.codes))
    assert asked(model, empty).probabilities.tolist() == [[1.0, 0.0]] * 5


# Votes, and what columns are worth.


def test_votes_are_heads_counted_tree_by_tree() -> None:
    data = in_numbers("wine")
    means, votes = (fitted(RandomForest(trees=15, min_leaf=9, combine=how), data) for how in ("mean", "votes"))
    trees = means.trees_
    heads = np.zeros((len(data), 3))
    for tree in range(15):
        shares = trees.part(tree, tree + 1).predict(cells_of(data.table))
        heads[np.arange(len(data)), means.decide(shares)] += 1
    assert votes.predict_proba(data.table) == pytest.approx(heads / 15, abs=1e-12)


def test_columns_are_worth_what_is_counted_node_by_node() -> None:
    data = in_numbers("wine")
    model = fitted(RandomForest(trees=1, bootstrap=False), data)
    tree = model.trees_
    asked_for, first = [set[int]() for _ in range(13)], np.full(13, np.nan)
    for row, cells in enumerate(data.table.numbers):
        node, depth = 0, 0
        while not tree.leaves[node]:
            column = int(tree.feature[node])
            asked_for[column].add(row)
            first[column] = np.fmin(first[column], depth)
            node, depth = int(tree.left[node] + (cells[column] > tree.threshold[node])), depth + 1
    share, depths = use_of_columns(tree, 13)
    assert share == pytest.approx(np.array([len(rows) for rows in asked_for]) / len(data))
    assert depths == pytest.approx(first, nan_ok=True)


def test_control_is_averaged_over_trees() -> None:
    model = fitted(RandomForest(trees=9), in_numbers("iris"))
    trees = model.trees_
    ends = [*trees.roots, len(trees.feature)]
    nodes = [np.arange(first, end) for first, end in pairwise(ends)]
    asks = [[trees.depths()[own[trees.feature[own] == j]] for own in nodes] for j in range(4)]
    means = [np.mean([depths.min() for depths in of_trees if len(depths)]) for of_trees in asks]
    assert use_of_columns(trees, 4)[1] == pytest.approx(means)


def test_a_row_is_explained_by_how_many_trees_decide_on_each_class() -> None:
    data = in_numbers("iris")
    model, row = fitted(RandomForest(trees=7), data), data.table.take(np.array([70]))
    votes, first = model.explain_answer(row)
    each = np.diff(
        [np.zeros(3), *(at * said[0] for at, said in enumerate(model.staged(row, range(1, 8)), 1))], axis=0
    )
    assert [line[1] for line in votes.rows] == np.bincount(each.argmax(axis=1), minlength=3).tolist()
    assert [line[2] for line in votes.rows] == pytest.approx(model.predict_proba(row)[0])
    assert np.array([line[2:] for line in first.rows]) == pytest.approx(each[:5])


def test_a_row_is_explained_by_the_spread_of_the_values_of_trees() -> None:
    data = in_numbers("cpu")
    model, row = fitted(RandomForest(trees=7), data), data.table.take(np.array([70]))
    spread, first = model.explain_answer(row)
    each = np.diff([0.0, *(at * said[0] for at, said in enumerate(model.staged(row, range(1, 8)), 1))])
    assert spread.rows[0] == pytest.approx((each.mean(), each.std(), each.min(), np.median(each), each.max()))
    assert [line[1] for line in first.rows] == pytest.approx(each[:5].tolist())
