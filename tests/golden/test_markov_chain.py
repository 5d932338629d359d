"""Markov chain: counts by hand, the eigenvector of its transitions, and scikit-learn's log-loss."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import log_loss

from mlcli.core.errors import FitError
from mlcli.models.sequences.markov_chain import MarkovChain
from tests.golden.asking import asked, fitted
from tests.support.sequences import drawn, tagged

WEATHER = tagged([[("x", tag) for tag in "SSRSSRR"], [("x", tag) for tag in "RRS"]])
"""After S: S twice, R twice. After R: S twice, R twice. First: S once, R once."""


def test_next_symbols_are_counted_by_hand() -> None:
    model = fitted(MarkovChain(alpha=0.5), WEATHER)
    follows, stationary = model.explain()
    assert follows.header == ("after", "R", "S")
    rows = {row[0]: row[1:] for row in follows.rows}
    assert rows["S"] == pytest.approx((2.5 / 5, 2.5 / 5))
    assert rows["(start)"] == pytest.approx((0.5, 0.5))
    assert stationary.values == pytest.approx((0.5, 0.5))
    assert "perplexity of the training rows: 2," in stationary.note


def test_judged_by_the_next_symbol_after_the_true_ones() -> None:
    train, test = drawn(seed=1, sentences=80), drawn(seed=2, sentences=20)
    model = fitted(MarkovChain(order=2), train)
    answers = asked(model, test)
    shares = np.exp(model.transitions_)
    for row in range(len(test)):
        earlier = [
            int(test.y[row - lag]) if row >= lag and test.sequence[row - lag] == test.sequence[row] else 3
            for lag in (2, 1)
        ]
        assert answers.probabilities[row] == pytest.approx(shares[earlier[0], earlier[1], :3])
    assert np.array_equal(answers.predicted, answers.probabilities.argmax(axis=1))
    expected = log_loss(test.y, answers.probabilities, labels=[0, 1, 2])
    found = -model.steps(test.y, test.sequence).sum() / len(test)
    assert found == pytest.approx(expected)
    assert model.perplexity_ == pytest.approx(
        math.exp(log_loss(train.y, asked(model, train).probabilities, labels=[0, 1, 2]))
    )


@pytest.mark.parametrize("order", [1, 2])
def test_the_stationary_distribution_is_the_eigenvector(order: int) -> None:
    model = fitted(MarkovChain(order=order), drawn(seed=3, sentences=50, longest=9))
    shares = np.exp(model.transitions_)
    states = list(product(range(3), repeat=order))
    matrix = np.zeros((len(states), len(states)))
    for here, state in enumerate(states):
        for tag in range(3):
            matrix[here, states.index((*state[1:], tag))] = shares[(*state, tag)]
    values, vectors = np.linalg.eig(matrix.T)
    vector = np.real(vectors[:, np.argmax(np.real(values))])
    expected = np.bincount([state[-1] for state in states], vector / vector.sum())
    assert model.stationary() == pytest.approx(expected, abs=1e-9)


def test_without_truth_the_most_probable_sequence_is_answered() -> None:
    model = fitted(MarkovChain(), drawn(seed=1))
    other = drawn(seed=2, sentences=1)
    paths = [np.array(path, np.int32) for path in product(range(3), repeat=len(other))]
    likely = [model.steps(path, other.sequence).sum() for path in paths]
    found = model.tag(other.table, other.sequence)
    assert model.steps(found, other.sequence).sum() == pytest.approx(max(likely))
    assert np.exp(likely).sum() == pytest.approx(1.0)


def test_too_many_histories_are_refused() -> None:
    with pytest.raises(FitError, match="30 symbols have"):
        fitted(MarkovChain(order=5), tagged([[("x", f"t{number}") for number in range(30)]]))


def test_drawn_sequences_follow_the_chain_and_symbols_have_a_probability() -> None:
    train = drawn(seed=1, sentences=80)
    model = fitted(MarkovChain(), train)
    table = model.sample_rows(4000, np.random.default_rng(0))
    y, sequence = table.cells("tag").astype(np.int32), table.cells("sequence")
    inner = np.flatnonzero(sequence[1:] == sequence[:-1])
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (y[inner], y[inner + 1]), 1)
    assert pairs / pairs.sum(axis=1, keepdims=True) == pytest.approx(np.exp(model.transitions_)[:3, :3], abs=0.04)
    assert set(np.bincount(sequence.astype(int)).tolist()) <= set(model.lengths_.tolist())
    evidence = model.log_evidence_of(train.table, train.sequence, train.y)
    _, first = np.unique(train.sequence, return_index=True)
    assert np.exp(-evidence[first].sum() / len(train)) == pytest.approx(model.perplexity_)
