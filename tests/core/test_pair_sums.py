"""Sums over pairs are those of two loops."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.moments import of_higher, of_lower, pair_balance, pair_weight


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("margin", [0.0, 1.0, np.inf, -np.inf])
def test_sums_are_those_of_two_loops(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    value, score = rng.integers(-2, rng.integers(-1, 7), n).astype(float), rng.integers(-4, 5, n) / 2
    group, summed = rng.integers(0, 4, n).astype(np.int32), rng.integers(0, 9, (n, 2)).astype(float)
    lower, higher = np.zeros((n, 2)), np.zeros((n, 2))
    for a in range(n):
        for b in range(n):
            if group[a] == group[b] and value[a] > value[b] and score[b] > score[a] - margin:
                lower[a] += summed[b]
                higher[b] += summed[a]
    assert np.array_equal(of_lower(value, group, score, margin, summed), lower)
    assert np.array_equal(of_higher(value, group, score, margin, summed), higher)


def test_weights_and_balances_are_those_of_two_loops() -> None:
    rng = np.random.default_rng(1)
    value, score, group = (
        rng.integers(0, 5, 50).astype(float),
        rng.integers(0, 6, 50) / 3,
        rng.integers(0, 3, 50).astype(np.int32),
    )
    weights = rng.integers(0, 4, 50).astype(float)
    pairs = [(a, b) for a in range(50) for b in range(50) if group[a] == group[b] and value[a] > value[b]]
    weight = sum(weights[a] * weights[b] for a, b in pairs)
    balance = sum(weights[a] * weights[b] * np.sign(score[a] - score[b]) for a, b in pairs)
    assert pair_weight(value, group, weights).sum() == weight
    assert pair_balance(value, group, score, weights).sum() == balance


def test_a_group_without_pairs_weighs_exactly_nothing() -> None:
    # Differences of running sums of such weights would leave a rounding.
    group, value = np.array([0, 0, 1, 1, 2, 2], np.int32), np.array([0.0, 1, 1, 1, 0, 0])
    weight = pair_weight(value, group, np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.4]))
    assert weight[2:].tolist() == [0.0] * 4
