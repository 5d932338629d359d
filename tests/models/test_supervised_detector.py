"""A supervised detector of rare anomalies flags some rows, not all, and reports its threshold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.models.anomaly.supervised_detector import SupervisedDetector
from tests.support.shell import document, typed

ROWS, ODD = 400, 10


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anomalies that a forest out of fold hardly tells from good rows."""
    rng = np.random.default_rng(0)
    X, odd = rng.normal(size=(ROWS, 5)), np.arange(ROWS) < ODD
    X[odd, 0] += 1.0
    path = tmp_path_factory.mktemp("data") / "rare.csv"
    frame = pd.DataFrame(X, columns=list("abcde")).assign(fault=np.where(odd, "yes", "no"))
    frame.to_csv(path, index=False)
    return path


def test_not_every_row_is_flagged(rare: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "model.mlcli")
    words = (
        "train",
        str(rare),
        "--task",
        "anomaly",
        "--target",
        "fault",
        "-m",
        "supervised-detector",
        "-o",
        saved,
    )
    output = " ".join(typed(*words).output.split())
    assert "would flag most good rows" in output
    assert "it finds fewer than 90 % of the anomalies" in output
    assert "-0;" not in output
    predicted = document(typed("predict", saved, str(rare), "--json"))
    assert sum(row["flagged"] == "yes" for row in predicted) < ROWS / 2


def test_the_threshold_by_hand() -> None:
    # At 0 recall is 1 and all good rows are flagged (difference 0); at 0.3 2/3 less 1/4; at 0.9 1/3 less 0.
    scores, y = np.array([0.0, 0.0, 0.1, 0.5, 0.0, 0.3, 0.9]), np.array([0, 0, 0, 0, 1, 1, 1], np.int32)
    detector = SupervisedDetector(recall=0.9)
    with pytest.warns(MlcliWarning, match="would flag most good rows"):
        detector.learn_limit(scores, y)
    assert detector.limit_ == 0.3
    assert detector.recall_ == pytest.approx(2 / 3)


def test_a_threshold_that_flags_few_good_rows_keeps_the_recall() -> None:
    detector = SupervisedDetector(recall=0.5)
    detector.learn_limit(np.array([0.0, 0.1, 0.2, 0.6, 0.5, 0.7]), np.array([0, 0, 0, 0, 1, 1], np.int32))
    assert (detector.limit_, detector.recall_) == (0.7, 0.5)


def test_scores_without_any_difference_flag_no_row() -> None:
    detector = SupervisedDetector()
    with pytest.warns(MlcliWarning):
        detector.learn_limit(np.zeros(6), np.array([0, 0, 0, 0, 1, 1], np.int32))
    assert detector.limit_ > 0


def test_a_threshold_of_validation_rows_that_flags_them_all_is_warned_of(tmp_path: Path) -> None:
    """All rows are alike, so that each has the same score, and to flag all of them has the highest F1."""
    path = tmp_path / "alike.csv"
    pd.DataFrame({"a": ["x"] * 80, "b": [1, 2] * 40, "fault": ["yes"] * 8 + ["no"] * 72}).to_csv(path, index=False)
    words = ("eval", str(path), "--task", "anomaly", "--target", "fault", "-m", "supervised-detector")
    output = " ".join(typed(*words, "-p", "base=zero-r", "-j", "1").output.split())
    assert "flags every validation row" in output


def test_a_threshold_that_no_higher_one_beats_is_described_alike_by_train_and_predict() -> None:
    """Few distinct rows: 9 of 10 anomalies score 0.3, and so do 6 of 10 good rows."""
    scores = np.repeat([0.3, 0.1, 0.3, 0.1], [6, 4, 9, 1])
    detector = SupervisedDetector(recall=0.9)
    with pytest.warns(MlcliWarning, match="finds 90 % of the anomalies and flags most good rows"):
        detector.learn_limit(scores, np.repeat([0, 1], 10).astype(np.int32))
    assert (detector.limit_, detector.recall_) == (0.3, 0.9)
    assert detector.own_limit()[1] == "it finds 90 % of the anomalies that were learned from"
