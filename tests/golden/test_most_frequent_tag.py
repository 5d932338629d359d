"""Most frequent tag: the measured reference of cmudict_stress, and counts by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.models.sequences.most_frequent_tag import MostFrequentTag
from mlcli.tasks.sequence_labelling import TaggedRows
from tests.golden.asking import asked, fitted
from tests.support.sequences import tagged


def test_the_most_frequent_stress_of_each_vowel_is_right_in_70_93_percent() -> None:
    """datasets/cmudict_stress.yaml, reference: train word_id % 5 != 0, test word_id % 5 == 0, vowels only."""
    dataset = load("cmudict_stress")
    data = TaggedRows.from_table(dataset.table, dataset.schema)
    levels = next(described.column.levels for described in dataset.schema if described.column.name == "word_id")
    word = np.array([int(level) for level in levels])[dataset.table.cells("word_id").astype(np.int32)][data.rows]
    model = fitted(MostFrequentTag(), data.take(np.flatnonzero(word % 5 != 0)))
    answers = asked(model, data.take(np.flatnonzero(word % 5 == 0)))
    vowels = answers.truth != answers.classes.index("cons")
    right = (answers.truth == answers.predicted)[vowels]
    assert round(100 * right.mean(), 2) == 70.93


def test_ties_go_to_the_larger_tag_and_unknown_words_to_the_largest() -> None:
    data = tagged([[("a", "X"), ("a", "Y"), ("b", "X"), ("c", "Y"), ("c", "Y")]], words=["a", "b", "c", "d"])
    model = fitted(MostFrequentTag(), data)
    assert [model.classes_[tag] for tag in model.tags_] == ["Y", "X", "Y", "Y", "Y"]
    assert model.tag_shares(data.table, data.sequence)[[0, 2, 3]].max(axis=1) == pytest.approx([1 / 2, 1, 1])
    assert model.shares_[3:] == pytest.approx(np.array([[2 / 5, 3 / 5]] * 2))


def test_weights_count_as_repeats() -> None:
    data = tagged([[("a", "X"), ("a", "Y")]])
    model = fitted(MostFrequentTag(), replace(data, weight=np.array([3.0, 2.0])))
    assert model.classes_[model.tags_[0]] == "X"


def test_without_levels_every_row_has_the_largest_tag() -> None:
    data = tagged([[("a", "X"), ("a", "Y"), ("b", "Y")]])
    numbers = data.with_table(Table.of([(Column("x"), np.arange(3.0))], 3))
    answers = asked(fitted(MostFrequentTag(), numbers), numbers)
    assert answers.predicted.tolist() == [data.classes.index("Y")] * 3
