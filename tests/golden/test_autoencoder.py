"""The autoencoder: a linear one finds the principal components, a bent one the curve; slopes of tied weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from mlcli.engines.network.network import ACTIVATIONS, IDENTITY, OUTPUTS, TiedNetwork
from mlcli.models.anomaly.autoencoder import Autoencoder
from tests.engines.test_network import by_finite_differences
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, rows_of, scores

LONG: dict[str, Any] = {"batch": None, "epochs": 3000, "learning_rate": 0.01, "patience": None, "l2": 0.0}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("code", [1, 2, 4])
def test_without_hidden_layers_it_restores_what_principal_components_do(code: int, tied: bool) -> None:
    # Baldi & Hornik 1989: the best linear code is the space of the first principal components.
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = rng.normal(size=(200, 5)) * [2.0, 1.5, 1.1, 0.8, 0.5] @ turned
    pca = PCA(code).fit(X)
    expected = ((X - pca.inverse_transform(pca.transform(X))) ** 2).sum(axis=1)
    found = scores(Autoencoder(hidden=(), code=code, tied=tied, **LONG), X, X)
    assert found.sum() == pytest.approx(expected.sum(), rel=1e-6)
    assert found == pytest.approx(expected, abs=1e-3 * expected.max())


def test_slopes_of_tied_weights_are_those_of_finite_differences() -> None:
    output, X = OUTPUTS["linear", "squared-error"], np.random.default_rng(5).normal(size=(7, 4))
    tanh = ACTIVATIONS["tanh"](1.0)
    network = TiedNetwork((4, 5, 2, 5, 4), [tanh, IDENTITY, tanh, IDENTITY])
    network.draw(np.random.default_rng(0))
    network.backward(output.errors(network.forward(X), X) / len(X))
    expected = by_finite_differences(network, output, X, X)
    encoder = np.arange(len(expected)) < 4 * 5 + 5 * 2
    biases = np.arange(len(expected)) >= network.weight_count
    assert network.slopes[encoder | biases] == pytest.approx(expected[encoder | biases], abs=1e-8)
    assert not expected[~(encoder | biases)].any()


def test_tied_layers_have_the_same_weights() -> None:
    model = fitted(Autoencoder(hidden=(6,), code=2, tied=True, epochs=20), rows_of(cloud(60, 4)))
    for own, mirrored in zip(model.weights_, reversed(model.weights_), strict=True):
        assert np.array_equal(own, mirrored.T)
    layers, _ = model.explain()
    assert layers.note.startswith("54 adjustable parameters")  # 4·6 + 6·2 weights, 6 + 2 + 6 + 4 biases
    plain = fitted(Autoencoder(hidden=(6,), code=2, epochs=20), rows_of(cloud(60, 4)))
    assert plain.explain()[0].note.startswith("90 adjustable parameters")


def test_a_row_off_a_circle_is_odd_for_a_bent_code_but_not_for_a_straight_one() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.05, (400, 2))
    inside = rng.normal(0, 0.15, (100, 2))
    test = np.vstack([circle[300:], inside])
    odd = np.repeat([0, 1], 100)
    bent, straight = (
        roc_auc_score(
            odd, scores(Autoencoder(hidden=hidden, code=1, epochs=400, patience=None), circle[:300], test)
        )
        for hidden in ((32, 16), ())
    )
    assert bent > 0.9
    assert straight < 0.6


def test_reasons_are_the_columns_that_were_not_restored() -> None:
    X = cloud(200, 4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model, test = fitted(Autoencoder(epochs=50), rows_of(X)), X[:5].copy()
    test[2, 1] = -40.0
    answers = asked(model, rows_of(test, first=200))
    assert answers.score == pytest.approx(((test - model.restored(rows_of(test).table)) ** 2).sum(axis=1))
    assert np.argmax(answers.score) == 2
    assert answers.reasons[2, 0] == 1
    assert answers.shares[2, 0] < 0
