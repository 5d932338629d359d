"""The shortcut of logistic regression: what it answers as a fit to each split does, and what it leaves to it."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.held_out import Round
from mlcli.core.pipeline import Pipeline
from mlcli.models.linear.logistic_regression import LogisticRegression
from mlcli.prepare.standardise import Standardise
from tests.contract.test_shortcuts import assert_equal_or_refused
from tests.golden.shipped import in_numbers, weighted


def dealt(rows: int, parts: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return (np.random.default_rng(4).permutation(rows) % parts).astype(np.int32)


@pytest.mark.parametrize("multiclass", ["softmax", "one-against-rest"])
@pytest.mark.parametrize("dataset", ["iris", "wine"])
def test_every_fold_is_answered_in_both_forms(dataset: str, multiclass: str) -> None:
    data = weighted(in_numbers(dataset))
    model = LogisticRegression(multiclass=multiclass)
    held = assert_equal_or_refused(model, (Standardise(),), data, dealt(len(data), 4))
    assert held is not None
    assert not held.refused.any()


def test_folds_far_from_the_minimum_for_all_rows_are_still_answered() -> None:
    data = in_numbers("wine")
    held = assert_equal_or_refused(LogisticRegression(l2=1e-3), (Standardise(),), data, dealt(len(data), 2))
    assert held is not None
    assert not held.refused.any()


def test_a_fold_that_holds_all_of_a_class_is_left_to_the_loop() -> None:
    data = in_numbers("iris")
    held = assert_equal_or_refused(LogisticRegression(), (), data, data.y)
    assert held is not None
    assert held.refused.all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(l2=0.0),
        LogisticRegression(intercept=False),
        LogisticRegression(tolerance=1e-3),
        LogisticRegression(max_iterations=5),
        LogisticRegression(solver="gradient-descent"),
    ],
)
def test_settings_that_could_end_elsewhere_are_left_to_the_loop(model: LogisticRegression) -> None:
    data = in_numbers("iris")
    assert Pipeline(model=model).held_out(data, Round(dealt(len(data), 5), 5)) is None
