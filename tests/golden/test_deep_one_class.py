"""Deep one-class: the plane beside scikit-learn's in the same representation, slopes, the share beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.svm import OneClassSVM

from mlcli.core.tables import Array
from mlcli.engines.network.network import Network
from mlcli.models.anomaly.deep_one_class import DeepOneClass
from tests.golden.asking import fitted
from tests.golden.screening import cloud, rows_of, scores

X = cloud(200, 4)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def features_of(model: Any, rows: Array) -> Array:
    """√(2/K) cos of what the network answers."""
    z = Network.of(model.weights_, model.biases_, model._activations).answers(rows)
    return np.asarray(np.sqrt(2 / z.shape[1]) * np.cos(z))


@pytest.mark.parametrize("hidden", [(), (16,)])
@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_in_what_it_has_learned_the_plane_is_that_of_a_one_class_svm(hidden: tuple[int, ...], nu: float) -> None:
    # Schölkopf et al. 2001: ½‖w‖² + 1/(νn) Σ max(0, r − w·Φ) − r; scikit-learn (LIBSVM) scales w and r by νn.
    model = fitted(DeepOneClass(hidden=hidden, nu=nu, features=60, epochs=300, batch=None), rows_of(X))
    features = features_of(model, X)
    exact = OneClassSVM(kernel="linear", nu=nu, tol=1e-8).fit(features)
    w, r = exact.coef_[0] / (nu * len(X)), -exact.intercept_[0] / (nu * len(X))

    def cost(w: Array, r: float) -> float:
        return float(0.5 * w @ w + np.maximum(r - features @ w, 0).mean() / nu - r)

    assert cost(model.normal_, model.margin_) == pytest.approx(cost(w, r), rel=0.02)
    assert spearmanr(features @ model.normal_, features @ w).statistic > 0.98


def test_slopes_are_those_of_finite_differences() -> None:
    model = DeepOneClass(hidden=(5,), features=7, nu=0.3)
    network = model.draw_network(X[:20], np.random.default_rng(0))
    w, r, h = np.random.default_rng(1).normal(size=7), 0.4, 1e-6

    def cost() -> float:
        f = np.sqrt(2 / 7) * np.cos(network.forward(X[:20])) @ w
        return float(0.5 * w @ w + np.maximum(r - f, 0).mean() / 0.3 - r)

    of_w = model._backward(network, w, r, X[:20])
    found = np.concatenate([network.slopes, of_w])
    for place, value in enumerate(found):
        vector, at = (network.parameters, place) if place < len(network.parameters) else (w, place - len(found))
        before = vector[at]
        vector[at] = before + h
        above = cost()
        vector[at] = before - h
        assert value == pytest.approx((above - cost()) / (2 * h), abs=1e-7)
        vector[at] = before


@pytest.mark.parametrize("nu", [0.05, 0.2])
def test_about_a_share_nu_of_the_training_rows_scores_above_0(nu: float) -> None:
    found = scores(DeepOneClass(nu=nu, epochs=5), X, X)
    assert (found > 0).mean() == pytest.approx(nu, abs=0.01)


def test_learning_lowers_what_the_plane_costs() -> None:
    model = fitted(DeepOneClass(), rows_of(X))
    assert model.objective_[-1] < model.objective_[0] - 0.05
    assert np.isfinite(model.objective_).all()
