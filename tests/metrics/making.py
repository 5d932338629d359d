"""Answers made for tests: told outright, or drawn so that every class and tie occurs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers, Header
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.registry import metric_named
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers


def label_answers(
    truth: str | Sequence[str],
    predicted: str | Sequence[str],
    classes: Sequence[str],
    weight: Sequence[float] | None = None,
    probabilities: Sequence[Sequence[float]] | None = None,
    first_row: int = 0,
) -> LabelAnswers:
    return LabelAnswers(
        header=Header(
            rows=np.arange(first_row, first_row + len(truth)),
            weight=None if weight is None else np.array(weight, dtype=np.float64),
        ),
        truth=np.array([classes.index(label) for label in truth], dtype=np.int32),
        predicted=np.array([classes.index(label) for label in predicted], dtype=np.int32),
        classes=tuple(classes),
        probabilities=None if probabilities is None else np.array(probabilities, dtype=np.float64),
    )


def value_answers(
    truth: Sequence[float], predicted: Sequence[float], weight: Sequence[float] | None = None, first_row: int = 0
) -> ValueAnswers:
    return ValueAnswers(
        header=Header(
            rows=np.arange(first_row, first_row + len(truth)),
            weight=None if weight is None else np.array(weight, dtype=np.float64),
        ),
        truth=np.array(truth, dtype=np.float64),
        predicted=np.array(predicted, dtype=np.float64),
    )


def drawn_labels(
    classes: int, rows: int = 200, weighted: bool = False, seed: int = 1, skill: float = 0.6
) -> LabelAnswers:
    """Answers of a model of some skill: votes of twenty, so that many probabilities tie and none is 0."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(rows) % classes)
    leanings = rng.dirichlet(np.ones(classes), rows) + skill * rng.random((rows, 1)) * np.eye(classes)[truth]
    votes = rng.multinomial(20, leanings / leanings.sum(axis=1, keepdims=True))
    probabilities = (votes + 1) / (20 + classes)
    return LabelAnswers(
        header=Header(rows=np.arange(rows), weight=rng.uniform(0.1, 3, rows) if weighted else None),
        truth=truth.astype(np.int32),
        predicted=probabilities.argmax(axis=1).astype(np.int32),
        classes=tuple("abcdefghij"[:classes]),
        probabilities=probabilities,
    )


def drawn_values(rows: int = 200, weighted: bool = False, seed: int = 1) -> ValueAnswers:
    rng = np.random.default_rng(seed)
    truth = rng.normal(50, 10, rows)
    weight = rng.uniform(0.1, 3, rows) if weighted else None
    return ValueAnswers(
        header=Header(rows=np.arange(rows), weight=weight),
        truth=truth,
        predicted=truth + rng.normal(1, 4, rows),
    )


def folds_of(answers: Answers, folds: int) -> list[Answers]:
    """The answers as consecutive folds."""
    return [answers.take(rows) for rows in np.array_split(np.arange(len(answers)), folds)]


def score(name: str, answers: Answers) -> Score:
    return metric_named(name, type(answers)).compute(answers)


def number(name: str, answers: Answers) -> float:
    """A score that must be defined."""
    found = score(name, answers)
    assert not isinstance(found, Undefined), found.why
    return found


def repeated(answers: Answers, times: NDArray[np.int64]) -> Answers:
    """Each row as often as told, without weights."""
    return answers.take(np.repeat(np.arange(len(answers)), times)).with_header(weight=None)
