"""Leaves part rows as scikit-learn's trees do, and random trees need no target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeRegressor

from mlcli.core.errors import FitError
from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.tree_embedding import TreeEmbedding
from tests.prepare.preparing import names
from tests.support.rows import labelled, valued
from tests.support.samples import rows_of

DIABETES = load_diabetes()


def numbers(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def learned(step: TreeEmbedding, data: Any) -> TreeEmbedding:
    step.learn(data, np.random.default_rng(1))
    return step


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_leaves_of_one_tree_part_rows_as_scikit_learn_does(depth: int) -> None:
    X, y = DIABETES.data[:200], DIABETES.target[:200]
    ours = learned(TreeEmbedding(by="tree", depth=depth), valued(numbers(X), y.tolist())).apply(numbers(X))
    theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).apply(X)
    pairs = set(zip(ours.codes[:, 0].tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(theirs.tolist())) == len(set(ours.codes[:, 0].tolist()))


def test_a_tree_has_a_level_for_each_leaf_that_there_may_be() -> None:
    table = numbers(DIABETES.data)
    changed = learned(TreeEmbedding(trees=4, depth=2), valued(table, DIABETES.target.tolist())).apply(table)
    assert names(changed) == ["tree 1", "tree 2", "tree 3", "tree 4"]
    assert all(len(column.levels) == 4 for column in changed.columns)
    assert changed.codes.min() >= 0
    assert len(np.unique(changed.codes, axis=0)) > 8


def test_random_trees_look_at_no_target() -> None:
    table, targets = numbers(DIABETES.data), (DIABETES.target, -DIABETES.target)
    one, other = (learned(TreeEmbedding(), valued(table, y.tolist())).apply(table).codes for y in targets)
    assert np.array_equal(one, other)
    clusters = rows_of("clustering")
    assert len(learned(TreeEmbedding(), clusters).apply(clusters.table)) == len(clusters)
    with pytest.raises(FitError, match="by: forest learns from a target, and here is none"):
        learned(TreeEmbedding(by="forest"), clusters)


@pytest.mark.parametrize("by", ["random", "forest", "extra-trees"])
def test_a_linear_method_of_leaves_tells_classes_apart(by: str) -> None:
    loaded = load_iris()
    data = labelled(numbers(loaded.data), [str(y) for y in loaded.target])
    odd = np.arange(150) % 2 == 1
    steps = (TreeEmbedding(by=by, trees=20), OneHot())
    model = Pipeline(steps=steps, model=build(MODELS.load("logistic-regression"), {"l2": 1.0}))
    learn(model, data.take(np.flatnonzero(~odd)), np.random.default_rng(1))
    answers: Any = predict_rows(model, data.take(np.flatnonzero(odd)))
    assert np.mean(answers.predicted == answers.truth) > 0.9
