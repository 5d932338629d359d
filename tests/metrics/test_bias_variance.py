"""Bias and variance: the terms add up to the error; rounds of a sweep that score the same rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlxtend.evaluate import bias_variance_decomp

import mlcli
from mlcli.core.answers import Answers, Coordinate, Header
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.metrics.base import Undefined, rounds_of
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.models.linear.ridge import Ridge
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.golden.asking import fitted
from tests.metrics.making import value_answers
from tests.support.rows import valued
from tests.support.shell import document, typed

RNG = np.random.default_rng(4)


def labels(said: Any, truth: Any, classes: str) -> LabelAnswers:
    header = Header(rows=np.arange(len(truth)))
    return LabelAnswers(header=header, truth=truth, predicted=said, classes=tuple(classes))


def decomposed(splits: Any) -> Decomposition:
    found = bias_variance(splits)
    assert isinstance(found, Decomposition)
    return found


def test_squared_loss_of_ridge_whose_bias_and_variance_are_known() -> None:
    """With X fixed and σ² the noise: E ŷ = H f, Var ŷ = σ² H Hᵀ at the training points' own rows."""
    n, sigma, l2, sets = 30, 0.5, 5.0, 3000
    X = RNG.normal(size=(n, 2))
    X -= X.mean(axis=0)
    f = X @ [1.0, -2.0]
    hat = X @ np.linalg.solve(X.T @ X + l2 * np.eye(2), X.T) + 1 / n
    table = Table((Column("a"), Column("b")), X, np.empty((n, 0), np.int32))
    splits = []
    for _ in range(sets):
        y = f + sigma * RNG.normal(size=n)
        values = fitted(build(Ridge, {"l2": l2}), valued(table, y.tolist())).predict_values(table)
        splits.append(ValueAnswers(header=Header(rows=np.arange(n)), truth=f, predicted=values))
    terms = decomposed(splits).terms["Geman"]
    assert terms["bias²"] == pytest.approx(np.mean((hat @ f - f) ** 2), rel=0.05)
    assert terms["variance"] == pytest.approx(sigma**2 * np.mean((hat**2).sum(axis=1)), rel=0.05)


def test_zero_one_loss_of_answers_whose_shares_are_known() -> None:
    """Row 0 is answered right with 0.8, row 1 with 0.3 (two classes)."""
    truth, right = np.array([0, 1], np.int32), np.array([0.8, 0.3])
    hits = RNG.random((20_000, 2)) < right
    splits = [labels(np.where(hit, truth, 1 - truth).astype(np.int32), truth, "ab") for hit in hits]
    found = decomposed(splits)
    assert found.error == pytest.approx(0.45, abs=0.01)
    assert found.terms["Domingos"] == pytest.approx(
        {"bias": 0.5, "unbiased variance": 0.1, "biased variance": 0.15}, abs=0.01
    )
    bias = np.mean([0.2**2, 0.7**2])
    variance = np.mean([0.8 * 0.2, 0.3 * 0.7])
    assert found.terms["Kohavi & Wolpert"] == pytest.approx({"bias²": bias, "variance": variance}, abs=0.01)


class Prepared:
    """Answers that are there already, as an estimator of mlxtend."""

    def __init__(self, said: Any) -> None:
        self.said = iter(said)

    def fit(self, X: Any, y: Any) -> Prepared:
        return self

    def predict(self, X: Any) -> Any:
        return next(self.said)


def test_zero_one_loss_is_that_of_mlxtend_and_adds_up() -> None:
    truth = RNG.integers(0, 3, 40).astype(np.int32)
    said = np.where(RNG.random((25, 40)) < 0.6, truth, RNG.integers(0, 3, (25, 40))).astype(np.int32)
    found = decomposed([labels(one, truth, "abc") for one in said])
    X = np.zeros((40, 1))
    error, bias, variance = bias_variance_decomp(
        Prepared(said), X, truth, X, truth, loss="0-1_loss", num_rounds=25
    )
    terms = found.terms["Domingos"]
    assert (found.error, terms["bias"]) == pytest.approx((error, bias))
    mode = np.apply_along_axis(lambda votes: np.bincount(votes).argmax(), 0, said)
    assert terms["unbiased variance"] == pytest.approx(np.mean((said != mode) & (mode == truth)))
    assert (said != mode).mean() == pytest.approx(variance)
    assert error == pytest.approx(terms["bias"] + terms["unbiased variance"] - terms["biased variance"])
    assert error == pytest.approx(sum(found.terms["Kohavi & Wolpert"].values()))


def test_squared_loss_is_that_of_mlxtend() -> None:
    truth, said = RNG.normal(size=30), RNG.normal(size=(12, 30))
    header = Header(rows=np.arange(30))
    found = decomposed([ValueAnswers(header=header, truth=truth, predicted=one) for one in said])
    X = np.zeros((30, 1))
    error, bias, variance = bias_variance_decomp(Prepared(said), X, truth, X, truth, loss="mse", num_rounds=12)
    assert found.error == pytest.approx(error)
    terms, of_mean = found.terms["Geman"], said.var(axis=0, ddof=1).mean() / 12
    assert bias == pytest.approx(terms["bias²"] + of_mean)
    assert variance == pytest.approx(terms["variance"] - of_mean)


@pytest.mark.parametrize("models", [2, 5, 40])
def test_bias_does_not_depend_on_how_many_models_there_are(models: int) -> None:
    """Answers are right but for noise of variance 4; classes are right with a chance of 0.8: ½ (0.2² + 0.2²)."""
    rows = 20_000
    truth, said = RNG.normal(size=rows), RNG.normal(size=(models, rows)) * 2
    header = Header(rows=np.arange(rows))
    values = [ValueAnswers(header=header, truth=truth, predicted=truth + noise) for noise in said]
    assert decomposed(values).terms["Geman"] == pytest.approx({"bias²": 0.0, "variance": 4.0}, abs=0.1)
    of_classes = np.zeros(rows, np.int32)
    classes = [labels((RNG.random(rows) < 0.2).astype(np.int32), of_classes, "ab") for _ in said]
    terms = decomposed(classes).terms["Kohavi & Wolpert"]
    assert terms == pytest.approx({"bias²": 0.04, "variance": 0.16}, abs=0.01)


def test_weights_count_as_repeats_and_single_answers_are_left_out() -> None:
    truth = np.array([0, 1, 1], np.int32)
    first, second = (labels(np.array(said, np.int32), truth, "ab") for said in ([0, 0, 1], [1, 0, 1]))
    weight = np.array([1.0, 3.0, 0.0])
    found = decomposed([one.with_header(weight=weight) for one in (first, second)])
    assert found.error == pytest.approx((0.5 + 3 * 1.0) / 4)
    alone = bias_variance([first])
    assert isinstance(alone, Undefined)
    assert "repeats" in alone.hint
    assert decomposed([first, second.take(np.array([0, 1]))]).rows == 2
    assert replace(found, rows=3) == found


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
    assert "Bias and variance, squared loss" in typed("runs", "show", "2", "--store", ".mlcli/runs.db").stdout
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


def judging(*firsts: int) -> list[Answers]:
    """Two rows each, the first of which is given."""
    return [value_answers([1, 2], [1, 2], first_row=first) for first in firsts]


def at(*values: float) -> Sequence[Coordinate]:
    return [Coordinate("share", value) for value in values]


def test_splits_of_the_same_rows_are_one_round() -> None:
    assert rounds_of(at(0.1, 0.1, 1, 1), judging(0, 5, 0, 5)) == [0, 1, 0, 1]


def test_a_lost_split_moves_no_other() -> None:
    assert rounds_of(at(0.1, 1, 1), judging(5, 0, 5)) == [0, 1, 0]


def test_rows_that_are_dealt_twice_are_two_rounds() -> None:
    assert rounds_of(at(0.1, 0.1, 1, 1), judging(0, 0, 0, 0)) == [0, 1, 0, 1]


def test_without_coordinates_there_are_no_rounds() -> None:
    assert rounds_of([None, None], judging(0, 0)) is None
