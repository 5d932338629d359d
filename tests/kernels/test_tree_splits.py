"""The compiled search for thresholds and its NumPy twin say the same, and both what the definition says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.containers import LabelledRows, ValuedRows
from mlcli.core.tables import Array
from mlcli.models.trees import _search
from mlcli.models.trees._criteria import CRITERIA
from mlcli.models.trees._levels import descend
from mlcli.models.trees._search import NUMPY_ROUTE, compiled_route
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.subjects import said_by
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import asked, fitted
from tests.golden.growing import cuts_of, level_for
from tests.golden.shipped import numeric

CASES = ["gini", "entropy", "misclassification", "squared-error"]


def rows(criterion: str, n: int = 60, seed: int = 0, share_missing: float = 0.2) -> Any:
    """Rounded numbers, some missing, with classes or values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[rng.random(X.shape) < share_missing] = np.nan
    common: dict[str, Any] = {
        "table": numeric(X),
        "rows": np.arange(n),
        "weight": rng.integers(1, 4, n) * 1.0,
    }
    if criterion == "squared-error":
        return ValuedRows(**common, y=np.round(np.nan_to_num(X[:, 0]) * 3 + rng.normal(size=n), 1) + 100)
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n) > 0).astype(np.int32) + rng.integers(0, 2, n, np.int32)
    return LabelledRows(**common, y=y, classes=("a", "b", "c"))


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("least", [0.0, 6.0])
def test_both_routes_find_the_same_cuts(criterion: str, share_missing: float, least: float) -> None:
    data = rows(criterion, share_missing=share_missing)
    node = np.random.default_rng(1).integers(-1, 4, len(data)).astype(np.intp)
    level = level_for(data, criterion, node)
    plain = cuts_of(level, "cart", criterion, least)
    quick = cuts_of(level, "cart", criterion, least, compiled_route())
    found = plain.gain > -np.inf
    assert np.array_equal(quick.gain > -np.inf, found)
    for part in ("gain", "information"):
        assert getattr(quick, part)[found] == pytest.approx(getattr(plain, part)[found], abs=1e-12)
    for part in ("low", "high", "missing_left"):
        assert np.array_equal(getattr(quick, part)[found], getattr(plain, part)[found])


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_the_gain_is_the_largest_of_all_ways_to_cut(criterion: str, seed: int) -> None:
    data = rows(criterion, n=25, seed=seed)
    found = cuts_of(level_for(data, criterion), "cart", criterion).gain[0]
    every = [max(ways_to_cut(data, column, criterion)) for column in data.table.numbers.T]
    assert found == pytest.approx(every, abs=1e-12)


def ways_to_cut(data: Any, cells: Array, criterion: str) -> list[float]:
    """What each threshold gains with missing cells on either side, and what known against missing does."""
    known, missing = ~np.isnan(cells), np.isnan(cells)
    lefts = [
        side | (known & (cells <= value))
        for value in np.unique(cells[known])
        for side in (~known & False, missing)
    ]
    everything = impurity(data, criterion, known | True)
    gains = []
    for left in lefts:
        if 0 < left.sum() < len(left):
            parts = [(data.weights[side].sum(), impurity(data, criterion, side)) for side in (left, ~left)]
            gains.append(everything - sum(weight * part for weight, part in parts) / data.weights.sum())
    return gains


def impurity(data: Any, criterion: str, which: Any) -> float:
    """By the definition, from the rows themselves."""
    weights, outputs = data.weights[which], data.outputs[which]
    mean = weights @ outputs / weights.sum()
    spread = weights @ ((outputs - mean) ** 2).sum(axis=1) / weights.sum()
    return float(CRITERIA[criterion].impurity(mean[None], np.array([spread]))[0])


def test_both_routes_carry_rows_down_alike() -> None:
    rng = np.random.default_rng(2)
    orders = np.array([rng.permutation(50) for _ in range(3)])
    node = rng.integers(-1, 5, 50).astype(np.intp)
    below = compiled_route().descend(orders, node)
    assert np.array_equal(below, descend(orders, node))
    for order, kept in zip(orders, below, strict=True):
        expected = [row for here in range(5) for row in order if node[row] == here]
        assert kept.tolist() == expected


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("limits", [{}, {"min_leaf": 5}], ids=str)
def test_both_routes_grow_the_same_tree_to_the_bit(
    criterion: str, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rows(criterion, n=200)
    plain = fitted(DecisionTree(criterion=criterion, **limits), data).nodes_
    monkeypatch.setattr(_search, "COMPILED_FROM", 0)
    quick = fitted(DecisionTree(criterion=criterion, **limits), data).nodes_
    for name, array in plain.items():
        assert np.array_equal(array, quick[name], equal_nan=array.dtype.kind == "f")


def test_small_tables_do_not_load_compiled_code() -> None:
    assert _search.route_for(1000) is NUMPY_ROUTE
    assert _search.route_for(10**6) is not NUMPY_ROUTE


def test_a_tree_does_not_depend_on_the_order_of_rows() -> None:
    data = replace(rows("squared-error", n=150), weight=None)
    order = np.random.default_rng(3).permutation(len(data))
    one, other = (fitted(DecisionTree(), part) for part in (data, data.take(order)))
    assert one.explain()[0] == other.explain()[0]
    for name, array in one.nodes_.items():
        assert array == pytest.approx(other.nodes_[name], rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("algorithm", ["cart", "c45"])
def test_a_table_large_enough_for_compiled_loops_grows_the_tree_of_numpy_to_the_bit(
    kind: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows like those of the contract, with levels, gaps and weights; the route is the one that users meet."""
    data = rows_for(kind, EVERYTHING, 7_000)
    data = replace(data, weight=np.random.default_rng(4).integers(1, 4, len(data)).astype(np.float64))
    assert data.table.numbers.size >= _search.COMPILED_FROM
    quick = fitted(DecisionTree(algorithm=algorithm, max_depth=5), data)
    monkeypatch.setattr(_search, "COMPILED_FROM", 10**9)
    plain = fitted(DecisionTree(algorithm=algorithm, max_depth=5), data)
    for name, array in plain.nodes_.items():
        assert np.array_equal(array, quick.nodes_[name], equal_nan=array.dtype.kind == "f")
    assert len(plain.nodes_["feature"]) > 20
    assert np.array_equal(said_by(asked(plain, data)), said_by(asked(quick, data)))
