"""Compiled asking of trees comes to the nodes that NumPy comes to, whatever is asked and whatever is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.models.trees._features import features
from mlcli.models.trees._predicting import by_loops, together
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import fitted
from tests.golden.shipped import numeric
from tests.rows import labelled


def assert_same_nodes(model: Any, cells: Array) -> None:
    """Both ways, from the root."""
    root = np.zeros(len(cells), np.intp)
    plain, quick = together(model.tree, cells, root), by_loops(model.tree, cells, root)
    assert plain.dtype == quick.dtype
    assert np.array_equal(plain, quick)
    assert (root == 0).all()


@pytest.mark.parametrize("algorithm", ["cart", "id3"])
@pytest.mark.parametrize("missing", ["own-value", "most-frequent"])
def test_questions_of_all_kinds(algorithm: str, missing: str) -> None:
    """Asked of fewer rows than were learned from, so that some levels are new, and of rows without anything."""
    data = rows_for("classification", EVERYTHING, 150)
    data = replace(data, y=np.random.default_rng(3).permutation(data.y))
    model = fitted(DecisionTree(algorithm=algorithm, missing=missing), data.take(np.arange(60)))
    cells = features(data.table, model.fills_)
    assert_same_nodes(model, cells)
    assert len(set(by_loops(model.tree, cells, np.zeros(len(cells), np.intp)))) > 20


@pytest.mark.parametrize("missing_from", [200, 101, 0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_with_and_without_missing_ones(missing_from: int, order: Any) -> None:
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(200, 4)), 1)
    X[missing_from:][rng.random(X[missing_from:].shape) < 0.2] = np.nan
    model = fitted(DecisionTree(), labelled(numeric(X), list(rng.choice(["a", "b", "c"], 200))))
    assert_same_nodes(model, np.asarray(np.roll(X, 1, axis=1), order=order))


def test_a_tree_that_has_seen_nothing_missing_stops_at_a_missing_number() -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = fitted(DecisionTree(), labelled(numeric(X), list("aabbab")))
    asked = np.where(X == 0, np.nan, X)
    assert_same_nodes(model, asked)
    assert by_loops(model.tree, asked, np.zeros(6, np.intp))[0] == 0


def test_a_table_without_columns_is_answered_by_the_root() -> None:
    model = fitted(DecisionTree(), labelled(numeric(np.empty((4, 0))), list("abab")))
    assert_same_nodes(model, np.empty((3, 0)))


def test_a_table_that_may_not_be_written_to() -> None:
    X = np.random.default_rng(2).normal(size=(50, 2))
    model = fitted(DecisionTree(), labelled(numeric(X), list("abcde" * 10)))
    X.setflags(write=False)
    assert_same_nodes(model, X)
