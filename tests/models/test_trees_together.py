"""Trees of all splits grown together are those that each split grows."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.held_out import Round
from mlcli.core.pipeline import Pipeline
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.test_shortcuts import assert_equal_or_refused
from tests.golden.shipped import as_they_are, weighted


@pytest.mark.parametrize("dataset", ["iris", "labor", "cpu", "weather-numeric"])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTree(algorithm=algorithm, min_leaf=least)
        for algorithm in ("cart", "id3", "c45")
        for least in (1, 3)
    ],
)
def test_every_fold_is_answered_by_its_own_tree(dataset: str, model: DecisionTree) -> None:
    data = weighted(as_they_are(dataset))
    part = (np.random.default_rng(4).permutation(len(data)) % 4).astype(np.int32)
    held = assert_equal_or_refused(model, (), data, part)
    assert held is not None
    assert not held.refused.any()


@pytest.mark.parametrize("model", [DecisionTree(missing="most-frequent"), DecisionTree(purity=0.9)])
def test_what_needs_each_split_alone_is_left_to_the_loop(model: DecisionTree) -> None:
    data = as_they_are("iris")
    assert Pipeline(model=model).held_out(data, Round(data.y, 3)) is None
