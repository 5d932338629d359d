"""Samples with replacement, and all rows to be asked about."""

from __future__ import annotations

import numpy as np

from mlcli.core.containers import Strata
from mlcli.experiment.protocols.bootstrap_whole import BootstrapWhole


def test_each_sample_draws_as_many_rows_as_there_are_and_asks_about_all() -> None:
    splits = BootstrapWhole(samples=5).splits(Strata(100), np.random.default_rng(1))
    assert [len(split.train) for split in splits] == [100] * 5
    assert all(np.array_equal(split.test, np.arange(100)) for split in splits)
    assert len({split.train.tobytes() for split in splits}) == 5


def test_about_63_percent_of_the_rows_are_in_a_sample() -> None:
    """1 − (1 − 1/n)^n tends to 1 − 1/e."""
    splits = BootstrapWhole(samples=50).splits(Strata(1_000), np.random.default_rng(1))
    assert abs(np.mean([len(np.unique(split.train)) for split in splits]) / 1_000 - (1 - np.exp(-1))) < 0.005


def test_rows_of_a_group_are_drawn_together() -> None:
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 4, 3, 2, 1]).astype(np.int32)
    for split in BootstrapWhole().splits(Strata(30, None, groups), np.random.default_rng(2)):
        times = np.bincount(split.train, minlength=30)
        assert all(len(set(times[groups == group])) == 1 for group in range(10))
