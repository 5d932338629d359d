"""Too few judged rows to tell models apart are warned of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mlcli.core.params import build
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import warn_of_few_judged


def said(protocol: str, rows: int, rare: int = 20, **params: object) -> list[str]:
    y = np.zeros(rows, np.int32)
    y[:rare] = 1
    strata, made = SplitInfo(rows, y), build(PROTOCOLS.load(protocol), params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = made.splits(strata, np.random.default_rng(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_few_judged(splits, strata, pooled=made.pooled)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("protocol", "rows", "rare", "params", "what"),
    [
        ("holdout", 40, 20, {"test_share": 0.1}, "only 4 rows are judged"),
        ("k-fold", 20, 10, {"folds": 2}, "only 20 rows are judged: one answer more or less is 5 % of them"),
        ("stratified-k-fold", 100, 3, {"folds": 10}, "of the rarest class that is judged there are only 3 rows"),
        ("k-fold", 40, 20, {"folds": 10}, "the smallest of the 10 test parts holds 4 of the rows"),
        ("bootstrap", 10, 5, {}, "only 10 rows are judged"),
    ],
)
def test_too_few_rows_are_said(protocol: str, rows: int, rare: int, params: dict[str, object], what: str) -> None:
    assert any(what in one for one in said(protocol, rows, rare, **params))


def test_enough_rows_are_not_mentioned_and_pooled_answers_have_no_parts() -> None:
    assert said("stratified-k-fold", 100, 50) == []
    assert said("holdout", 200, 100) == []
    assert said("leave-one-out", 60) == []
