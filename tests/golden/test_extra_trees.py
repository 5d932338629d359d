"""extra-trees: what its definition fixes whatever is drawn, and scikit-learn's accuracy but for seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from mlcli.core.schema import Column
from mlcli.models.forests.extra_trees import ExtraTrees
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import in_numbers
from tests.support.rows import labelled, table_of, valued


def test_a_threshold_is_drawn_evenly_between_the_smallest_and_the_largest_value() -> None:
    """Geurts et al. 2006, appendix: a cut-point uniform in [min, max]; here 2 and 10, with nothing between."""
    data = labelled(table_of({"x": [2, 10]}), list("ab"))
    cuts = fitted(ExtraTrees(trees=2000), data).trees_.threshold
    cuts = np.sort(cuts[~np.isnan(cuts)])
    assert len(cuts) == 2000
    assert cuts == pytest.approx(np.linspace(2, 10, 2000), abs=0.3)


def test_how_often_a_gap_is_cut_follows_from_its_width() -> None:
    """Values 0, 1, 4 with one question: the first gap takes a quarter of the range."""
    data = valued(table_of({"x": [0, 1, 4]}), [0, 5, 9])
    cuts = fitted(ExtraTrees(trees=4000, max_depth=1), data).trees_.threshold
    assert (cuts[~np.isnan(cuts)] < 1).mean() == pytest.approx(0.25, abs=0.03)


def test_every_level_is_as_likely_as_the_others_for_classes() -> None:
    columns = (Column("c", "nominal", ("u", "v", "w")),)
    data = labelled(table_of({"c": list("uuuuvw")}, columns), list("aaabab"))
    levels = fitted(ExtraTrees(trees=3000, max_depth=1), data).trees_.threshold
    assert np.bincount(levels[~np.isnan(levels)].astype(int)) / 3000 == pytest.approx([1 / 3] * 3, abs=0.03)


def test_the_level_that_gains_most_is_split_off_for_values() -> None:
    """By hand, sums of S² / W: u 10²/4 + 12²/2 = 97, v 5² + 17²/5 = 82.8, w 7² + 15²/5 = 94."""
    columns = (Column("c", "nominal", ("u", "v", "w")),)
    data = valued(table_of({"c": list("uuuuvw")}, columns), [1, 2, 3, 4, 5, 7])
    levels = fitted(ExtraTrees(trees=50, max_depth=1), data).trees_.threshold
    assert set(levels[~np.isnan(levels)]) == {0.0}


def test_grown_out_on_all_rows_it_answers_training_rows_exactly() -> None:
    data = in_numbers("cpu")
    distinct = np.unique(data.table.numbers, axis=0, return_index=True)[1]
    data = data.take(distinct)
    assert answered(ExtraTrees(trees=5), data).predicted == pytest.approx(data.y)


PEERS: dict[str, Any] = {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor}


@pytest.mark.parametrize("name", ["glass", "ionosphere", "diabetes_progression"])
def test_error_is_scikit_learns_within_the_noise_of_seeds(name: str) -> None:
    data = in_numbers(name)
    order = np.random.default_rng(0).permutation(len(data))
    train, test = data.take(order[::2]), data.take(order[1::2])
    ours = [
        error(asked(fitted(ExtraTrees(trees=40, features="sqrt"), train, seed), test).predicted, test)
        for seed in range(5)
    ]
    theirs = []
    for seed in range(5):
        peer = PEERS[data.kind](40, max_features="sqrt", random_state=seed).fit(train.table.numbers, train.y)
        theirs.append(error(peer.predict(test.table.numbers), test))
    noise = np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 5)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * noise


def error(predicted: Any, test: Any) -> float:
    """The share of wrong classes, or the mean squared error."""
    wrong = predicted != test.y if test.kind == "classification" else (predicted - test.y) ** 2
    return float(np.mean(wrong))
