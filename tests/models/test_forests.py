"""Forests: nominal columns as good as scikit-learn behind one-hot encoding, drawn columns, saved trees."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from mlcli.core.processes import cores_for_a_fit, threads_of_a_fit
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import Bag, order_of_content
from mlcli.models.forests.extra_trees import ExtraTrees
from mlcli.models.forests.random_forest import RandomForest
from mlcli.tasks.supervised import ValuedRows
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers
from tests.support.rows import labelled, table_of, valued
from tests.support.shell import typed

LEVELS = (5, 7, 8)
TREES, LEARNED = 40, 1_500


def diamonds() -> tuple[Array, Rows, Array]:
    """Made like the prices of diamonds: one size in six measures, times an effect of each of 20 levels."""
    rng = np.random.default_rng(5)
    carat = np.exp(rng.normal(-0.4, 0.6, 3_000))
    sides = np.cbrt(carat)[:, None] * rng.normal([6.4, 6.4, 4.0], 0.05, (3_000, 3))
    shape = rng.normal([61.7, 57.5], [1.4, 2.2], (3_000, 2))
    codes = np.column_stack([rng.integers(count, size=3_000) for count in LEVELS])
    effect = sum(
        np.linspace(0, size, count)[codes[:, j]]
        for j, (count, size) in enumerate(zip(LEVELS, (0.15, 0.6, 0.9), strict=True))
    )
    price = 4_000 * carat**1.7 * np.exp(effect + rng.normal(0, 0.1, 3_000))
    return np.column_stack([carat, shape, sides]), codes, price


def rows_of(numbers: Array, codes: Rows, price: Array) -> ValuedRows:
    """The same as a table with nominal columns."""
    parts: list[tuple[Column, Any]] = [
        (Column(f"x{j}", "numeric"), numbers[:, j]) for j in range(numbers.shape[1])
    ]
    for j, count in enumerate(LEVELS):
        parts.append((Column(f"c{j}", "nominal", tuple("abcdefgh"[:count])), codes[:, j].astype(np.int32)))
    return valued(Table.of(parts, len(price)), price.tolist())


def root_mean_square(errors: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(errors**2)))


@pytest.mark.parametrize(
    ("ours", "theirs"), [(ExtraTrees, ExtraTreesRegressor), (RandomForest, RandomForestRegressor)]
)
def test_forest_is_level_with_scikit_learn_behind_one_hot(ours: Any, theirs: Any) -> None:
    numbers, codes, price = diamonds()
    one_hot = np.hstack([numbers, *(np.eye(count)[codes[:, j]] for j, count in enumerate(LEVELS))])
    oracle = theirs(TREES, random_state=1).fit(one_hot[:LEARNED], price[:LEARNED])
    expected = root_mean_square(oracle.predict(one_hot[LEARNED:]) - price[LEARNED:])
    model = fitted(ours(trees=TREES), rows_of(numbers[:LEARNED], codes[:LEARNED], price[:LEARNED]))
    asked = rows_of(numbers[LEARNED:], codes[LEARNED:], price[LEARNED:])
    assert root_mean_square(model.predict_values(asked.table) - price[LEARNED:]) < 1.03 * expected


def test_columns_drawn_count_levels() -> None:
    """Half of 6 numbers and 20 levels is 13; at most four fifths of the 9 columns, rounded up, are drawn."""
    numbers, codes, price = diamonds()
    model = fitted(RandomForest(trees=1), rows_of(numbers[:50], codes[:50], price[:50]))
    assert "each node draws 8 columns" in str(model.explain()[0])


@pytest.mark.parametrize("other_columns", [1, 2, 4])
@pytest.mark.parametrize(
    ("ours", "theirs"), [(ExtraTrees, ExtraTreesRegressor), (RandomForest, RandomForestRegressor)]
)
def test_so_it_is_where_few_columns_stand_beside_one_of_many_levels(
    ours: Any, theirs: Any, other_columns: int
) -> None:
    """One of 40 levels says by how much a number counts; errors were up to 50 % larger where nodes lacked it."""
    rng = np.random.default_rng(2)
    level, effect = rng.integers(0, 40, 2_000), rng.normal(size=40)
    numbers = rng.normal(size=(2_000, other_columns + 1))
    y = 4 * effect[level] * numbers[:, 0] + 3 * effect[level] + rng.normal(size=2_000)
    one_hot = np.hstack([numbers, np.eye(40)[level]])
    oracle = theirs(TREES, max_features=0.5, random_state=1).fit(one_hot[:LEARNED], y[:LEARNED])
    expected = root_mean_square(oracle.predict(one_hot[LEARNED:]) - y[LEARNED:])
    parts: list[tuple[Column, Any]] = [
        (Column(f"x{j}", "numeric"), numbers[:, j]) for j in range(other_columns + 1)
    ]
    parts.append((Column("c", "nominal", tuple(f"c{k}" for k in range(40))), level.astype(np.int32)))
    table = Table.of(parts, len(y))
    model = fitted(ours(trees=TREES), valued(table.take(np.arange(LEARNED)), y[:LEARNED].tolist()))
    errors = model.predict_values(table.take(np.arange(LEARNED, len(y)))) - y[LEARNED:]
    assert root_mean_square(errors) < 1.1 * expected


@pytest.mark.parametrize(
    ("ours", "theirs"), [(ExtraTrees, ExtraTreesClassifier), (RandomForest, RandomForestClassifier)]
)
def test_so_are_those_of_classes(ours: Any, theirs: Any) -> None:
    """Only the level tells the class: where one of three columns was drawn, 0.62 were right, not 0.8."""
    rng = np.random.default_rng(2)
    level, effect, numbers = rng.integers(0, 40, 2_000), rng.normal(size=40), rng.normal(size=(2_000, 2))
    y = np.where(2 * effect[level] + rng.normal(size=2_000) > 0, "yes", "no")
    one_hot = np.hstack([numbers, np.eye(40)[level]])
    oracle = theirs(TREES, random_state=1).fit(one_hot[:LEARNED], y[:LEARNED])
    expected = oracle.score(one_hot[LEARNED:], y[LEARNED:])
    parts: list[tuple[Column, Any]] = [(Column(f"x{j}", "numeric"), numbers[:, j]) for j in range(2)]
    parts.append((Column("c", "nominal", tuple(f"c{k}" for k in range(40))), level.astype(np.int32)))
    table = Table.of(parts, len(y))
    model = fitted(ours(trees=TREES), labelled(table.take(np.arange(LEARNED)), y[:LEARNED].tolist()))
    predicted = model.predict_proba(table.take(np.arange(LEARNED, len(y)))).argmax(axis=1)
    assert np.mean(np.array(model.classes_)[predicted] == y[LEARNED:]) > expected - 0.03


@pytest.mark.parametrize("forest", [RandomForest, ExtraTrees])
@pytest.mark.parametrize("dataset", ["wine", "cpu"])
def test_no_way_from_root_to_leaf_asks_for_a_column_twice(forest: Any, dataset: str) -> None:
    tree = fitted(forest(trees=20, reuse=False), in_numbers(dataset)).trees_
    repeated = fitted(forest(trees=20), in_numbers(dataset)).trees_
    assert not any(has_repeated_column(tree, node) for node in np.flatnonzero(tree.leaves))
    assert any(has_repeated_column(repeated, node) for node in np.flatnonzero(repeated.leaves))


def has_repeated_column(tree: Any, leaf: Any) -> bool:
    """Whether two questions on the way to a leaf are about one column."""
    parent, asked, node = tree.parent, [], leaf
    while node not in tree.roots:
        node = parent[node]
        asked.append(int(tree.feature[node]))
    return len(asked) > len(set(asked))


def test_one_column_is_asked_for_once() -> None:
    """By hand: of 0, 1, 5, 7 the cut between 1 and 5 gains most, and means of both sides remain."""
    data = valued(table_of({"x": [1, 2, 3, 4]}), [0, 1, 5, 7])
    model = fitted(RandomForest(trees=1, bootstrap=False, reuse=False), data)
    assert model.predict_values(data.table) == pytest.approx([0.5, 0.5, 6.0, 6.0])


def test_reuse_is_an_option_of_the_command_line(tmp_path: Path) -> None:
    words = ("eval", "iris", "-m", "random-forest", "-p", "reuse=false", "-p", "trees=5")
    assert typed(*words, "--store", str(tmp_path / "s.db")).exit_code == 0


MODELS = [RandomForest(trees=5, shuffle=True), ExtraTrees(trees=5)]


def grown() -> Any:
    """Three trees on columns of both kinds."""
    return fitted(RandomForest(trees=3), rows_for("classification", EVERYTHING, 60))


BROKEN: dict[str, tuple[str, Any]] = {
    "a child that is its parent": ("left", lambda a: np.arange(len(a), dtype=np.int32)),
    "a child that is not there": ("left", lambda a: a + np.int32(1000)),
    "a child in another tree": ("left", lambda a: np.where(a > 0, len(a) - 2, a).astype(np.int32)),
    "too few values": ("value", lambda a: a[:2]),
    "trees without nodes": ("roots", lambda a: np.r_[a[:1], a].astype(np.int32)),
    "no trees": ("roots", lambda a: a[:0]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_forest_is_refused(what: str) -> None:
    model = grown()
    check_loaded(model)
    name, damage = BROKEN[what]
    model.trees_ = replace(model.trees_, **{name: damage(getattr(model.trees_, name))})
    with pytest.raises(ValueError, match="the saved"):
        check_loaded(model)


def test_importances_of_other_columns_are_refused() -> None:
    model = grown()
    model.gained_ = model.gained_[1:]
    with pytest.raises(ValueError, match=r"other columns|does not fit columns"):
        check_loaded(model)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_two_threads_grow_the_forest_of_one_to_the_bit(model: Any, kind: str) -> None:
    data = rows_for(kind, EVERYTHING, 80)
    alone = fitted(model.fresh(), data)
    with cores_for_a_fit(2):
        assert threads_of_a_fit() == 2
        together = fitted(model.fresh(), data)
    assert threads_of_a_fit() == 1
    for field in fields(alone.trees_):
        array, other = (getattr(model.trees_, field.name) for model in (alone, together))
        assert np.array_equal(array, other, equal_nan=array.dtype.kind == "f")
    for name in ("gained_", "shuffled_", "curve_"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))


def test_a_model_that_learns_again_forgets_what_it_knew() -> None:
    data = rows_for("regression", EVERYTHING, 40)
    model = fitted(RandomForest(trees=3), data)
    before = asked(model, data).predicted
    again = fitted(model, replace(data, y=data.y + 100.0))
    assert asked(again, data).predicted == pytest.approx(before + 100.0)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("bins", [5, 255])
def test_rows_out_of_the_bag_come_to_the_leaves_that_they_are_told_later(kind: str, bins: int) -> None:
    data = rows_for(kind, EVERYTHING, 700)
    data = data.take(order_of_content(data))
    for seed in range(3):
        model = fitted(RandomForest(trees=1, bins=bins, features="all"), data, seed)
        (drawn,) = np.random.default_rng(seed).integers(0, 2**62, 1)
        out = Bag.of(data.weights).repeats(np.random.default_rng(drawn)) == 0
        wrong = asked(model, data).predicted[out] - data.y[out]
        lost = wrong != 0 if kind == "classification" else wrong**2
        expected = np.average(lost, weights=data.weights[out])
        expected = expected if kind == "classification" else np.sqrt(expected)
        assert model.curve_[0] == pytest.approx([1, expected], rel=1e-12)
