"""Random baselines are random even if there are few distinct rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mlcli
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.tasks.clustering import ClusterAnswers, ClusteredRows
from tests.support.shell import document, typed

ROWS, ODD = 2_000, 200
SPREAD = (1 / 12 * (ROWS + 1) / (ODD * (ROWS - ODD))) ** 0.5
"""The standard deviation of the AUC of scores that mean nothing (Mann & Whitney 1947)."""


@pytest.fixture(scope="module")
def few_different_rows() -> pd.DataFrame:
    odd = np.arange(ROWS) % (ROWS // ODD) == 0
    return pd.DataFrame({"a": np.where(odd, 2, np.arange(ROWS) % 2), "state": np.where(odd, "odd", "good")})


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_scores_have_an_auc_near_one_half(few_different_rows: pd.DataFrame, seed: int) -> None:
    results = mlcli.eval(
        few_different_rows, "random-scores", target="state", task="anomaly", protocol="whole", seed=seed
    )
    auc = results.table.query("model == 'random-scores'")["auc"].item()
    assert abs(auc - 0.5) < 4 * SPREAD


@pytest.mark.parametrize("seed", [1, 2])
def test_random_guesses_have_a_kappa_near_zero(few_different_rows: pd.DataFrame, seed: int) -> None:
    results = mlcli.eval(few_different_rows, "random", target="state", metrics=["accuracy"], seed=seed)
    accuracy = results.table.query("model == 'random'")["accuracy"].item()
    assert abs(accuracy - (0.9**2 + 0.1**2)) < 4 * (0.82 * 0.18 / ROWS) ** 0.5


def test_equal_rows_fall_into_several_random_clusters() -> None:
    table = Table.of([(Column("a"), np.zeros(30))], 30)
    labels = np.full(30, -1, np.int32)
    rows = ClusteredRows(table=table, rows=np.arange(30), labels=labels)
    model: Any = MODELS.load("random-clusters")(clusters=3)
    learn(model, rows, np.random.default_rng(0))
    some = np.array([7, 3])
    answers, of_some = predict_rows(model, rows), predict_rows(model, rows.take(some))
    assert isinstance(answers, ClusterAnswers)
    assert isinstance(of_some, ClusterAnswers)
    assert set(answers.cluster.tolist()) == {0, 1, 2}
    assert of_some.cluster.tolist() == answers.cluster[some].tolist()


def test_predict_and_explain_draw_by_row_too(few_different_rows: pd.DataFrame, tmp_path: Path) -> None:
    path, saved = tmp_path / "rows.csv", str(tmp_path / "model.mlcli")
    few_different_rows[:60].to_csv(path, index=False)
    words = ("train", str(path), "--target", "state", "--task", "anomaly", "-m", "random-scores", "-o", saved)
    assert typed(*words).exit_code == 0
    scores = [row["score"] for row in document(typed("predict", saved, str(path), "--json"))]
    assert len(set(scores)) == 60
    explained = document(typed("explain", saved, str(path), "--row", "7", "--json"))[0]["answer"]
    assert float(explained.removeprefix("score = ")) == pytest.approx(float(scores[6]), rel=1e-3)
