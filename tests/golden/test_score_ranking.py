"""Score ranking: the score of the ranking model on pairs, beside scikit-learn's linear SVM of differences."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.models.anomaly.score_ranking import ScoreRanking
from tests.golden.asking import asked
from tests.golden.screening import rows_of

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(40, 2)), RNG.normal([1.5, -1.0], 1.0, (10, 2))])
ODD = np.arange(40, 50)


def test_weights_are_those_of_a_support_vector_machine_of_differences() -> None:
    base = {"use": "ranking-svm", "params": {"loss": "squared-hinge", "C": 0.5}, "steps": []}
    model = build(ScoreRanking, {"base": base, "squares": False})
    data = rows_of(X, ODD)
    learn(model, data, RNG)
    pairs = (X[ODD][:, None] - X[:40][None]).reshape(-1, 2)
    both, sides = np.vstack([pairs, -pairs]), np.repeat([1, -1], len(pairs))
    peer = LinearSVC(C=0.25, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(both, sides)
    found = asked(model, data).score
    w = np.linalg.lstsq(X - X.mean(axis=0), found - found.mean(), rcond=None)[0]
    assert w / np.linalg.norm(w) == pytest.approx(peer.coef_[0] / np.linalg.norm(peer.coef_[0]), abs=1e-3)


def test_squares_rank_what_lies_far_out_on_any_side() -> None:
    ring = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, 12)]) * 4
    data = rows_of(np.vstack([X[:40], ring]), range(40, 52))
    model = build(ScoreRanking, {})
    learn(model, data, RNG)
    assert roc_auc_score(data.labels, asked(model, data).score) == 1
