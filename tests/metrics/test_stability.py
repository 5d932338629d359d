"""The verdict on folds; the notes' three lists are in tests/golden/test_metrics.py."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.metrics.stability import fold_stability


@pytest.mark.parametrize(
    ("share", "rows", "folds"), [(0.95, 15, 10), (0.6, 20, 5), (0.8, 200, 10), (0.99, 50, 10)]
)
def test_chance_alone_is_mostly_called_consistent(share: float, rows: int, folds: int) -> None:
    rng = np.random.default_rng(1)
    verdicts = [
        fold_stability([right / rows for right in rng.binomial(rows, share, folds)], [rows] * folds).verdict
        for _ in range(200)
    ]
    assert verdicts.count("consistent") >= 180


def test_one_wrong_row_in_small_folds_is_chance() -> None:
    assert fold_stability([1, 1, 1, 1, 14 / 15], [15] * 5).verdict == "consistent"


def test_one_bad_fold_is_named() -> None:
    found = fold_stability([0.9, 0.91, 0.2, 0.9, 0.89], [100] * 5)
    assert (found.verdict, found.apart) == ("outlier split", (2,))
    assert "fold 3 (0.200)" in found.why


def test_a_small_fold_may_be_further_off() -> None:
    values = [0.9, 0.91, 0.6, 0.9, 0.89]
    assert fold_stability(values, [1000, 1000, 5, 1000, 1000]).verdict == "consistent"
    assert fold_stability(values, [1000, 1000, 1000, 1000, 1000]).verdict == "outlier split"


def test_two_bad_folds_are_inconsistent() -> None:
    found = fold_stability([0.9, 0.91, 0.2, 0.9, 0.3, 0.9, 0.9], [100] * 7)
    assert (found.verdict, found.apart) == ("inconsistent", (2, 4))
