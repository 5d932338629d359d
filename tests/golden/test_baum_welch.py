"""Baum-Welch beside hmmlearn 0.3.3 (CategoricalHMM, GaussianHMM without priors), and log p(x) over every path."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mlcli.core.errors import MlcliError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.models.sequences._markov import counts_of_levels, logarithm
from mlcli.models.sequences.hmm import (
    HiddenMarkovModel,
    e_step,
    log_normals,
    normals,
    shares_after,
    shares_of_levels,
)
from mlcli.tasks.sequence_labelling import TaggedRows, lengths
from tests.golden.asking import asked, fitted
from tests.support.sequences import drawn

SEQUENCE = np.repeat(np.arange(3, dtype=np.int32), [5, 4, 7])
LEVELS = np.array([0, 1, 0, 2, 2, 1, 0, 0, 1, 2, 2, 2, 0, 1, 1, 0], np.int32)
VALUES = np.array([[-2.1, -1.9, -2.4, 1.6, 2.2, 1.8, -2.0, -1.7, 2.5, 1.9, 2.1, 1.4, -2.2, -1.8, 2.0, 2.3]]).T
TRANSITIONS = np.array([[0.7, 0.3, 0.0], [0.4, 0.6, 0.0], [0.6, 0.4, 0.0]])
"""The last row is what follows the start."""
EMISSIONS = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]).T
CATEGORICAL = [-17.148698700144347, -16.577731221831318, -15.965631808420664, -15.446286016961064]
CATEGORICAL += [-15.142617212943751, -15.002512540381648, -14.944222986011004, -14.918457510957339]
CATEGORICAL += [-14.904991727217702, -14.896788457938893]
NORMAL = [-34.077251356216514, -33.33657967164284, -32.573242274656806]


def test_ten_rounds_with_levels_are_those_of_hmmlearn() -> None:
    transitions, emissions, path = TRANSITIONS, EMISSIONS, []
    for _ in range(10):
        now = e_step(logarithm(emissions)[LEVELS], logarithm(transitions), SEQUENCE, stop=False)
        transitions = shares_after(now.counts)
        emissions = shares_of_levels(counts_of_levels(LEVELS, now.shares, 3))
        path.append(now.log_likelihood)
    assert path == pytest.approx(CATEGORICAL, rel=1e-9)
    start, follows = [0.66544049, 0.33455951], [[0.8876973, 0.1123027], [0.24834553, 0.75165447]]
    assert transitions[:, :2] == pytest.approx(np.array([*follows, start]), abs=1e-8)
    assert emissions[2, 1] == pytest.approx(0.989623377, abs=1e-8)


def test_three_rounds_with_numbers_are_those_of_hmmlearn() -> None:
    transitions, (means, variances), path = TRANSITIONS, (np.array([[-1.0], [1.0]]), np.full((2, 1), 4.0)), []
    for _ in range(3):
        emitted = log_normals(VALUES, means, variances)
        now = e_step(emitted, logarithm(transitions), SEQUENCE, stop=False)
        transitions, (means, variances) = shares_after(now.counts), normals(VALUES, now.shares)
        path.append(now.log_likelihood)
    assert path == pytest.approx(NORMAL, rel=1e-9)
    assert means[:, 0] == pytest.approx([-1.08518897, 1.79678074], abs=1e-8)
    assert variances[:, 0] == pytest.approx([2.87163974, 0.83749221], abs=1e-8)


def with_numbers(data: TaggedRows) -> TaggedRows:
    """Two columns of numbers that lean on the tag, with a gap, in the place of words."""
    rng = np.random.default_rng(7)
    cells: Array = data.y[:, None] * [2.0, -1.0] + rng.normal(size=(len(data), 2))
    cells[3, 0] = np.nan
    table = Table.of([(Column(f"x{place}", missing=True), cells[:, place]) for place in (0, 1)], len(data))
    return replace(data, table=table)


def test_numbers_have_the_mean_and_variance_of_their_tag() -> None:
    data = with_numbers(drawn(sentences=80))
    model = fitted(HiddenMarkovModel(), data)
    for tag in range(3):
        cells = data.table.numbers[data.y == tag]
        assert model.means_[tag] == pytest.approx(np.nanmean(cells, axis=0))
        assert model.variances_[tag] == pytest.approx(np.nanvar(cells, axis=0))
    assert (asked(model, data).predicted == data.y).mean() > 0.8


@pytest.mark.parametrize("order", ["bigram", "4-gram"])
@pytest.mark.parametrize("stop", [False, True])
def test_log_p_x_is_the_sum_over_every_path(order: str, stop: bool) -> None:
    train, test = drawn(seed=1), drawn(seed=2, sentences=9)
    model = fitted(HiddenMarkovModel(order=order, stop=stop), train)
    found = model.log_probability(test.table, test.sequence)
    for number, (start, size) in enumerate(zip(*lengths(test.sequence), strict=True)):
        one = test.take(np.arange(start, start + size))
        paths = product(range(3), repeat=int(size))
        joint = [model.log_joint(one.table, one.sequence, np.array(path, np.int32)) for path in paths]
        assert found[number] == pytest.approx(np.log(np.exp(joint).sum()))
        best = model.log_joint(one.table, one.sequence, asked(model, one).predicted)
        assert best == pytest.approx(max(joint))


@pytest.mark.parametrize("labelled", [0.0, 0.3])
def test_every_round_is_likelier_and_the_explanation_draws_them(labelled: float) -> None:
    model = fitted(HiddenMarkovModel(labelled=labelled, rounds=30), drawn(seed=3, sentences=150, longest=9))
    assert len(model.path_) > 2
    assert (np.diff(model.path_) > -1e-9).all()
    curve = model.explain()[-1]
    assert curve.title == "Log-likelihood by iteration of Baum-Welch"
    assert curve.series[0][1] == tuple(model.path_.tolist())


def test_hidden_tags_are_found_where_they_are_clear() -> None:
    data = with_numbers(drawn(seed=6, sentences=120, longest=12))
    model = fitted(HiddenMarkovModel(labelled=0.0), data)
    assert (asked(model, data).predicted == data.y).mean() > 0.75


def test_unlabelled_sequences_help_where_few_are_labelled() -> None:
    data, test = (with_numbers(drawn(seed=6, sentences=n, longest=12)) for n in (200, 201))
    test = test.take(np.flatnonzero(test.sequence > 100))
    model = fitted(HiddenMarkovModel(labelled=0.05), data)
    assert (asked(model, test).predicted == test.y).mean() > 0.75


def test_longer_n_grams_with_hidden_tags_are_refused() -> None:
    with pytest.raises(MlcliError, match="labelled below 1 needs order bigram"):
        build(HiddenMarkovModel, {"labelled": 0.5, "order": "trigram"})
