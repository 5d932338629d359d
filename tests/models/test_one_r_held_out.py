"""The rules outside all parts of a round are those of a fit to each part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.pipeline import Pipeline
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.models.baselines.one_r import OneR
from mlcli.prepare.standardise import Standardise
from tests.contract.test_shortcuts import ROWS, TABLES, assert_equal_or_refused, rounds, rows_of, table_of

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"min_bucket": 1},
    {"min_bucket": 3, "feature": "x0"},
    {"min_bucket": 20},
)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for threshold in ("COMPILED_FROM", "LOADED_FROM"):
        monkeypatch.setattr(f"mlcli.models.baselines.one_r.{threshold}", 0)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("table", ["plain", "on a grid", "far_away", "all_but_constant", "near neighbours"])
def test_answers_are_those_of_the_loop(table: str, gaps: bool, settings: Any) -> None:
    rng = np.random.default_rng(4)
    more: dict[str, Array] = {
        "on a grid": np.asarray(rng.integers(-9, 9, (ROWS, 3)) / 10, np.float64),
        "near neighbours": np.asarray(1 + rng.integers(0, 9, (ROWS, 2)) * 2.0**-52, np.float64),
    }
    numbers = more[table] if table in more else TABLES[table](rng)
    data = rows_of("classification", table_of(numbers, rng, gaps=gaps, levels=True), rng, weighted=gaps)
    for part in rounds().values():
        assert assert_equal_or_refused(OneR(**settings), (), data, part) is not None


def test_steps_and_weights_that_are_not_whole_are_left_to_the_loop() -> None:
    rng = np.random.default_rng(5)
    data = rows_of("classification", table_of(TABLES["plain"](rng), rng, gaps=False, levels=False), rng, True)
    part = rounds()["folds"]
    step: tuple[Step, ...] = (Standardise(),)
    assert assert_equal_or_refused(OneR(), step, data, part) is None
    data.weights[0] = 0.5
    assert assert_equal_or_refused(OneR(), (), data, part) is None
    assert Pipeline(model=OneR()).may_hold_out
