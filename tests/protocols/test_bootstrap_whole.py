"""Samples with replacement, and all rows to be asked about, or those of the sample."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.rows import SplitInfo
from mlcli.protocols.bootstrap_whole import BootstrapWhole
from tests.support.shell import document, typed


def test_each_sample_draws_as_many_rows_as_there_are_and_asks_about_all() -> None:
    splits = BootstrapWhole(samples=5).splits(SplitInfo(100), np.random.default_rng(1))
    assert [len(split.train) for split in splits] == [100] * 5
    assert all(np.array_equal(split.test, np.arange(100)) for split in splits)
    assert len({split.train.tobytes() for split in splits}) == 5


def test_about_63_percent_of_the_rows_are_in_a_sample() -> None:
    """1 − (1 − 1/n)^n tends to 1 − 1/e."""
    splits = BootstrapWhole(samples=50).splits(SplitInfo(1_000), np.random.default_rng(1))
    assert abs(np.mean([len(np.unique(split.train)) for split in splits]) / 1_000 - (1 - np.exp(-1))) < 0.005


def test_rows_of_a_group_are_drawn_together() -> None:
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 4, 3, 2, 1]).astype(np.int32)
    for split in BootstrapWhole().splits(SplitInfo(30, None, groups), np.random.default_rng(2)):
        times = np.bincount(split.train, minlength=30)
        assert all(len(set(times[groups == group])) == 1 for group in range(10))


def test_a_sample_may_be_asked_about_its_own_rows_only() -> None:
    protocol = BootstrapWhole(samples=50, asked="drawn")
    splits = protocol.splits(SplitInfo(1_000), np.random.default_rng(1))
    assert protocol.asks_only_learned_rows()
    assert not BootstrapWhole().asks_only_learned_rows()
    assert all(np.array_equal(split.test, np.unique(split.train)) for split in splits)
    # Of two samples both hold (1 − 1/e)² of the rows.
    shared = [len(np.intersect1d(one.test, two.test)) for one, two in zip(splits[::2], splits[1::2], strict=True)]
    assert abs(np.mean(shared) / 1_000 - (1 - np.exp(-1)) ** 2) < 0.01


def test_clusters_that_new_rows_cannot_join_are_judged_by_the_rows_of_their_samples() -> None:
    words = ("eval", "ruspini", "-m", "agglomerative", "-p", "clusters=4", "--metric", "stability", "--json")
    refused = typed(*words, "--protocol", "bootstrap-whole")
    assert refused.exit_code == 2
    assert "{use: bootstrap-whole, asked: drawn}" in refused.stderr
    judged = document(typed(*words, "--protocol", "{use: bootstrap-whole, asked: drawn, samples: 6}"))
    # The four clusters of ruspini are found in any sample (Kaufman & Rousseeuw 1990, chapter 2).
    assert judged["cells"][-1]["metrics"]["stability"]["mean"] == pytest.approx(1.0)
