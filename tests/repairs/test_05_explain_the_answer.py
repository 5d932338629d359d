"""``explain`` explains the answer that ``predict`` gives, also where a threshold decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.shell import document, typed

ROW = ("x=0.2", "z=0.1")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 300))
    churn = np.where(rng.random(300) < 1 / (1 + np.exp(1.5 - 1.5 * x)), "yes", "no")
    path = tmp_path_factory.mktemp("data") / "churn.csv"
    pd.DataFrame({"x": x, "z": z, "churn": churn}).to_csv(path, index=False)
    return path


def shell(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "model",
    [
        "{use: logistic-regression, decide: {threshold: 0.1, positive: yes}}",
        "{use: naive-bayes, decide: {threshold: 0.1, positive: yes}}",
        "{use: selected-model, params: {models: [{use: decision-rule, params: {threshold: 0.1, positive: yes}}]}}",
        "{use: logistic-regression, decide: {by: expected-cost, cost: {yes: {no: 30}}}}",
    ],
)
def test_the_class_that_predict_answers_is_explained(table: Path, tmp_path: Path, model: str) -> None:
    saved, row = tmp_path / "model.mlcli", tmp_path / "row.csv"
    row.write_text("x,z\n0.2,0.1\n")
    shell("train", str(table), "-m", model, "-o", str(saved))
    predicted = document(typed("predict", str(saved), str(row), "--json", "--probabilities"))[0]
    assert predicted["prediction"] == "yes"
    assert float(predicted["p(yes)"]) < 0.5
    explained = shell("explain", str(saved), *ROW)
    assert "Row 1: yes, with p(yes)" in explained
    assert "Effect of removing each feature on p(yes)" in explained
    assert "How it is decided" in explained
    assert ("the class whose expected cost is least" if "cost" in model else "at least 0.1") in explained


def test_the_base_of_a_rule_explains_its_probabilities(table: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "model.mlcli")
    rule = "{use: logistic-regression, decide: {threshold: 0.1, positive: yes}}"
    shell("train", str(table), "-m", rule, "-o", saved)
    assert "Contributions to the scores" in shell("explain", saved, *ROW)


def test_a_detector_says_whether_it_flags_the_row(table: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "model.mlcli")
    shell(
        "train",
        str(table),
        "--task",
        "anomaly",
        "-m",
        "z-score",
        "-p",
        "decide={threshold: 3}",
        "--drop",
        "churn",
        "-o",
        saved,
    )
    assert "\nflagged; flagged: rows" in shell("explain", saved, "x=9", "z=0")
    usual = shell("explain", saved, *ROW)
    assert "not flagged; flagged: rows that score at least 3" in usual


@pytest.mark.parametrize("model", ["logistic-regression", "linear-svm", "perceptron", "linear-classifier"])
@pytest.mark.parametrize(("positive", "other"), [("yes", "no"), ("no", "yes")])
def test_coefficients_point_to_the_positive_class(table: Path, model: str, positive: str, other: str) -> None:
    output = shell("train", str(table), "-m", model, "--positive", positive)
    assert f"{positive} against {other}" in output
    assert f"{other} against {positive}" not in output
