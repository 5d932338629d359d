"""Probabilities of tags: forward-backward against the sum over every path (Rabiner 1989, equation 27)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mlcli.models.sequences._markov import tag_probabilities
from mlcli.models.sequences.hmm import HiddenMarkovModel
from mlcli.tasks.sequence_labelling import lengths
from tests.golden.asking import fitted
from tests.golden.test_hmm import SETTINGS
from tests.support.sequences import drawn, tagged


@pytest.mark.parametrize("settings", [one for one in SETTINGS if one["alpha"] != 0.0], ids=str)
def test_they_are_the_sums_over_every_path(settings: dict[str, Any]) -> None:
    train, asked_of = drawn(seed=1), drawn(seed=2, sentences=12)
    model = fitted(HiddenMarkovModel(**settings), train)
    shares = model.tag_shares(asked_of.table, asked_of.sequence)
    for start, size in zip(*lengths(asked_of.sequence), strict=True):
        rows = np.arange(start, start + size)
        one = asked_of.take(rows)
        paths = [np.array(tags, np.int32) for tags in product(range(3), repeat=int(size))]
        weights = np.exp([model.log_joint(one.table, one.sequence, path) for path in paths])
        expected = [
            [weights[[path[row] == tag for path in paths]].sum() for tag in range(3)] for row in range(size)
        ]
        assert shares[rows] == pytest.approx(np.array(expected) / weights.sum(), abs=1e-9)


@pytest.mark.parametrize("order", ["bigram", "trigram"])
def test_blocks_of_sequences_are_as_all_together_and_impossible_ones_still_add_up_to_1(order: str) -> None:
    other = drawn(seed=2, sentences=40)
    model = fitted(HiddenMarkovModel(order=order, alpha=0.0, stop=True), tagged([[("w0", "t0"), ("w1", "t1")]]))
    emitted = model.emissions_[np.minimum(other.table.codes[:, 0], 2)]
    together, apart = (
        tag_probabilities(emitted, model.transitions_, other.sequence, True, cells) for cells in (4_000_000, 1)
    )
    assert together == pytest.approx(apart, abs=1e-12)
    assert together.sum(axis=1) == pytest.approx(1.0)
