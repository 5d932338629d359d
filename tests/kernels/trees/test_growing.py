"""Compiled growing beside its plain twin, which grows by recursion, and cuts by the definition."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array
from mlcli.engines.trees.criteria import CRITERIA
from mlcli.engines.trees.structure import Trees
from mlcli.models.trees.decision_tree import DecisionTree
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import fitted
from tests.golden.growing import gains_at_root
from tests.golden.shipped import numeric

CASES = ["gini", "entropy", "misclassification", "squared-error"]


def rows(criterion: str, n: int = 60, seed: int = 0, share_missing: float = 0.2, decimals: int = 1) -> Any:
    """Rounded numbers, some missing, with classes or values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), decimals)
    X[rng.random(X.shape) < share_missing] = np.nan
    common: dict[str, Any] = {"table": numeric(X), "rows": np.arange(n), "weight": rng.integers(1, 4, n) * 1.0}
    if criterion == "squared-error":
        return ValuedRows(**common, y=np.round(np.nan_to_num(X[:, 0]) * 3 + rng.normal(size=n), 1) + 100)
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n) > 0).astype(np.int32) + rng.integers(0, 2, n, np.int32)
    return LabelledRows(**common, y=y, classes=("a", "b", "c"))


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_the_gain_is_the_largest_of_all_ways_to_cut(criterion: str, seed: int) -> None:
    data = rows(criterion, n=25, seed=seed)
    every = [max(ways_to_cut(data, column, criterion)) for column in data.table.numbers.T]
    assert gains_at_root(data, "cart", criterion) == pytest.approx(every, abs=1e-12)


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


class ByRecursion(DecisionTree):
    """Grown as trees of many branches are."""

    def grown(self, data: Any) -> Trees:
        """By recursion, whatever it is."""
        return self._grower(data).grow()


def both(data: Any, **params: Any) -> tuple[Any, Any]:
    """The tree grown by recursion, and by compiled loops."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        return fitted(ByRecursion(**params), data), fitted(DecisionTree(**params), data)


def assert_same(plain: Any, quick: Any) -> None:
    """The same questions in the same order, and the same sums."""
    ours, theirs = plain.explain()[0], quick.explain()[0]
    assert ours.conditions == theirs.conditions
    assert ours.depths == theirs.depths
    assert ours.rows == pytest.approx(theirs.rows)
    for name in ("value", "weight", "impurity", "gain"):
        one, other = (np.sort(model.nodes_[name], axis=0) for model in (plain, quick))
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("limits", [{}, {"min_leaf": 5, "min_split": 12}, {"max_depth": 3}], ids=str)
def test_both_grow_the_same_tree(criterion: str, share_missing: float, limits: dict[str, Any]) -> None:
    plain, quick = both(rows(criterion, n=200, share_missing=share_missing), criterion=criterion, **limits)
    assert_same(plain, quick)
    assert len(plain.nodes_["feature"]) > 7


@pytest.mark.parametrize("criterion", ["gini", "squared-error"])
def test_more_values_than_a_byte_can_number(criterion: str) -> None:
    """Nodes of many rows are sorted by digits, those of few by comparing each with each."""
    plain, quick = both(rows(criterion, n=700, decimals=6), min_leaf=3)
    assert_same(plain, quick)


KINDS = ["classification", "regression"]
PARAMS: list[dict[str, Any]] = [
    {},
    {"criterion": "squared-error", "purity": 0.9},
    {"criterion": "misclassification"},
    {"criterion": "entropy", "missing": "most-frequent", "purity": 0.8},
    {"min_gain": 0.004, "bins": 20},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
def test_columns_of_all_kinds_grow_the_same_tree(kind: str, params: dict[str, Any], weights: str) -> None:
    """Rows like those of the contract (numbers, ranks and levels, with gaps) of which nothing can be learned."""
    rng = np.random.default_rng(4)
    data = rows_for(kind, EVERYTHING, 250)
    data = replace(data, y=rng.permutation(data.y))
    drawn = {"none": None, "whole": rng.integers(0, 4, len(data)) * 1.0, "any": rng.random(len(data)) + 0.1}
    data = replace(data, weight=drawn[weights])
    plain, quick = both(data, **params)
    assert_same(plain, quick)


def test_a_tree_does_not_depend_on_the_order_of_rows() -> None:
    data = replace(rows("squared-error", n=150), weight=None)
    order = np.random.default_rng(3).permutation(len(data))
    one, other = (fitted(DecisionTree(), part) for part in (data, data.take(order)))
    assert one.explain()[0] == other.explain()[0]
    for name, array in one.nodes_.items():
        assert array == pytest.approx(other.nodes_[name], rel=1e-12, abs=1e-12, nan_ok=True)
