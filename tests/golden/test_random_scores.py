"""Random scores: uniform, of rows and a seed, and of nothing else."""

from __future__ import annotations

import numpy as np
from scipy.stats import kstest

from mlcli.models.anomaly.random_scores import RandomScores
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, rows_of

DATA = rows_of(cloud(4_000, 3))


def test_scores_are_uniform() -> None:
    # The one-sample Kolmogorov-Smirnov test of SciPy does not tell them from uniform numbers.
    assert kstest(asked(fitted(RandomScores(), DATA), DATA).score, "uniform").pvalue > 0.01


def test_a_seed_gives_each_row_its_score() -> None:
    model = fitted(RandomScores(), DATA)
    some = np.array([7, 3, 3_000])
    assert np.array_equal(asked(model, DATA).score[some], asked(model, DATA.take(some)).score)
    assert not np.array_equal(asked(model, DATA).score, asked(fitted(RandomScores(), DATA, seed=2), DATA).score)


def test_no_column_is_a_reason() -> None:
    assert (asked(fitted(RandomScores(), DATA), DATA).reasons == -1).all()
