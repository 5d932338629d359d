"""Parameters without effect, and defaults that are written out, change no number: seeds ignore them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import mlcli

MLP = {"use": "mlp", "params": {"epochs": 3}}
TREE = {"use": "decision-tree", "params": {"prune": "reduced-error"}}
FOREST = {"use": "random-forest", "params": {"trees": 3}}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    label = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "value": X @ [1, 2, 3], "label": label})


def predictions(table: pd.DataFrame, target: str, model: dict[str, Any], **params: Any) -> list[Any]:
    rows = table.drop(columns={"label": "value", "value": "label"}[target])
    entry = {**model, "params": {**model.get("params", {}), **params}}
    trained = mlcli.train(rows, entry, target=target)
    answers = trained.predict(rows.drop(columns=target), probabilities=target == "label")
    return answers.to_numpy().tolist()


@pytest.mark.parametrize(
    ("target", "model", "params"),
    [
        ("label", MLP, {"momentum": 0.5}),
        ("label", MLP, {"alpha": 2.0}),
        ("label", MLP, {"loss": "cross-entropy", "output": "softmax"}),
        ("value", MLP, {"loss": "squared-error", "output": "linear"}),
        ("value", MLP, {"loss": "cross-entropy"}),
        ("label", TREE, {"criterion": "gini", "confidence": 0.1}),
        ("value", TREE, {"criterion": "gini"}),
        ("label", FOREST, {"shuffle": True}),
        ("value", FOREST, {"combine": "votes"}),
        ("label", {"use": "bagging", "params": {"base": "decision-tree", "bags": 3}}, {"base.criterion": "gini"}),
        ("label", {"use": "newton-boosting", "params": {"features": 0.5}}, {"loss": "huber", "delta": 2.0}),
        ("label", {"use": "stacking", "params": {"models": ["knn", "lda"]}}, {"meta": "logistic-regression"}),
        ("value", {"use": "stacking", "params": {"models": ["knn", "ridge"]}}, {"meta": "ridge"}),
        ("label", {"use": "voting", "params": {"models": ["lda", MLP]}}, {"weights": [1, 1]}),
        ("label", {"use": "tuned", "params": {"base": "knn", "ranges": {"k": [1, 9]}}}, {"resource": "rows"}),
    ],
)
def test_what_has_no_effect_changes_no_answer(
    table: pd.DataFrame, target: str, model: dict[str, Any], params: dict[str, Any]
) -> None:
    assert predictions(table, target, model, **params) == predictions(table, target, model)


def test_what_has_an_effect_changes_answers(table: pd.DataFrame) -> None:
    sgd = {"optimiser": "sgd"}
    assert predictions(table, "label", MLP, **sgd, momentum=0.5) != predictions(table, "label", MLP, **sgd)


def test_members_of_no_committee_change_no_split(table: pd.DataFrame) -> None:
    rows = table.drop(columns="value")

    def scores(**params: Any) -> list[Any]:
        protocol = {"use": "active-learning", "repeats": 2, "budget": 30, **params}
        results = mlcli.eval(rows, "lda", target="label", protocol=protocol)
        return results.table.filter(like="accuracy").to_numpy().tolist()

    usual = str(scores())
    assert str(scores(members=9)) == usual
    assert str(scores(strategies=["random", "least-confidence", "margin", "entropy"])) == usual
