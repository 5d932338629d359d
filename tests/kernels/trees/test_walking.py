"""Compiled walks come to the nodes that NumPy comes to, whatever is asked and whatever is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.tables import Array, Flags
from mlcli.engines.trees.structure import STOPS, Cells, Trees, cells_of
from mlcli.models.boosting.newton_boosting import NewtonBoosting
from mlcli.models.forests.random_forest import RandomForest
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import fitted
from tests.golden.shipped import numeric
from tests.support.rows import labelled


def assert_same_nodes(trees: Trees, cells: Cells) -> None:
    """By steps of all rows, and by compiled loops; and the same sums."""
    plain = np.array([[walk(trees, root, row, cells.ordered) for row in cells.values] for root in trees.roots])
    assert np.array_equal(plain, trees.nodes_of(cells))
    assert trees.predict(cells) == pytest.approx(trees.value[plain].sum(axis=0))


def walk(trees: Trees, node: int, cells: Array, by_threshold: Flags) -> int:
    """The node that answers a row, in plain words."""
    if trees.leaves[node]:
        return node
    feature, following = trees.feature[node], int(trees.left[node])
    cell, threshold = cells[feature], trees.threshold[node]
    if np.isnan(cell):
        following = int(trees.missing[node])
    elif trees.offset[node] >= 0:
        following = int(trees.child_of[trees.offset[node] + int(cell)])
    else:
        following += int(cell > threshold if by_threshold[feature] else cell != threshold)
    return node if following == STOPS else walk(trees, following, cells, by_threshold)


@pytest.mark.parametrize("algorithm", ["cart", "id3"])
@pytest.mark.parametrize("missing", ["own-value", "most-frequent"])
def test_questions_of_all_kinds(algorithm: str, missing: str) -> None:
    """Asked of more rows than were learned from, so that some levels are new."""
    data = rows_for("classification", EVERYTHING, 150)
    data = replace(data, y=np.random.default_rng(3).permutation(data.y))
    model = fitted(DecisionTree(algorithm=algorithm, missing=missing), data.take(np.arange(60)))
    assert_same_nodes(model.tree_, cells_of(data.table, model.fills_))


@pytest.mark.parametrize("model", [RandomForest(trees=7), NewtonBoosting(rounds=5, min_leaf=3)], ids=str)
@pytest.mark.parametrize("n", [1, 3, 4, 5, 60])
def test_many_trees(model: Any, n: int) -> None:
    data = rows_for("regression", EVERYTHING, 60)
    assert_same_nodes(fitted(model, data).trees_, cells_of(data.table.take(slice(n))))


@pytest.mark.parametrize("missing_from", [200, 101, 0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_with_and_without_missing_ones(missing_from: int, order: Any) -> None:
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(200, 4)), 1)
    X[missing_from:][rng.random(X[missing_from:].shape) < 0.2] = np.nan
    model = fitted(DecisionTree(), labelled(numeric(X), list(rng.choice(["a", "b", "c"], 200))))
    cells = np.asarray(np.roll(X, 1, axis=1), order=order)
    cells.setflags(write=False)
    assert_same_nodes(model.tree_, Cells(cells, np.zeros(4, np.intp)))


def test_a_tree_that_has_seen_nothing_missing_stops_at_a_missing_number() -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = fitted(DecisionTree(), labelled(numeric(X), list("aabbab")))
    asked = Cells(np.where(X == 0, np.nan, X), np.zeros(2, np.intp))
    assert model.tree_.nodes_of(asked)[0, 0] == 0
    assert_same_nodes(model.tree_, asked)


def test_a_table_without_columns_is_answered_by_the_root() -> None:
    model = fitted(DecisionTree(), labelled(numeric(np.empty((4, 0))), list("abab")))
    assert_same_nodes(model.tree_, Cells(np.empty((3, 0)), np.empty(0, np.intp)))
