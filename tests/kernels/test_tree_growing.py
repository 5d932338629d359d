"""Compiled growing and its NumPy twin give the same tree to the bit, with the best cuts by the definition."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array
from mlcli.models.trees import decision_tree
from mlcli.models.trees._algorithms import ALGORITHMS
from mlcli.models.trees._compiled import grown_by_loops
from mlcli.models.trees._criteria import CRITERIA
from mlcli.models.trees._features import features, level_counts, own_value
from mlcli.models.trees._growing import Limits, Rules, grown_by_levels
from mlcli.models.trees._levels import Targets, descend
from mlcli.models.trees._spending import COMPILING, FIRST_OF_ALL, ONE_MORE, Spending
from mlcli.models.trees.decision_tree import DecisionTree
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
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


def carried(seed: int = 2) -> tuple[Any, Any]:
    """Orders of rows, and the node of each row."""
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(50) for _ in range(3)]), rng.integers(-1, 5, 50).astype(np.intp)


def test_rows_are_carried_down_in_order() -> None:
    orders, node = carried()
    for order, kept in zip(orders, descend(orders, node), strict=True):
        assert kept.tolist() == [row for here in range(5) for row in order if node[row] == here]


def both(data: Any, monkeypatch: pytest.MonkeyPatch, **params: Any) -> tuple[DecisionTree, DecisionTree]:
    """The tree grown by NumPy, and by compiled loops."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        monkeypatch.setattr(decision_tree, "grown", grown_by_levels)
        plain = fitted(DecisionTree(**params), data)
        monkeypatch.setattr(decision_tree, "grown", grown_by_loops)
        return plain, fitted(DecisionTree(**params), data)


def assert_same(plain: DecisionTree, quick: DecisionTree) -> None:
    """To the bit, and in the same types."""
    for name, array in plain.nodes_.items():
        assert array.dtype == quick.nodes_[name].dtype
        assert np.array_equal(array, quick.nodes_[name], equal_nan=array.dtype.kind == "f"), name


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("limits", [{}, {"min_leaf": 5, "min_split": 12}, {"max_depth": 3}], ids=str)
def test_both_ways_grow_the_same_tree_to_the_bit(
    criterion: str, share_missing: float, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, quick = both(
        rows(criterion, n=200, share_missing=share_missing), monkeypatch, criterion=criterion, **limits
    )
    assert_same(plain, quick)
    assert len(plain.nodes_["feature"]) > 7


KINDS = ["classification", "regression"]
WAYS: list[dict[str, Any]] = [
    {},
    {"algorithm": "id3", "min_leaf": 3},
    {"algorithm": "c45"},
    {"algorithm": "c45", "gate": "none", "min_gain": 0.05},
    {"criterion": "squared-error", "purity": 0.9},
    {"criterion": "misclassification"},
    {"criterion": "entropy", "missing": "most-frequent", "purity": 0.8},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("params", WAYS, ids=str)
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
def test_columns_of_all_kinds_grow_the_same_tree_to_the_bit(
    kind: str, params: dict[str, Any], weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows like those of the contract (numbers, ranks and levels, with gaps) of which nothing can be learned."""
    rng = np.random.default_rng(4)
    data = rows_for(kind, EVERYTHING, 250)
    data = replace(data, y=rng.permutation(data.y))
    drawn = {"none": None, "whole": rng.integers(0, 4, len(data)) * 1.0, "any": rng.random(len(data)) + 0.1}
    data = replace(data, weight=drawn[weights])
    plain, quick = both(data, monkeypatch, **params)
    assert_same(plain, quick)
    assert len(plain.nodes_["feature"]) > 20
    assert np.array_equal(said_by(asked(plain, data)), said_by(asked(quick, data)))


@pytest.mark.parametrize("step", [0.0, 1.0 / 3.0])
def test_several_trees_grown_as_one_are_the_same_to_the_bit(step: float) -> None:
    data = rows_for("classification", EVERYTHING, 120)
    data = replace(data, y=np.random.default_rng(6).permutation(data.y))
    cells = features(data.table, own_value(data.table, data.weights))
    weights: Array = np.linspace(1.0, 1.0 + step * len(data), len(data))
    targets = Targets.of(data.outputs, weights)
    rules = Rules(CRITERIA["gini"], ALGORITHMS["cart"], "none", Limits())
    root = np.random.default_rng(5).permutation(len(data)).astype(np.intp) % 3
    plain = grown_by_levels(cells, level_counts(data.table.columns), targets, rules, root).arrays()
    quick = grown_by_loops(cells, level_counts(data.table.columns), targets, rules, root).arrays()
    for name, array in plain.items():
        assert np.array_equal(array, quick[name], equal_nan=array.dtype.kind == "f"), name


def test_compiled_loops_are_loaded_once_numpy_has_cost_as_much() -> None:
    few, many = (Spending(compiled=lambda: True) for _ in range(2))
    assert many.loads(FIRST_OF_ALL / 10, times=10)
    assert many.loads(0.0)
    asked = [few.loads(ONE_MORE / 10) for _ in range(200)]
    assert asked == sorted(asked)
    assert (asked[0], asked[-1]) == (False, True)


def test_loops_that_must_be_compiled_first_have_a_higher_price() -> None:
    assert not Spending(compiled=lambda: False).loads(FIRST_OF_ALL)
    assert Spending(compiled=lambda: False).loads(FIRST_OF_ALL + COMPILING)


def test_a_tree_does_not_depend_on_the_order_of_rows() -> None:
    data = replace(rows("squared-error", n=150), weight=None)
    order = np.random.default_rng(3).permutation(len(data))
    one, other = (fitted(DecisionTree(), part) for part in (data, data.take(order)))
    assert one.explain()[0] == other.explain()[0]
    for name, array in one.nodes_.items():
        assert array == pytest.approx(other.nodes_[name], rel=1e-12, abs=1e-12, nan_ok=True)
