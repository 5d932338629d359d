"""Scores of sequences: counts by hand, and chunks as conlleval walks through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.metrics.base import Undefined
from mlcli.metrics.difference import compare
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.sequence_labelling import TagAnswers
from tests.metrics.making import number, score

BIO = ("B-NP", "B-VP", "I-NP", "I-VP", "O")


def tag_answers(truth: Sequence[str], predicted: Sequence[str], classes: Sequence[str] = BIO) -> TagAnswers:
    """Sentences of tags divided by blanks."""
    sequence = [number for number, sentence in enumerate(truth) for _ in sentence.split()]
    return TagAnswers(
        header=Header(rows=np.arange(len(sequence))),
        truth=np.array([classes.index(tag) for tag in " ".join(truth).split()], np.int32),
        predicted=np.array([classes.index(tag) for tag in " ".join(predicted).split()], np.int32),
        classes=tuple(classes),
        sequence=np.array(sequence, np.int32),
    )


def drawn(seed: int, sentences: int = 12) -> TagAnswers:
    """Random tags, right in about two of three rows."""
    rng = np.random.default_rng(seed)
    sequence = np.repeat(np.arange(sentences), rng.integers(1, 7, sentences)).astype(np.int32)
    truth = rng.integers(0, len(BIO), len(sequence)).astype(np.int32)
    other = rng.integers(0, len(BIO), len(sequence)).astype(np.int32)
    predicted = np.where(rng.random(len(sequence)) < 0.6, truth, other)
    return TagAnswers(
        header=Header(rows=np.arange(len(sequence))),
        truth=truth,
        predicted=predicted,
        classes=BIO,
        sequence=sequence,
    )


def chunks(tags: Sequence[str], sequence: Sequence[int]) -> set[tuple[int, int, str]]:
    """(first row, row after the last, type) as conlleval reads tags one by one."""
    found, begun, kind = set(), -1, ""
    for row in range(len(tags) + 1):
        over = row == len(tags) or (row > 0 and sequence[row] != sequence[row - 1])
        start, _, name = ("O", "", "") if row == len(tags) else tags[row].partition("-")
        if begun >= 0 and (over or start in "OB" or name != kind):
            found.add((begun, row, kind))
            begun = -1
        if begun < 0 and start in "BI":
            begun, kind = row, name
    return found


def test_a_sequence_is_right_when_every_tag_is() -> None:
    answers = tag_answers(["B-NP I-NP O", "O O", "B-VP"], ["B-NP I-NP O", "O B-NP", "B-VP"])
    assert number("sequence-accuracy", answers) == pytest.approx(2 / 3)
    assert number("accuracy", answers) == pytest.approx(5 / 6)


def test_rows_of_weight_0_make_no_sequence_wrong() -> None:
    answers = tag_answers(["O O", "O"], ["O B-NP", "O"])
    weighted = answers.with_header(weight=np.array([1.0, 0.0, 1.0]))
    assert number("sequence-accuracy", weighted) == 1.0


def test_rows_of_weight_0_take_nothing_off_the_weight_of_their_sequence() -> None:
    """By hand: of two sequences whose rows that count weigh 1, one is right; a third has no weight."""
    answers = tag_answers(["O O", "O", "O"], ["O B-NP", "B-NP", "O"])
    weighted = answers.with_header(weight=np.array([1.0, 0.0, 1.0, 0.0]))
    assert number("sequence-accuracy", weighted) == 0.5


def test_chunks_count_when_ends_and_type_are_right() -> None:
    answers = tag_answers(["B-NP I-NP O B-VP"], ["B-NP O O B-VP"])
    assert number("chunk-precision", answers) == pytest.approx(1 / 2)
    assert number("chunk-recall", answers) == pytest.approx(1 / 2)
    later_begin = tag_answers(["I-NP I-NP", "B-NP B-NP"], ["B-NP I-NP", "B-NP I-NP"])
    assert number("chunk-recall", later_begin) == pytest.approx(1 / 3)
    assert number("chunk-f1", later_begin) == pytest.approx(2 / 5)


def test_the_example_of_seqeval() -> None:
    """The first example in the README of seqeval: f1 0.50, accuracy 0.80; MISC is wrong and PER is right."""
    tags = ("O", "B-MISC", "I-MISC", "B-PER", "I-PER")
    truth = ["O O O B-MISC I-MISC I-MISC O", "B-PER I-PER O"]
    predicted = ["O O B-MISC I-MISC I-MISC I-MISC O", "B-PER I-PER O"]
    answers = tag_answers(truth, predicted, tags)
    assert [number(f"chunk-{of}", answers) for of in ("f1", "precision", "recall")] == [0.5, 0.5, 0.5]
    assert number("accuracy", answers) == pytest.approx(0.8)


def test_chunks_of_random_tags_are_those_of_conlleval() -> None:
    for seed in range(60):
        answers = drawn(seed)
        there = chunks([BIO[tag] for tag in answers.truth], answers.sequence.tolist())
        answered = chunks([BIO[tag] for tag in answers.predicted], answers.sequence.tolist())
        right = len(there & answered)
        assert number("chunk-f1", answers) == pytest.approx(2 * right / (len(there) + len(answered))), seed
        assert number("chunk-precision", answers) == pytest.approx(right / len(answered))


def test_chunks_without_types_are_understood() -> None:
    assert number("chunk-f1", tag_answers(["B I O"], ["B I O"], ("B", "I", "O"))) == 1.0


@pytest.mark.parametrize("classes", [("D", "N"), ("O",), ("B-", "O"), ("B-NP", "X")])
def test_tags_that_are_not_bio_have_no_chunks(classes: Sequence[str]) -> None:
    found = score("chunk-f1", tag_answers([classes[0]], [classes[0]], classes))
    assert isinstance(found, Undefined)
    assert "not BIO" in found.why


def test_without_any_chunk_there_is_no_f1() -> None:
    found = score("chunk-f1", tag_answers(["O O"], ["O O"]))
    assert isinstance(found, Undefined)


def test_rows_of_a_sequence_are_drawn_together() -> None:
    """Ten sentences of which each is right or wrong throughout tell no more than ten rows do."""
    right, wrong = " ".join(["O"] * 30), " ".join(["B-NP"] * 30)
    answers = tag_answers([right] * 10, [right] * 6 + [wrong] * 4)
    summary = summarise(metric_named("accuracy", TagAnswers), [answers], [300])
    assert summary.interval == "Wilson over 10 groups"
    assert summary.mean == pytest.approx(0.6)
    assert summary.low is not None
    assert summary.high is not None
    assert summary.low <= 0.3 <= 0.85 <= summary.high


def test_a_difference_in_one_sentence_is_no_difference() -> None:
    right, wrong = " ".join(["O"] * 30), " ".join(["B-NP"] * 30)
    one, other = tag_answers([right] * 5, [right] * 5), tag_answers([right] * 5, [right] * 4 + [wrong])
    found = compare(metric_named("accuracy", TagAnswers), [one], [other], [100])
    assert found.mean == pytest.approx(0.2)
    assert not found.distinguishable
