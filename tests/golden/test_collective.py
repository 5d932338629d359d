"""Collective anomalies: scores of windows by hand, and a while of zeros of which each is ordinary."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded
from mlcli.core.tables import Table
from mlcli.models.anomaly.collective import Collective
from mlcli.tasks.anomaly import ScreenedRows
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of


def test_a_row_scores_as_its_windows_do_on_average() -> None:
    X = cloud(40, 2)
    model = build(Collective, {"base": {"use": "z-score", "steps": []}, "window": 3, "of": "values"})
    windows = np.array([X[t : t + 3].ravel() for t in range(38)])
    score = np.abs((windows - windows.mean(axis=0)) / windows.std(axis=0)).max(axis=1)
    mine = [score[max(0, t - 2) : t + 1].mean() for t in range(40)]
    assert asked(fitted(model, rows_of(X)), rows_of(X)).score == pytest.approx(mine, rel=1e-9)


def test_the_summary_of_a_window() -> None:
    model = fitted(build(Collective, {"window": 4}), line(*range(12)))
    seen = model._windows(line(1, 2, 3, 6).table)
    expected = [3, np.sqrt(3.5), 1, 6, 1.6]
    assert seen.numbers[0] == pytest.approx(expected)


def test_a_count_near_zero_for_a_while_is_odd_though_each_zero_is_not() -> None:
    counts = np.random.default_rng(0).poisson(3, 400).astype(float)
    counts[200:215] = 0
    assert (counts == 0).sum() > 25
    found = asked(fitted(build(Collective, {}), line(*counts)), line(*counts)).score
    assert 200 <= found.argmax() < 215


@pytest.mark.parametrize("of", ["summary", "values"])
def test_a_reason_is_the_column_that_is_unlike_itself_and_says_which_way(of: str) -> None:
    X = np.random.default_rng(1).normal(50, 3, size=(400, 3))
    X[200:215, 1] = 0
    data = ScreenedRows(
        table=Table.of(
            [(Column(name), cells) for name, cells in zip(("load", "load2", "temp"), X.T, strict=True)], 400
        ),
        rows=np.arange(400),
        labels=np.zeros(400, np.int32),
        classes=("no", "yes"),
    )
    answers = asked(fitted(build(Collective, {"of": of}), data), data)
    assert [answers.columns[at] for at in answers.reasons[205:212, 0]] == ["load2"] * 7
    assert (answers.shares[205:212, 0] < -0.5).all()


def test_rows_with_gaps_are_warned_of() -> None:
    with pytest.warns(MlcliWarning, match="have gaps"):
        fitted(build(Collective, {"window": 2}), rows_of(cloud(30, 2)).take(np.arange(0, 30, 3)))


def test_a_file_with_a_detector_of_another_method_is_refused() -> None:
    model = fitted(build(Collective, {"window": 2, "base": "z-score"}), line(*range(12)))
    model.base = build(Collective, {}).base
    with pytest.raises(ValueError, match="base_ is no fitted isolation-forest"):
        check_loaded(model)
