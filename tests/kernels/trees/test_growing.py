"""Compiled growing beside a plain recursion, which parts rows by the definition."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.tables import Array, Flags
from mlcli.models.trees.decision_tree import DecisionTree
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import fitted
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


def impurity(data: Any, criterion: str, which: Any) -> float:
    """By the definition, from the rows themselves."""
    weights, outputs = data.weights[which], data.outputs[which]
    mean = weights @ outputs / weights.sum()
    if criterion == "squared-error":
        return float(weights @ ((outputs - mean) ** 2).sum(axis=1) / weights.sum())
    shares = mean[mean > 0]
    found = {
        "gini": 1 - shares @ shares,
        "entropy": -shares @ np.log2(shares),
        "misclassification": 1 - max(shares),
    }
    return float(found[criterion])


def ways_to_part(cells: Array, ordered: bool, here: Flags, each_level: bool) -> list[list[Flags]]:
    """Thresholds with missing cells on either side, known against missing; levels against the rest, or each."""
    known, values = ~np.isnan(cells), np.unique(cells[here & ~np.isnan(cells)])
    if ordered:
        lefts = [(known & (cells <= value)) | side for value in values for side in (~known & False, ~known)]
        return [[here & left, here & ~left] for left in lefts]
    levels = [here & (cells == value) for value in values]
    return [levels] if each_level else [[level, here & ~level] for level in levels]


class Plain:
    """A tree by recursion, which looks at every way to part the rows of a node by the definition."""

    def __init__(self, model: DecisionTree, data: Any, criterion: str) -> None:
        self.model, self.data, self.criterion = model, data, criterion
        cells = model.cells(data.table)
        self.cells, self.ordered = cells.values.T, cells.ordered

    def gain(self, parts: list[Flags]) -> tuple[float, float]:
        """What a way takes away, by the row, and the entropy of its branches' weights."""
        held = [self.data.weights[part].sum() for part in parts]
        if len(parts) < 2 or min(held) <= 0 or (self.model.min_leaf > 1 and min(held) < self.model.min_leaf):
            return -np.inf, 1.0
        shares = np.array(held) / sum(held)
        left = [impurity(self.data, self.criterion, part) for part in parts]
        whole = impurity(self.data, self.criterion, np.logical_or.reduce(parts))
        return whole - float(shares @ left), -float(shares @ np.log2(shares))

    def best(self, column: int, here: Flags) -> tuple[float, float, list[Flags]]:
        """The first of the ways by one column that gain most, but for rounding."""
        ways = ways_to_part(self.cells[column], self.ordered[column], here, self.model.algorithm != "cart")
        gains = [self.gain(parts) for parts in ways]
        best = int(np.argmax([gain >= max(gains)[0] - 1e-12 for gain, _ in gains])) if gains else 0
        return (*gains[best], ways[best]) if gains else (-np.inf, 1.0, [])

    def leaves(self, here: Flags) -> list[Flags]:
        """The rows of each leaf."""
        found = [self.best(column, here) for column in range(len(self.cells))]
        gains, information = np.array([one[:2] for one in found]).T
        if self.model.algorithm == "c45":
            few = gains < gains[gains > -np.inf].mean() - 1e-12 if (gains > -np.inf).any() else gains > 0
            gains = np.where(few, -np.inf, gains / information)
        best = int(np.argmax(gains >= gains.max() - 1e-12))
        if not gains.max() > self.model.min_gain + 1e-12:
            return [here]
        return [leaf for part in found[best][2] for leaf in self.leaves(part)]


def assert_same(model: DecisionTree, data: Any, criterion: str) -> None:
    """The same rows share a leaf."""
    leaves = fitted(model, data).tree_.nodes_of(model.cells(data.table))[0]
    plain = Plain(model, data, criterion).leaves(data.weights > 0)
    assert len(plain) == model.tree_.leaves.sum() > 3
    assert all(len(np.unique(leaves[rows])) == 1 for rows in plain)


@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("min_leaf", [1, 5])
def test_trees_of_numbers_part_rows_as_the_definition_says(
    criterion: str, share_missing: float, min_leaf: int
) -> None:
    data = rows(criterion, n=80, share_missing=share_missing)
    assert_same(DecisionTree(criterion=criterion, min_leaf=min_leaf), data, criterion)


@pytest.mark.parametrize("criterion", ["gini", "squared-error"])
def test_more_values_than_a_byte_can_number(criterion: str) -> None:
    """Nodes of many rows are sorted by digits, those of few by comparing each with each."""
    assert_same(DecisionTree(criterion=criterion, min_leaf=20), rows(criterion, n=200, decimals=6), criterion)


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c45"])
@pytest.mark.parametrize("criterion", CASES)
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
def test_columns_of_all_kinds_part_rows_as_the_definition_says(
    algorithm: str, criterion: str, weights: str
) -> None:
    """Rows like those of the contract (numbers, ranks and levels, with gaps) of which nothing can be learned."""
    rng = np.random.default_rng(4)
    data = rows_for("regression" if criterion == "squared-error" else "classification", EVERYTHING, 90)
    data = replace(data, y=rng.permutation(data.y))
    drawn = {"none": None, "whole": rng.integers(0, 4, len(data)) * 1.0, "any": rng.random(len(data)) + 0.1}
    data = replace(data, weight=drawn[weights])
    assert_same(DecisionTree(algorithm=algorithm, criterion=criterion, prune="none", min_leaf=4), data, criterion)


def test_a_tree_does_not_depend_on_the_order_of_rows() -> None:
    data = replace(rows("squared-error", n=150), weight=None)
    order = np.random.default_rng(3).permutation(len(data))
    one, other = (fitted(DecisionTree(), part) for part in (data, data.take(order)))
    assert one.explain()[0] == other.explain()[0]
    for field in fields(one.tree_):
        array, again = (getattr(model.tree_, field.name) for model in (one, other))
        assert array == pytest.approx(again, rel=1e-12, abs=1e-12, nan_ok=True)
