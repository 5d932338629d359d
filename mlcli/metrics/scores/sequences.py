"""Scores of whole sequences, and of chunks: runs of rows that BIO tags mark as one thing.

A tag is B-TYPE (begin), I-TYPE (inside) or O (outside), or plainly B, I and O. A chunk begins at B, and at an I
whose type is not that of the row before; it ends before the next chunk, before O and with its sequence, as the
shared task of CoNLL 2000 has it (conlleval).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Codes, Flags
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.registry import SHARE, score, weighted_mean
from mlcli.tasks.sequence_labelling import TagAnswers

OUTSIDE, BEGIN, INSIDE = "O", "B", "I"


@score("sequence-accuracy", TagAnswers, **SHARE)
def sequence_accuracy(answers: TagAnswers) -> Score:
    """The share of sequences in which every tag is right; a sequence weighs as those of its rows that count."""
    sequence = np.unique(answers.sequence, return_inverse=True)[1]
    counting = answers.weights > 0
    wrong = np.bincount(sequence, (answers.truth != answers.predicted) & counting)
    weight = np.bincount(sequence, answers.weights) / np.maximum(np.bincount(sequence, counting), 1)
    return weighted_mean((wrong == 0).astype(np.float64), weight)


def bio_tags(answers: TagAnswers) -> Undefined | None:
    """The precondition of chunks: every tag is B, I or O, with or without a type, and some is B or I."""
    parts = [tag.partition("-") for tag in answers.classes]
    fits = all(
        tag == OUTSIDE or (start in (BEGIN, INSIDE) and (name or not dash))
        for tag, (start, dash, name) in zip(answers.classes, parts, strict=True)
    )
    inside = any(start in (BEGIN, INSIDE) for start, _, _ in parts)
    return None if fits and inside else Undefined("the tags are not BIO tags such as B-NP, I-NP and O")


@score("chunk-precision", TagAnswers, needs=(bio_tags,), **SHARE)
def chunk_precision(answers: TagAnswers) -> Score:
    """Of the predicted chunks, the share that is true, with the same ends and type."""
    right, predicted, _ = chunk_counts(answers)
    return right / predicted if predicted > 0 else Undefined("no chunk is predicted")


@score("chunk-recall", TagAnswers, needs=(bio_tags,), **SHARE)
def chunk_recall(answers: TagAnswers) -> Score:
    """Of the true chunks, the share that is predicted with the same ends and type."""
    right, _, true = chunk_counts(answers)
    return right / true if true > 0 else Undefined("no test row is in a chunk", "larger splits would help")


@score("chunk-f1", TagAnswers, needs=(bio_tags,), **SHARE)
def chunk_f1(answers: TagAnswers) -> Score:
    """The harmonic mean of the precision and recall of chunks."""
    right, predicted, true = chunk_counts(answers)
    if predicted + true == 0:
        return Undefined("no chunk is true and none is predicted", "larger splits would help")
    return 2 * right / (predicted + true)


def chunk_counts(answers: TagAnswers) -> tuple[float, float, float]:
    """The chunks that are right, predicted, and true; a chunk has the weight of its first row."""
    predicted = Chunks.of(answers.predicted, answers.classes, answers.sequence)
    true = Chunks.of(answers.truth, answers.classes, answers.sequence)
    right = predicted.begins & true.begins & (predicted.kind == true.kind) & (predicted.end == true.end)
    right_weight, predicted_weight, true_weight = (
        float(answers.weights[begins].sum()) for begins in (right, predicted.begins, true.begins)
    )
    return right_weight, predicted_weight, true_weight


@dataclass(frozen=True, eq=False)
class Chunks:
    """For each row: whether a chunk begins there, of which kind, and the row before which the run there ends."""

    begins: Flags
    kind: Codes
    end: Codes

    @staticmethod
    def of(tags: Codes, classes: Sequence[str], sequence: Codes) -> Chunks:
        """The chunks that tags mark."""
        starts, _, names = zip(*(tag.partition("-") for tag in classes), strict=True)
        inside = np.array([start != OUTSIDE for start in starts])[tags]
        first = np.array([start == BEGIN for start in starts])[tags]
        kind = np.unique(names, return_inverse=True)[1][tags].astype(np.int32)
        goes_on = np.zeros(len(tags), dtype=bool)
        goes_on[1:] = (sequence[1:] == sequence[:-1]) & (kind[1:] == kind[:-1]) & inside[1:] & inside[:-1]
        goes_on &= ~first
        breaks = np.flatnonzero(~goes_on)
        end = np.append(breaks[1:], len(tags))[np.cumsum(~goes_on) - 1]
        return Chunks(inside & ~goes_on, kind, end.astype(np.int32))
