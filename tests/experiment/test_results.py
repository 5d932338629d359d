"""Splits that were answered together are, to whoever looks, the splits that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.experiment.results import CompletedSplits, RoundResult, SplitResult, decoded, each, encoded, folds_of
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers

FIELDS = ("index", "label", "train_rows", "fit_seconds", "predict_seconds", "seconds", "warnings", "route")


def round_result() -> RoundResult:
    """Three splits that judge 2, 0 and 1 rows."""
    answers = LabelAnswers(
        header=Header(rows=np.array([4, 7, 2])),
        truth=np.array([0, 1, 1], np.int32),
        predicted=np.array([1, 1, 0], np.int32),
        classes=("a", "b"),
        probabilities=np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
    )
    folds = folds_of(5, [2, 0, 1])
    return RoundResult(
        5, ["one", "two", "three"], [8, 10, 9], [2, 0, 1], answers.judged_in(folds), 0.25, "by heart"
    )


def one_by_one(splits: RoundResult) -> tuple[SplitResult, ...]:
    """The same with every split written out."""
    rows: list[slice] = [slice(0, 2), slice(2, 2), slice(2, 3)]
    return tuple(
        SplitResult(5 + place, label, learned, {"test": splits.answers.take(taken)}, 0.25, 0.0, route="by heart")
        for place, (label, learned, taken) in enumerate(zip(splits.labels, splits.train_rows, rows, strict=True))
    )


def assert_same(some: SplitResult, other: SplitResult) -> None:
    assert [getattr(some, name) for name in FIELDS] == [getattr(other, name) for name in FIELDS]
    mine, theirs = some.answers["test"], other.answers["test"]
    assert mine.facts() == theirs.facts()
    for name, array in mine.arrays().items():
        np.testing.assert_array_equal(array, theirs.arrays()[name])


def test_each_split_is_what_it_would_be_alone() -> None:
    splits = round_result()
    expected = one_by_one(splits)
    assert len(splits) == 3
    folds = [split.answers["test"].arrays()["header.fold"].tolist() for split in splits]
    assert folds == [[5, 5], [], [7]]
    for made in (tuple(splits), [splits[place] for place in range(3)], splits[:]):
        for some, other in zip(made, expected, strict=True):
            assert_same(some, other)
    assert_same(splits[-1], expected[2])
    with pytest.raises(IndexError):
        splits[3]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_every_split_needs_no_splits(field: str) -> None:
    splits = round_result()
    assert list(each(splits, field)) == list(each(one_by_one(splits), field))


def test_they_are_stored_as_one_and_come_back() -> None:
    splits = round_result()
    back = decoded(encoded(splits), LabelAnswers)
    assert isinstance(back, RoundResult)
    for some, other in zip(back, splits, strict=True):
        assert_same(some, other)
    assert len(encoded(splits)) < len(encoded(one_by_one(splits)))


def test_thousands_of_splits_make_a_small_payload() -> None:
    n = 5_000
    zeros = ValueAnswers(
        header=Header(rows=np.arange(n)),
        truth=np.zeros(n),
        predicted=np.zeros(n),
    )
    splits = RoundResult(0, [f"row {row + 1}" for row in range(n)], [n - 1] * n, [1] * n, zeros, 0.0, "")
    assert len(encoded(splits)) < 15 * n


def test_what_is_found_of_a_cell_stays_together_or_is_put_in_order() -> None:
    splits = round_result()
    judged = CompletedSplits()
    judged.add(())
    judged.add(splits)
    assert judged.all() is splits
    assert not judged.has_first(1)
    assert [split.index for split in judged.first(6)] == [5]
    before = tuple(SplitResult(index, "", 0, {}, 0.0, 0.0) for index in (3, 4, 0, 1, 2))
    judged.add(before)
    assert judged.has_first(8)
    assert len(judged) == 8
    assert [index in judged for index in (7, 8)] == [True, False]
    assert [split.index for split in judged.all()] == list(range(8))
    assert [split.index for split in judged.first(4)] == [0, 1, 2, 3]
