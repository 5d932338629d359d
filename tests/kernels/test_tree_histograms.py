"""Trees grown on bins are those grown on cells that are the numbers of their bins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn.tree

from mlcli.core.held_out import Round
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Array
from mlcli.models.trees import _searched
from mlcli.models.trees._algorithms import ALGORITHMS
from mlcli.models.trees._binning import binned
from mlcli.models.trees._compiled import grown_on_bins
from mlcli.models.trees._criteria import CRITERIA
from mlcli.models.trees._features import features, level_counts, own_value
from mlcli.models.trees._growing import Limits, Rules, grown_by_levels
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._predicting import together
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import asked, fitted
from tests.golden.shipped import numeric
from tests.rows import labelled, valued

WAYS: list[dict[str, Any]] = [
    {},
    {"algorithm": "id3", "min_leaf": 3},
    {"algorithm": "c45"},
    {"criterion": "squared-error", "purity": 0.9},
    {"criterion": "misclassification", "min_gain": 0.01},
    {"criterion": "entropy", "missing": "most-frequent", "max_depth": 6},
]


def noise(kind: str, n: int = 120) -> Any:
    """Rows like those of the contract (numbers, ranks and levels, with gaps), of which nothing can be learned."""
    rng = np.random.default_rng(4)
    data = rows_for(kind, EVERYTHING, n)
    return replace(data, y=rng.permutation(data.y), weight=rng.random(n) + 0.1)


@pytest.fixture(params=[8, 1024])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Up to how many rows are ordered: nodes above are searched by histograms."""
    monkeypatch.setattr(_searched, "FEW", request.param)
    return int(request.param)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("params", WAYS, ids=str)
def test_with_a_bin_for_each_value_the_tree_is_the_exact_one_to_the_bit(
    kind: str, params: dict[str, Any], few: int
) -> None:
    data = noise(kind)
    if kind == "regression":
        params = {name: value for name, value in params.items() if name != "criterion"}
    exact, in_bins = fitted(DecisionTree(**params), data), fitted(DecisionTree(bins=255, **params), data)
    assert len(exact.nodes_["feature"]) > 10
    for name, array in exact.nodes_.items():
        assert array.dtype == in_bins.nodes_[name].dtype
        assert np.array_equal(array, in_bins.nodes_[name], equal_nan=array.dtype.kind == "f"), name


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared-error"])
def test_with_fewer_bins_the_tree_is_the_exact_one_of_the_numbers_of_bins(criterion: str, few: int) -> None:
    data = noise("regression" if criterion == "squared-error" else "classification")
    cells, levels = features(data.table, own_value(data.table, data.weights)), level_counts(data.table.columns)
    targets = Targets.of(data.outputs, data.weights)
    rules = Rules(CRITERIA[criterion], ALGORITHMS["cart"], "none", Limits())
    found = binned(cells, levels == 0, levels, 9, data.weights)
    numbers: Array = found.bins.T.astype(float)
    numbers[np.isnan(cells)] = np.nan
    exact, in_bins = (
        grown_by_levels(numbers, levels, targets, rules),
        grown_on_bins(cells, levels, targets, rules, 9),
    )
    for name, array in exact.arrays().items():
        if name != "threshold":
            assert np.array_equal(array, in_bins.arrays()[name]), name
    root = np.zeros(len(data), np.intp)
    assert np.array_equal(together(exact, numbers, root), together(in_bins, cells, root))
    assert len(exact.feature) > 20


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_it_answers_what_scikit_learn_answers_on_the_numbers_of_bins(kind: str, few: int) -> None:
    """Of two thousand rows in sixteen bins each; ties are rare where every row has a value of its own."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 3))
    noisy = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=2000)
    classes = kind == "classification"
    data = (
        labelled(numeric(X), list(np.where(noisy > 1, "a", "b")))
        if classes
        else valued(numeric(X), noisy.tolist())
    )
    bins = binned(X, np.ones(3, bool), np.zeros(3, np.intp), 16).bins.T
    oracle = (sklearn.tree.DecisionTreeClassifier if classes else sklearn.tree.DecisionTreeRegressor)(max_depth=5)
    ours = asked(fitted(DecisionTree(bins=16, max_depth=5), data), data)
    theirs = oracle.fit(bins, data.y)
    said = ours.probabilities if classes else ours.predicted
    assert said == pytest.approx(theirs.predict_proba(bins) if classes else theirs.predict(bins), abs=1e-9)


def test_bins_are_made_of_the_training_rows_of_each_split() -> None:
    data = noise("classification")
    part = np.arange(len(data), dtype=np.int32) % 3
    assert Pipeline(model=DecisionTree(bins=8)).held_out(data, Round(part, 3)) is None
