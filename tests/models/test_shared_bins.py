"""Bins that splits share change no tree: each is what the rows of its split alone give, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.engines.origins import remember_origin
from mlcli.models.forests.extra_trees import ExtraTrees
from mlcli.models.forests.random_forest import RandomForest
from mlcli.models.trees._shared_bins import Shared, exact
from mlcli.models.trees.decision_tree import DecisionTree
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import fitted

MODELS: list[Any] = [
    RandomForest(trees=5),
    RandomForest(trees=3, bins=9, shuffle=True),
    ExtraTrees(trees=5),
    DecisionTree(bins=255),
    DecisionTree(bins=9),
    DecisionTree(bins=255, missing="most-frequent"),
]


def rounded(kind: str, n: int = 300) -> Any:
    """Rows of which one column has few values and gaps, and another has more than there are bins."""
    data = rows_for(kind, EVERYTHING, n)
    numbers = data.table.numbers.copy()
    numbers[:, 0] = np.round(numbers[:, 0], 1)
    numbers[::7, 0] = np.nan
    return data.with_table(replace(data.table, numbers=numbers))


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_split_of_a_table_grows_the_trees_that_its_rows_alone_grow(model: Any, kind: str) -> None:
    data = rounded(kind)
    rows = np.random.default_rng(5).permutation(len(data))[:120]
    alone, part = data.take(rows), data.take(rows)
    remember_origin(part.table, data.table, rows)
    one, other = fitted(replace(model), alone), fitted(replace(model), part)
    for name, array in one.nodes_.items():
        assert array.tobytes() == other.nodes_[name].tobytes()


def test_a_column_is_binned_once_for_all_splits() -> None:
    data, met = rounded("classification"), []
    for rows in np.split(np.arange(300), 3):
        part = data.take(rows)
        remember_origin(part.table, data.table, rows)
        shared = Shared.of(part.table, np.arange(100))
        assert shared is not None
        found = shared.column(0, 255)
        assert found is not None
        met.append(found)
        values = np.r_[found.values, np.nan][found.bins]
        assert np.array_equal(values, data.table.numbers[:, 0], equal_nan=True)
    assert met[0] is met[1] is met[2]


def test_a_column_of_many_values_is_not_shared() -> None:
    assert exact(np.arange(300.0), 255) is None
    assert exact(np.arange(300.0) // 2, 255) is not None
