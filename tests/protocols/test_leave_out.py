"""Leave groups out: every choice of some groups; compared with LeavePGroupsOut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import LeavePGroupsOut

from mlcli.core.errors import DataError
from mlcli.core.rows import SplitInfo
from mlcli.protocols.leave_out import LeaveGroupsOut
from tests.support.shell import typed

RNG = np.random.default_rng(1)


@settings(max_examples=80, deadline=None)
@given(groups=st.lists(st.integers(0, 6), min_size=2, max_size=40), left_out=st.integers(1, 4))
def test_choices_are_those_of_scikit_learn(groups: list[int], left_out: int) -> None:
    assume(len(set(groups)) > left_out)
    made = LeaveGroupsOut(left_out=left_out).splits(SplitInfo(len(groups), None, np.array(groups, np.int32)), RNG)
    peer = LeavePGroupsOut(left_out).split(np.zeros(len(groups)), groups=groups)
    for split, (train, test) in zip(made, peer, strict=True):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


def test_splits_are_named_by_their_groups() -> None:
    strata = SplitInfo(4, None, np.array([0, 1, 2, 2], np.int32))
    assert [one.label for one in LeaveGroupsOut().splits(strata, RNG)] == ["group 1", "group 2", "group 3"]
    labels = [one.label for one in LeaveGroupsOut(left_out=2).splits(strata, RNG)]
    assert labels == ["groups 1, 2", "groups 1, 3", "groups 2, 3"]


@pytest.mark.parametrize(
    ("strata", "left_out", "what"),
    [
        (SplitInfo(9), 1, "needs groups, and no column has the role group"),
        (SplitInfo(4, None, np.array([0, 1, 0, 1], np.int32)), 2, "at least 3 groups, there are 2"),
        (SplitInfo(40, None, np.arange(40, dtype=np.int32)), 5, "5 of 40 groups make 658,008 splits"),
    ],
)
def test_what_cannot_be_split_is_refused(strata: SplitInfo, left_out: int, what: str) -> None:
    with pytest.raises(DataError, match=what):
        LeaveGroupsOut(left_out=left_out).splits(strata, RNG)


def test_a_dataset_without_groups_is_refused_before_anything_runs() -> None:
    refused = typed("eval", "iris", "-m", "knn", "--protocol", "leave-groups-out")
    assert refused.exit_code == 4
    assert "leave-groups-out needs groups" in refused.stderr
