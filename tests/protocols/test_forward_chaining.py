"""Forward chaining: blocks of time, never learned from what comes later; compared with TimeSeriesSplit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import TimeSeriesSplit

from mlcli.core.errors import DataError
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import Split
from mlcli.protocols.forward_chaining import ForwardChaining
from tests.support.shell import document, typed

RNG = np.random.default_rng(1)
pytestmark = pytest.mark.filterwarnings("ignore:no column has the role order")


def splits_of(strata: SplitInfo, **params: Any) -> Sequence[Split]:
    return ForwardChaining(**params).splits(strata, RNG)


@settings(max_examples=80, deadline=None)
@given(
    rows=st.integers(2, 80),
    folds=st.integers(2, 8),
    gap=st.integers(0, 4),
    window=st.none() | st.integers(1, 20),
)
def test_blocks_are_those_of_scikit_learn(rows: int, folds: int, gap: int, window: int | None) -> None:
    assume(rows > folds and rows - folds * (rows // (folds + 1)) > gap)
    peer = TimeSeriesSplit(n_splits=folds, gap=gap, max_train_size=window).split(np.zeros(rows))
    for split, (train, test) in zip(
        splits_of(SplitInfo(rows), folds=folds, gap=gap, window=window), peer, strict=True
    ):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


@settings(max_examples=80, deadline=None)
@given(order=st.lists(st.integers(0, 30), min_size=4, max_size=60), folds=st.integers(1, 5), gap=st.integers(0, 3))
def test_every_row_learned_from_is_earlier_by_the_gap_than_every_row_judged(
    order: list[int], folds: int, gap: int
) -> None:
    times = np.unique(order)
    assume(len(times) > folds and len(times) - folds * (len(times) // (folds + 1)) > gap)
    for split in splits_of(SplitInfo(len(order), order=np.array(order, float)), folds=folds, gap=gap):
        place = np.searchsorted(times, order)
        assert place[split.test].min() - place[split.train].max() == gap + 1
        assert set(np.flatnonzero(np.isin(place, place[split.test]))) == set(split.test)


def test_no_group_is_on_both_sides() -> None:
    groups = np.array([0, 0, 1, 1, 2, 0, 3, 3, 4, 4], np.int32)
    first, second = splits_of(SplitInfo(10, groups=groups, order=np.arange(10.0)), folds=2)
    assert (first.train.tolist(), first.test.tolist()) == ([2, 3], [4, 5, 6])
    assert (second.train.tolist(), second.test.tolist()) == ([0, 1, 2, 3, 4, 5], [7, 8, 9])


@pytest.mark.parametrize(
    ("strata", "params", "what"),
    [
        (SplitInfo(3), {"folds": 5}, "5 folds need at least 6 times, there are 3"),
        (SplitInfo(9, order=np.repeat([1.0, 2.0, 3.0], 3)), {"folds": 3}, "need at least 4 times, there are 3"),
        (SplitInfo(9, order=np.array([np.nan, *range(8)])), {}, "1 rows have no time"),
        (SplitInfo(12), {"folds": 5, "gap": 2}, "a gap of 2 leaves nothing to learn from: 2 times are before"),
        (SplitInfo(12, groups=np.zeros(12, np.int32)), {}, "every row before fold 1 is of a group that it tests"),
    ],
)
def test_what_cannot_be_split_is_refused(strata: SplitInfo, params: dict[str, int], what: str) -> None:
    with pytest.raises(DataError, match=what):
        splits_of(strata, **params)


def csv(path: Path, order: Sequence[str]) -> Path:
    """Values that are the number of days so far, in a shuffled file."""
    rows = np.random.default_rng(1).permutation(len(order))
    path.write_text("when,x,y\n" + "".join(f"{order[row]},{row},{row * row}\n" for row in rows))
    path.with_suffix(".yaml").write_text("target: y\nroles: {order: [when]}\n")
    return path


def test_dates_order_the_rows_of_a_file_however_they_stand(tmp_path: Path) -> None:
    file = csv(tmp_path / "days.csv", [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d}" for day in range(100)])
    words = ("-m", "zero-r", "--protocol", "{use: forward-chaining, folds: 4}", "--metric", "bias", "--json")
    cell = document(typed("eval", str(file), *words))["cells"][0]
    # Squares up to the start of a block are all below those of the block: the mean of the past is always too low.
    past = np.arange(100.0) ** 2
    expected = [past[:start].mean() - past[start : start + 20].mean() for start in (20, 40, 60, 80)]
    assert cell["metrics"]["bias"]["mean"] == pytest.approx(np.mean(expected), abs=1e-6)


def test_words_that_are_no_dates_are_refused(tmp_path: Path) -> None:
    file = csv(tmp_path / "words.csv", [f"day {day % 7}" for day in range(100)])
    refused = typed("eval", str(file), "-m", "zero-r", "--protocol", "forward-chaining")
    assert refused.exit_code == 4
    assert "column 'when' orders the rows, and holds text, such as 'day 0'" in refused.stderr
