"""Bias and variance in an experiment file: `protocol: {use: bootstrap, bias_variance: true}`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlcli
from tests.cli.shell import document, typed

PROTOCOL = {"use": "bootstrap", "repeats": 12, "bias_variance": True}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers_and_terms(data: str, model: str) -> tuple[Any, dict[str, Any]]:
    """The answers of a model by row, of rows with two answers or more, and its decomposition."""
    results = mlcli.run({"data": [data], "models": [model], "protocol": PROTOCOL})
    answers = results.answers(model)
    cell = next(cell for cell in json.loads(results.to("json"))["cells"] if cell["model"] == model)
    by_row = answers.groupby("row").filter(lambda rows: len(rows) > 1).groupby("row")
    return by_row, cell["bias_variance"]


@pytest.mark.parametrize("model", ["zero-r", "knn"])
def test_squared_loss_is_split_by_the_formula_of_geman(model: str) -> None:
    by_row, found = answers_and_terms("cpu", model)
    variance = by_row["predicted"].var(ddof=1)
    bias = (by_row["predicted"].mean() - by_row["truth"].first()) ** 2 - variance / by_row.size()
    assert found["terms"]["Geman"]["variance"] == pytest.approx(variance.mean())
    assert found["terms"]["Geman"]["bias²"] == pytest.approx(bias.mean())
    assert found["error"] == pytest.approx(variance.mean() + bias.mean())


def test_01_loss_is_split_by_the_definition_of_domingos() -> None:
    by_row, found = answers_and_terms("wine", "decision-tree")
    terms = []
    for _, rows in by_row:
        names, counts = np.unique(rows["predicted"], return_counts=True)
        right = names[counts.argmax()] == rows["truth"].iloc[0]
        share = (rows["predicted"] == rows["truth"]).mean()
        terms.append((1 - right, (1 - share) * right, share * (1 - right)))
    bias, unbiased, biased = np.mean(terms, axis=0)
    expected = {"bias": bias, "unbiased variance": unbiased, "biased variance": biased}
    assert found["terms"]["Domingos"] == pytest.approx(expected)


def test_a_run_shows_it_and_so_does_the_same_run_from_its_store(folder: Path) -> None:
    spec = "data: [cpu]\nmodels: [ridge]\nprotocol: {use: bootstrap, repeats: 12}\n"
    Path("plain.yaml").write_text(spec)
    Path("parts.yaml").write_text(spec.replace("12", "12, bias_variance: true"))
    assert "Bias and variance" not in typed("run", "plain.yaml").stdout
    shown = typed("run", "parts.yaml")
    assert "Bias and variance, squared loss" in shown.stdout
    assert "2 of 2 cells were in .mlcli/runs.db already" in shown.stderr
    assert "Bias and variance, squared loss" in typed("runs", "2", "--store", ".mlcli/runs.db").stdout
    assert typed("report", "2", "--store", ".mlcli/runs.db").exit_code == 0
    assert "Bias and variance, squared loss" in Path("report.html").read_text()


def test_it_gives_what_the_curve_of_the_shell_gives() -> None:
    words = ("cpu", "-m", "knn", "--json")
    (_, knn) = document(typed("curve", "bias-variance", *words, "--repeats", "12"))["models"]
    protocol = "{use: bootstrap, repeats: 12, bias_variance: true}"
    cell = document(typed("eval", *words, "--protocol", protocol))["cells"][-1]
    assert cell["bias_variance"] == {key: value for key, value in knn.items() if key != "model"}


def test_what_has_neither_classes_nor_numbers_says_so() -> None:
    protocol = "{use: bootstrap, repeats: 3, bias_variance: true}"
    shown = typed("eval", "faithful", "--task", "density", "-m", "gmm", "--protocol", protocol)
    assert shown.exit_code == 0
    assert "no bias and variance: bias and variance are those of classes or numbers" in shown.stdout
