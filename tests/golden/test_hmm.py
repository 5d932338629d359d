"""Hidden Markov model: SOURCES.md section 9, counts by hand, and every tag sequence tried in turn."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.sequences._markov import count_ngrams, deleted_interpolation, most_probable_tags
from mlcli.models.sequences.hmm import HiddenMarkovModel
from mlcli.tasks.sequence_labelling import TaggedRows, lengths
from tests.golden.asking import answered, asked, fitted
from tests.support.sequences import drawn, tagged

THE_DOG_LAUGHS = [("the", "D"), ("dog", "N"), ("laughs", "V")]
THE_CAT_SAW = [("the", "D"), ("cat", "N"), ("saw", "V"), ("the", "D"), ("dog", "N")]
PLAIN: dict[str, Any] = {"alpha": 0.0, "unknown": "alpha"}


def shares(model: HiddenMarkovModel, before: str, tag: str) -> float:
    """P(tag | the tag before); None of them may be the boundary."""
    symbols = (*model.classes_, "stop")
    return float(np.exp(model.transitions_[symbols.index(before), symbols.index(tag)]))


@pytest.mark.parametrize(
    ("stop", "joint", "after_noun"), [(True, 1 / 9, {"V": 2 / 3, "stop": 1 / 3}), (False, 1 / 3, {"V": 1.0})]
)
def test_the_two_sentences_of_section_9(stop: bool, joint: float, after_noun: dict[str, float]) -> None:
    data = tagged([THE_DOG_LAUGHS, THE_CAT_SAW])
    model = fitted(HiddenMarkovModel(stop=stop, **PLAIN), data)
    assert shares(model, "D", "N") == pytest.approx(1.0)
    assert {tag: shares(model, "N", tag) for tag in after_noun} == pytest.approx(after_noun)
    emitted = np.exp(model.emissions_)
    assert emitted[model.levels_.index("dog"), model.classes_.index("N")] == pytest.approx(2 / 3)
    assert emitted[model.levels_.index("laughs"), model.classes_.index("V")] == pytest.approx(1 / 2)
    first = data.take(np.arange(3))
    assert model.log_joint(first.table, first.sequence, first.y) == pytest.approx(math.log(joint))


def test_smoothed_shares_are_those_counted_by_hand() -> None:
    model = fitted(HiddenMarkovModel(alpha=0.5, stop=True), tagged([THE_DOG_LAUGHS, THE_CAT_SAW]))
    # After N: V twice, the end once; 4 outcomes. N: dog twice, cat once; cat is met once, so that the unknown word
    # counts 1, too; 5 words and the unknown one.
    assert shares(model, "N", "V") == pytest.approx((2 + 0.5) / (3 + 4 * 0.5))
    noun = np.exp(model.emissions_[:, model.classes_.index("N")])
    assert noun[model.levels_.index("dog")] == pytest.approx((2 + 0.5) / (3 + 1 + 6 * 0.5))
    assert noun[-1] == pytest.approx((1 + 0.5) / (3 + 1 + 6 * 0.5))
    assert noun.sum() == pytest.approx(1.0)


SETTINGS = [
    {"order": order, "smoothing": smoothing, "stop": stop, "alpha": alpha}
    for order, smoothing, stop, alpha in product(
        ("bigram", "trigram", "4-gram"), ("alpha", "interpolation"), (False, True), (0.0, 0.3)
    )
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_other_tags_are_more_probable(settings: dict[str, Any]) -> None:
    train, asked_of = drawn(seed=1), drawn(seed=2, sentences=6)
    model = fitted(HiddenMarkovModel(**settings), train)
    answers = asked(model, asked_of)
    for start, size in zip(*lengths(asked_of.sequence), strict=True):
        rows = np.arange(start, start + size)
        one = asked_of.take(rows)
        every = [
            model.log_joint(one.table, one.sequence, np.array(tags, np.int32))
            for tags in product(range(3), repeat=int(size))
        ]
        found = model.log_joint(one.table, one.sequence, answers.predicted[rows])
        assert found == pytest.approx(max(every), abs=1e-9)


def plain_joint(train: TaggedRows, one: TaggedRows, alpha: float, before: int) -> float:
    """log P(x, y) by dictionaries, word by word, as the formula stands: no stop symbol, unknown words get α."""
    histories: Counter[Any] = Counter()
    follows: Counter[Any] = Counter()
    emits: Counter[Any] = Counter()
    for start, size in zip(*lengths(train.sequence), strict=True):
        padded = [None] * before + train.y[start : start + size].tolist()
        for place in range(int(size)):
            history = tuple(padded[place : place + before])
            histories[history] += 1
            follows[history, padded[place + before]] += 1
    words = train.table.codes[:, 0].tolist()
    emits.update(zip(words, train.y.tolist(), strict=True))
    totals, known = Counter(train.y.tolist()), len(set(words))
    padded, total = [None] * before + one.y.tolist(), 0.0
    for place, word in enumerate(one.table.codes[:, 0].tolist()):
        history, tag = tuple(padded[place : place + before]), padded[place + before]
        total += math.log((follows[history, tag] + alpha) / (histories[history] + alpha * len(totals)))
        total += math.log((emits[word, tag] + alpha) / (totals[tag] + alpha * (known + 1)))
    return total


@pytest.mark.parametrize(("order", "before"), [("bigram", 1), ("trigram", 2)])
def test_the_joint_probability_is_that_of_the_formula(order: str, before: int) -> None:
    train, other = drawn(seed=3), drawn(seed=4, sentences=1)
    model = fitted(HiddenMarkovModel(order=order, alpha=0.2, unknown="alpha"), train)
    expected = plain_joint(train, other, 0.2, before)
    assert model.log_joint(other.table, other.sequence, other.y) == pytest.approx(expected)


def test_deleted_interpolation_is_brants_algorithm() -> None:
    """Brants 2000, figure 1, trigram by trigram; of equal shares the longest history gets the votes."""
    data = drawn(seed=5, sentences=200)
    counts = count_ngrams(data.y, data.sequence, 3, 3, stop=False)
    bigrams, unigrams = counts.sum(axis=0), counts.sum(axis=(0, 1))
    votes = [0.0, 0.0, 0.0]
    for (u, v, w), count in np.ndenumerate(counts):
        if count > 0:
            share = [
                (unigrams[w] - 1) / (unigrams.sum() - 1),
                (bigrams[v, w] - 1) / (bigrams[v].sum() - 1) if bigrams[v].sum() > 1 else 0.0,
                (count - 1) / (counts[u, v].sum() - 1) if counts[u, v].sum() > 1 else 0.0,
            ]
            votes[max((2, 1, 0), key=lambda length: share[length])] += count
    assert deleted_interpolation(counts) == pytest.approx(np.array(votes) / sum(votes))


@pytest.mark.parametrize("smoothing", ["alpha", "interpolation"])
@pytest.mark.parametrize("order", ["bigram", "trigram"])
@pytest.mark.parametrize("stop", [False, True])
def test_what_may_follow_adds_up_to_1(order: str, smoothing: str, stop: bool) -> None:
    model = fitted(HiddenMarkovModel(order=order, smoothing=smoothing, stop=stop), drawn(sentences=8))
    assert np.exp(model.transitions_).sum(axis=-1) == pytest.approx(1.0)
    seen = np.unique(drawn(sentences=8).table.codes[:, 0])
    emitted = np.exp(model.emissions_)
    assert emitted[seen].sum(axis=0) + emitted[-1] == pytest.approx(np.ones(3))


def test_an_unknown_word_is_tagged_by_its_place_and_by_words_met_once() -> None:
    model = fitted(HiddenMarkovModel(), tagged([THE_DOG_LAUGHS, THE_CAT_SAW]))
    new = tagged([[("the", "D"), ("bird", "N"), ("saw", "V")]], model.levels_, model.classes_)
    assert [model.classes_[tag] for tag in asked(model, new).predicted] == ["D", "N", "V"]


def test_where_every_way_is_impossible_the_least_impossible_is_taken() -> None:
    model = fitted(HiddenMarkovModel(**PLAIN), tagged([THE_DOG_LAUGHS, THE_CAT_SAW]))
    new = tagged([[("bird", "N"), ("dog", "N"), ("laughs", "V")]], model.levels_, model.classes_)
    assert [model.classes_[tag] for tag in asked(model, new).predicted] == ["D", "N", "V"]


def test_a_tag_that_was_not_met_is_not_answered() -> None:
    data = drawn(sentences=80)
    without = data.take(np.flatnonzero(np.isin(data.sequence, data.sequence[data.y == 1], invert=True)))
    assert 1 not in asked(fitted(HiddenMarkovModel(), without), data).predicted


def test_blocks_of_sequences_are_decoded_as_all_together() -> None:
    data = drawn(sentences=100)
    model = fitted(HiddenMarkovModel(order="trigram"), data)
    emitted = model.emissions_[data.table.codes[:, 0]]
    together = most_probable_tags(emitted, model.transitions_, data.sequence, False)
    alone = most_probable_tags(emitted, model.transitions_, data.sequence, False, block_cells=1)
    assert np.array_equal(alone, together)


def beside(data: TaggedRows, column: Column, cells: Any) -> TaggedRows:
    """The rows with one more column, which stands first."""
    return replace(data, table=Table.of([(column, cells), *data.table.parts()], len(data)))


def test_the_first_column_of_levels_is_observed_and_others_are_named() -> None:
    data = drawn()
    plain = answered(HiddenMarkovModel(), data).predicted
    numbers = beside(data, Column("length"), np.arange(len(data), dtype=np.float64))
    with pytest.warns(MlcliWarning, match="observes 'word' only, not length"):
        assert np.array_equal(answered(HiddenMarkovModel(), numbers).predicted, plain)
    assert np.array_equal(answered(HiddenMarkovModel(column="word"), numbers).predicted, plain)


def test_a_column_that_is_not_there_is_refused_and_numbers_are_taken() -> None:
    data = beside(drawn(), Column("length"), np.ones(len(drawn())))
    assert fitted(HiddenMarkovModel(column="length"), data).means_.shape == (3, 1)
    with pytest.raises(FitError, match="no column 'lenght'"):
        fitted(HiddenMarkovModel(column="lenght"), data)
    with pytest.raises(FitError, match="hmm needs a column to observe"):
        fitted(HiddenMarkovModel(), replace(data, table=data.table.select([])))


def test_the_explanation_shows_what_follows_what_but_no_tag_before_the_start() -> None:
    follows, emits = fitted(HiddenMarkovModel(order="trigram", stop=True), drawn()).explain()
    assert follows.header == ("after", "t0", "t1", "t2", "(end)")
    histories = [str(row[0]).split() for row in follows.rows]
    assert len(histories) == 3 * 3 + 3 + 1
    assert all(later != "(start)" or earlier == "(start)" for one in histories for earlier, later in pairwise(one))
    assert [row[0] for row in emits.rows] == ["t0", "t1", "t2"]


def test_a_row_is_explained_without_the_tags_that_are_impossible() -> None:
    model = fitted(HiddenMarkovModel(**PLAIN), data := tagged([THE_DOG_LAUGHS, THE_CAT_SAW]))
    (found,) = model.explain_answer(data.take(np.arange(3)).table)
    tags = [dict(zip(found.header, line, strict=True)) for line in found.rows]
    assert [[line[tag] for tag in "DNV"] for line in tags] == [
        [pytest.approx(0.0), None, None],
        [None, pytest.approx(math.log(2 / 3)), None],
        [None, None, pytest.approx(math.log(1 / 3))],
    ]
    assert "An empty cell: no path to that tag is possible." in found.note
