"""Single best column beside the AUC of scikit-learn in each group, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mlcli.core.schema import Schema
from mlcli.data.load import load
from mlcli.models.ranking.single_best_column import SingleBestColumn
from mlcli.tasks.table import kind_named
from tests.golden.asking import asked, fitted
from tests.support.rankings import each_group, grouped


def test_pairs_in_order_are_the_auc_of_each_group() -> None:
    # Of 4 modes one is chosen, so every group has 3 pairs, and the share over all pairs is the mean of the AUCs.
    dataset = load("travelmode")
    numbers = Schema(tuple(field for field in dataset.schema if field.column.name != "mode"))
    data = kind_named("ranking").rows.from_table(dataset.table.select(numbers.names()), numbers)
    model = fitted(SingleBestColumn(), data)
    for right, cells in zip(model.right_, data.table.numbers.T, strict=True):
        groups = zip(each_group(data, data.relevance), each_group(data, cells), strict=True)
        assert right == pytest.approx(np.mean([roc_auc_score(chosen, cell) for chosen, cell in groups]), abs=1e-12)
    assert (data.table.columns[model.place_].name, model.direction_) == ("travel", -1)
    assert np.array_equal(asked(model, data).score, -data.table.cells("travel").astype(float))


def test_the_first_of_equally_good_columns_goes_upwards() -> None:
    data = grouped([[1.0, 5, 2], [1, 4, 3]], [0, 1], [0, 0])
    model = fitted(SingleBestColumn(), data)
    assert (model.place_, model.direction_) == (1, -1)
    assert model.right_.tolist() == [0.5, 0.0, 1.0]
    level = fitted(SingleBestColumn(), grouped([[1.0], [1]], [0, 1], [0, 0]))
    assert (level.place_, level.direction_) == (0, 1)


def test_pairs_count_the_product_of_their_weights() -> None:
    data = grouped([[1.0], [2], [3]], [0, 2, 1], [0, 0, 0], [1.0, 2, 3])
    # In order: (2nd, 1st) with 1·2 and (3rd, 1st) with 1·3; not: (2nd, 3rd) with 2·3.
    assert fitted(SingleBestColumn(), data).right_ == pytest.approx([5 / 11])
