"""Forests of values with nominal columns are level with those of scikit-learn behind one-hot encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows, Table
from mlcli.models.forests.extra_trees import ExtraTrees
from mlcli.models.forests.random_forest import RandomForest
from mlcli.tasks.regression import ValuedRows
from tests.golden.asking import fitted
from tests.rows import labelled, valued

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
