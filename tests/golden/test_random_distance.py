"""Random distance: slopes beside finite differences, scores by the formula, what it learns from suspects."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mlcli.core.tables import Array
from mlcli.engines.network.network import RELU, Network
from mlcli.models.anomaly.knn_distance import NeighbourDistance
from mlcli.models.anomaly.random_distance import RandomDistance, suspected_rows
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, rows_of, scores_of_its_own


def mean_hinge(network: Network, suspects: Array, others: Array, samples: Array, margin: float) -> float:
    """Pair by pair, S0 (135) with the signs of decision 22, and (136)."""
    total = 0.0
    for suspect, other, sample in zip(suspects, others, samples, strict=True):

        def f(x: Array, sample: Array = sample) -> float:
            phi = network.forward(np.vstack([x, sample])).copy()
            return float(min(np.linalg.norm(phi[0] - one) for one in phi[1:]))

        total += max(0.0, margin + f(other) - f(suspect))
    return total / len(suspects)


def test_slopes_are_those_of_the_mean_hinge_over_pairs() -> None:
    rng = np.random.default_rng(0)
    suspects, others, samples = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 4, 3))
    network, h = Network((3, 5), [RELU]), 1e-6
    network.draw(rng)
    hinge = RandomDistance().slopes(network, suspects, others, samples, 0.4)
    assert hinge == pytest.approx(mean_hinge(network, suspects, others, samples, 0.4), rel=1e-12)
    found = network.slopes.copy()
    for place, value in enumerate(found):
        before = network.parameters[place]
        network.parameters[place] = before + h
        above = mean_hinge(network, suspects, others, samples, 0.4)
        network.parameters[place] = before - h
        below = mean_hinge(network, suspects, others, samples, 0.4)
        network.parameters[place] = before
        assert value == pytest.approx((above - below) / (2 * h), abs=1e-7)


def test_a_score_is_the_mean_distance_to_the_nearest_of_each_sample() -> None:
    X = cloud(80, 3)
    model = fitted(RandomDistance(subsets=6, sample=4, steps=20), rows_of(X))
    network = Network.of(model.weights_, model.biases_, [RELU])
    apart = np.linalg.norm(network.answers(X[:7])[:, None] - network.answers(model.drawn_)[None], axis=2)
    expected = apart.reshape(7, 6, 4).min(axis=2).mean(axis=1)
    assert asked(model, rows_of(X[:7])).score == pytest.approx(expected, rel=1e-9)


def test_suspects_score_far_above_the_mean_or_highest() -> None:
    assert np.flatnonzero(suspected_rows(np.array([1.0] * 20 + [9.0, 8.0]))).tolist() == [20, 21]
    assert np.flatnonzero(suspected_rows(np.array([0.0, 1.0]))).tolist() == [1]


def test_among_many_columns_of_noise_it_ranks_better_than_the_detector_that_it_learns_from() -> None:
    # Pang et al. 2018: what most suspects have in common is learned, and columns that say nothing lose their part.
    truth, gains = np.arange(400) < 20, []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(400, 80))
        X[truth, :4] += 4.0
        found = (scores_of_its_own(model, X) for model in (NeighbourDistance(), RandomDistance()))
        plain, learned = (roc_auc_score(truth, scores) for scores in found)
        gains.append(learned - plain)
    assert np.mean(gains) > 0.005
