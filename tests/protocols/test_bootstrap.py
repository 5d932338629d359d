"""The bootstrap: rows drawn with replacement to learn from; rows out of the bag, or all rows, to score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from mlcli.core.errors import DataError
from mlcli.core.rows import SplitInfo
from mlcli.protocols.bootstrap import Bootstrap, BootstrapWhole
from tests.support.shell import document, typed


@settings(max_examples=60, deadline=None)
@given(groups=st.lists(st.integers(0, 6), min_size=2, max_size=40), grouped=st.booleans())
def test_rows_out_of_the_bag_are_judged_and_whole_groups_are_drawn(groups: list[int], grouped: bool) -> None:
    codes = np.array(groups, np.int32)
    if grouped and len(set(groups)) < 2:
        return
    strata = SplitInfo(len(codes), None, codes if grouped else None)
    for split in Bootstrap(repeats=5).splits(strata, np.random.default_rng(1)):
        times = np.bincount(split.train, minlength=len(codes))
        assert np.array_equal(np.flatnonzero(times == 0), split.test)
        assert len(split.test)
        assert len(split.train)
        if grouped:
            assert all(len(set(times[codes == group])) == 1 for group in set(groups))


def test_as_many_rows_are_drawn_as_there_are_and_63_percent_of_them_are_distinct() -> None:
    splits = Bootstrap(repeats=50).splits(SplitInfo(1_000), np.random.default_rng(1))
    assert [len(split.train) for split in splits] == [1_000] * 50
    out_of_bag = np.mean([len(split.test) for split in splits]) / 1_000
    assert out_of_bag == pytest.approx((1 - 1 / 1_000) ** 1_000, abs=0.005)


def test_two_rows_leave_one_to_judge() -> None:
    for split in Bootstrap().splits(SplitInfo(2), np.random.default_rng(1)):
        assert sorted([*split.train[:1], *split.test]) == [0, 1]


def test_a_single_row_is_refused() -> None:
    with pytest.raises(DataError, match="bootstrap needs at least 2 rows, there are 1"):
        Bootstrap().splits(SplitInfo(1), np.random.default_rng(1))


def test_its_accuracy_is_near_that_of_cross_validation_elsewhere() -> None:
    from sklearn.datasets import load_iris

    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    peer = cross_val_score(GaussianNB(), *load_iris(return_X_y=True), cv=folds).mean()
    words = ("-m", "naive-bayes", "--protocol", "bootstrap", "--metric", "accuracy", "--json")
    cell = document(typed("eval", "iris", *words))["cells"][-1]
    assert cell["metrics"]["accuracy"]["mean"] == pytest.approx(peer, abs=0.03)


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
