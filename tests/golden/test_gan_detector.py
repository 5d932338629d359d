"""The GAN detector: slopes of both networks beside finite differences, what is forged, and which rows are odd."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mlcli.core.tables import Array
from mlcli.engines.network.network import IDENTITY, SIGMOID, TANH, Network
from mlcli.models.anomaly.gan_detector import REAL, GanDetector, forger_slopes, judge_slopes
from tests.golden.asking import asked, fitted
from tests.golden.screening import rows_of, scores


def both() -> tuple[Network, Network]:
    """A generator of three columns from two numbers, and a discriminator."""
    forger, judge = Network((2, 4, 3), [TANH, IDENTITY]), Network((3, 5, 1), [TANH, SIGMOID])
    for network in (forger, judge):
        network.draw(np.random.default_rng(0))
    return forger, judge


def finite_differences(network: Network, loss: Callable[[], float]) -> Array:
    """(E(θ + h) − E(θ − h)) / 2h for every parameter."""
    found, h = np.empty_like(network.parameters), 1e-6
    for place, before in enumerate(network.parameters.copy()):
        network.parameters[place] = before + h
        above = loss()
        network.parameters[place] = before - h
        found[place] = (above - loss()) / (2 * h)
        network.parameters[place] = before
    return found


def test_slopes_of_both_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    real, noise = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    forger, judge = both()
    forged = forger.answers(noise)

    def of_judge() -> float:
        d, f = judge.answers(real), judge.answers(forged)
        return float(-(REAL * np.log(d) + (1 - REAL) * np.log(1 - d)).mean() - np.log(1 - f).mean())

    def of_forger() -> float:
        return float(-np.log(judge.answers(forger.answers(noise))).mean())

    assert judge_slopes(judge, real, forged) == pytest.approx(of_judge(), rel=1e-12)
    assert judge.slopes == pytest.approx(finite_differences(judge, of_judge), abs=1e-8)
    assert forger_slopes(forger, judge, noise) == pytest.approx(of_forger(), rel=1e-12)
    assert forger.slopes == pytest.approx(finite_differences(forger, of_forger), abs=1e-8)


def test_forged_rows_come_to_lie_where_real_ones_do() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal([3.0, -1.0], [0.5, 1.0], (300, 2))
    model = fitted(GanDetector(epochs=300), rows_of(X))
    network = Network.of(model.weights_, model.biases_, [TANH, IDENTITY])
    made = network.answers(rng.normal(size=(2000, 1)))
    assert made.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=0.5)


def test_a_search_comes_nearer_than_any_first_try() -> None:
    X = np.random.default_rng(0).normal(size=(120, 4))
    first, found = (fitted(GanDetector(epochs=20, tries=50, search=steps), rows_of(X)) for steps in (0, 60))
    apart = [asked(model, rows_of(X)).score for model in (first, found)]
    assert (apart[1] <= apart[0]).all()
    assert apart[1].mean() < 0.9 * apart[0].mean()


def test_rows_off_the_line_of_all_others_are_odd() -> None:
    rng = np.random.default_rng(0)
    along = rng.normal(size=(400, 1))
    X = along * [1.0, 1.0, -1.0] + rng.normal(0, 0.1, (400, 3))
    odd = rng.normal(size=(100, 3))
    found = scores(GanDetector(), X[:300], np.vstack([X[300:], odd]))
    assert roc_auc_score(np.repeat([0, 1], 100), found) > 0.9
