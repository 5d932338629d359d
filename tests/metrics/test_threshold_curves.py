"""Curves over thresholds equal scikit-learn's, with weights and ties; so does calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as oracle
from sklearn.calibration import calibration_curve

from mlcli.metrics.confusion import between, calibration, counts_by_threshold

SEEDS = range(8)


def drawn(seed: int, weighted: bool = True) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    positive = rng.random(120) < 0.35
    scores = np.round(np.clip(rng.normal(0.4 + 0.2 * positive, 0.2), 0, 1), 2)
    return scores, positive, rng.choice([0.5, 1.0, 3.0], 120) if weighted else np.ones(120)


@pytest.mark.parametrize("seed", SEEDS)
def test_roc(seed: int) -> None:
    scores, positive, weights = drawn(seed)
    found = counts_by_threshold(scores, positive, weights)
    fpr, tpr, thresholds = oracle.roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    assert found.fpr == pytest.approx(fpr, abs=1e-12)
    assert found.recall == pytest.approx(tpr, abs=1e-12)
    assert found.thresholds == pytest.approx(thresholds)


@pytest.mark.parametrize("seed", SEEDS)
def test_precision_and_recall(seed: int) -> None:
    scores, positive, weights = drawn(seed)
    found = counts_by_threshold(scores, positive, weights)
    precision, recall, thresholds = oracle.precision_recall_curve(positive, scores, sample_weight=weights)
    assert found.precision == pytest.approx(precision[::-1], abs=1e-12)
    assert found.recall == pytest.approx(recall[::-1], abs=1e-12)
    assert found.thresholds[1:] == pytest.approx(thresholds[::-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_goals_at_every_threshold(seed: int) -> None:
    scores, positive, weights = drawn(seed)
    found = counts_by_threshold(scores, positive, weights)
    costs = np.array([[0.0, 2.0], [7.0, -1.0]])
    for place, threshold in enumerate(between(found.thresholds)):
        said = scores >= threshold
        told = {"y_true": positive, "y_pred": said, "sample_weight": weights}
        assert found.f1[place] == pytest.approx(oracle.f1_score(**told, zero_division=0))
        assert found.accuracy[place] == pytest.approx(oracle.accuracy_score(**told))
        assert found.youden[place] == pytest.approx(2 * oracle.balanced_accuracy_score(**told) - 1)
        mean = np.average(costs[positive.astype(int), said.astype(int)], weights=weights)
        assert found.costs(costs)[place] == pytest.approx(mean)


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration(seed: int) -> None:
    scores, positive, weights = drawn(seed, weighted=False)
    found = calibration(scores, positive, weights)
    observed, predicted = calibration_curve(positive, scores, n_bins=10)
    assert found.observed == pytest.approx(observed)
    assert found.predicted == pytest.approx(predicted)


def test_weights_of_calibration_count_as_repeats() -> None:
    scores, positive, _ = drawn(1)
    times = np.random.default_rng(0).integers(0, 4, len(scores))
    weighed = calibration(scores, positive, times.astype(float))
    repeated = calibration(np.repeat(scores, times), np.repeat(positive, times), np.ones(times.sum()))
    assert weighed.observed == pytest.approx(repeated.observed)
    assert weighed.expected_error == pytest.approx(repeated.expected_error)
