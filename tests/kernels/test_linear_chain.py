"""Compiled sums over sequences beside their plain twins: every path written out."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from mlcli.kernels import linear_chain

ROWS, TAGS, FEATURES = 9, 3, 5
STARTS = np.array([0, 1, 5, 9])


def loop(name: str, compiled: bool) -> Any:
    function = getattr(linear_chain, name)
    return function if compiled else getattr(function, "py_func", function)


def sparse() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Some features of rows, line by line and as a matrix."""
    rng = np.random.default_rng(2)
    dense = rng.normal(size=(ROWS, FEATURES)) * (rng.random((ROWS, FEATURES)) < 0.5)
    rows, features = np.nonzero(dense)
    return np.searchsorted(rows, np.arange(ROWS + 1)), features, dense[rows, features], dense


@pytest.mark.parametrize("compiled", [True, False])
def test_features_add_up_as_a_product_of_matrices(compiled: bool) -> None:
    begins, features, values, dense = sparse()
    rng = np.random.default_rng(3)
    weights, scores = rng.normal(size=(FEATURES, TAGS)), np.ones((ROWS, TAGS))
    loop("score_rows", compiled)(begins, features, values, weights, scores)
    assert scores == pytest.approx(dense @ weights)
    sums = np.ones((FEATURES, TAGS))
    loop("add_by_feature", compiled)(begins, features, values, scores, sums)
    assert sums == pytest.approx(1 + dense.T @ scores)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_chains_are_the_sums_over_every_path(scale: float) -> None:
    rng = np.random.default_rng(4)
    scores, follows = scale * rng.normal(size=(ROWS, TAGS)), rng.normal(size=(TAGS, TAGS))
    expected, pairs_expected, total = np.zeros((ROWS, TAGS)), np.zeros((TAGS, TAGS)), 0.0
    for first, end in pairwise(STARTS):
        paths = list(product(range(TAGS), repeat=int(end - first)))
        costs = np.array(
            [scores[np.arange(first, end), path].sum() + sum(follows[p] for p in pairwise(path)) for path in paths]
        )
        total += costs.max() + np.log(np.exp(costs - costs.max()).sum())
        shares = np.exp(costs - costs.max()) / np.exp(costs - costs.max()).sum()
        for path, share in zip(paths, shares, strict=True):
            expected[np.arange(first, end), path] += share
            for pair in pairwise(path):
                pairs_expected[pair] += share
    found, pairs = np.empty((ROWS, TAGS)), np.zeros((TAGS, TAGS))
    assert linear_chain.expect_chains(scores, follows, STARTS, found, pairs) == pytest.approx(total)
    assert found == pytest.approx(expected, abs=1e-12)
    assert pairs == pytest.approx(pairs_expected, abs=1e-12)


def test_where_no_path_is_possible_there_is_no_sum() -> None:
    scores = np.array([[0.0, -1e6], [-1e6, 0.0]])
    follows = np.array([[0.0, -1e6], [-1e6, 0.0]])
    found = linear_chain.expect_chains(scores, follows, np.array([0, 2]), np.empty((2, 2)), np.zeros((2, 2)))
    assert found == -np.inf


@pytest.mark.parametrize("compiled", [True, False])
def test_steps_are_softmax_after_the_true_tag(compiled: bool) -> None:
    rng = np.random.default_rng(5)
    scores, follows = rng.normal(size=(ROWS, TAGS)), rng.normal(size=(TAGS, TAGS))
    tags = rng.integers(0, TAGS, ROWS).astype(np.int32)
    expected, total, pairs_expected = np.empty((ROWS, TAGS)), 0.0, np.zeros((TAGS, TAGS))
    for row in range(ROWS):
        before = None if row in STARTS else tags[row - 1]
        powers = np.exp(scores[row] + (0.0 if before is None else follows[before]))
        expected[row], total = powers / powers.sum(), total + np.log(powers.sum())
        if before is not None:
            pairs_expected[before] += expected[row]
    found, pairs = np.empty((ROWS, TAGS)), np.zeros((TAGS, TAGS))
    assert loop("expect_steps", compiled)(scores, follows, STARTS, tags, found, pairs) == pytest.approx(total)
    assert found == pytest.approx(expected)
    assert pairs == pytest.approx(pairs_expected)
