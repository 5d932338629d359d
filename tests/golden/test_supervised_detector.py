"""Supervised detection: the classifier's own probabilities, artificial rows in their box, and recall first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as OfSklearn

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.pipeline import learn, set_threshold
from mlcli.models.anomaly.supervised_detector import SupervisedDetector, artificial_rows
from tests.golden.asking import asked
from tests.golden.screening import cloud, rows_of
from tests.golden.shipped import numeric

X = np.vstack([cloud(90, 3), cloud(30, 3, seed=4)])
ODD = range(90, 120)


def learned(data: Any, **params: Any) -> Any:
    """A detector after learning from rows with labels."""
    model = build(SupervisedDetector, params)
    learn(model, data, np.random.default_rng(1))
    return model


@pytest.mark.parametrize(("balance", "weight"), [("none", None), ("weights", "balanced")])
def test_the_score_is_the_probability_of_the_classifier(balance: str, weight: str | None) -> None:
    base = {"use": "logistic-regression", "params": {"l2": 1.0}, "steps": []}
    data = rows_of(X, ODD)
    peer = OfSklearn(C=1.0, class_weight=weight, tol=1e-10, max_iter=10_000).fit(X, data.labels)
    found = asked(learned(data, base=base, balance=balance), data).score
    assert found == pytest.approx(peer.predict_proba(X)[:, 1], abs=1e-5)


def test_artificial_anomalies_fill_the_widened_box() -> None:
    good = numeric(np.array([[0.0, 10.0], [1.0, 30.0]]))
    drawn = artificial_rows(good, 4000, 0.1, np.random.default_rng(0)).numbers
    assert drawn.min(axis=0) == pytest.approx([-0.1, 8], abs=0.05)
    assert drawn.max(axis=0) == pytest.approx([1.1, 32], abs=0.05)
    assert drawn.mean(axis=0) == pytest.approx([0.5, 20], abs=0.3)


def test_from_good_rows_alone_a_row_between_two_crowds_is_odd() -> None:
    rng = np.random.default_rng(0)
    good = np.vstack([rng.normal(0, 0.3, (80, 2)), rng.normal(5, 0.3, (80, 2))])
    rows = rows_of(np.array([[0.0, 0.0], [2.5, 2.5], [5.0, 5.0]]), first=160)
    found = asked(learned(rows_of(good)), rows).score
    assert found[1] > 0.8
    assert found[[0, 2]].max() < 0.4


def test_its_own_threshold_finds_the_share_of_anomalies_that_is_wanted() -> None:
    data = rows_of(X, ODD)
    model = learned(data, decide="own", recall=0.9)
    set_threshold(model, data, data)
    assert asked(model, data).flagged[list(ODD)].mean() >= 0.9


def test_without_anomalies_of_any_sort_there_is_nothing_to_learn() -> None:
    with pytest.raises(FitError, match="no row is known"):
        learned(replace(rows_of(X), labels=np.zeros(len(X), np.int32)), artificial=0)
    with pytest.raises(UsageError, match="takes every row alike"):
        build(SupervisedDetector, {"balance": "weights", "base": "perceptron"})
