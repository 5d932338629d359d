"""The one table of exceptions: which promise a model does not make, in which configuration, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.contract.subjects import Subject

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("zero-r[", "beats_the_baseline"): "it is the baseline",
    ("random[", "beats_the_baseline"): "it guesses",
    ("random[", "label_names"): "a draw picks from the classes in their order",
    ("linear-regression[intercept=False]", "one_row"): "a line through the origin need not meet the mean",
    ("ridge[intercept=False]", "one_row"): "a line through the origin need not meet the mean",
    ("global-mean[", "beats_the_baseline"): "it is the baseline",
    ("single-items[", "beats_the_baseline"): "it is the baseline",
    ("one-cluster[", "beats_chance"): "it is a baseline",
    ("random-scores[", "beats_chance"): "it is the baseline",
    ("random-scores[", "far_row_is_oddest"): "it is the baseline",
    ("random-scores[", "reasons_of_the_oddest"): "it has no reasons",
    ("random-clusters[", "beats_chance"): "it is a baseline",
    ("gaussian[", "beats_chance"): "it is the baseline",
    ("mean-row[", "beats_chance"): "it is the baseline",
    (
        "adaboost[",
        "label_names",
    ): "of equally probable classes a round answers the first, which later rounds mind",
    ("stacking[", "label_names"): "rows are dealt into folds in the order of their classes",
    ("stacking[", "weights_count_as_repeats"): "rows are dealt into folds, whatever they weigh",
    ("random-clusters[", "training_order"): "it hashes scaled cells, whose last digits follow the order of sums",
    ("random-clusters[", "weights_count_as_repeats"): "it hashes scaled cells, whose last digits follow the sums",
}
"""The beginning of a subject's name, and the promise that it does not make."""


def excepted(subject: Subject, promise: str) -> bool:
    """Whether the table frees a subject of a promise."""
    return any(str(subject).startswith(start) and promise == freed for start, freed in EXCEPTIONS)


def owing(promise: str, subjects: Sequence[Subject]) -> Callable[[Any], Any]:
    """Run a test for every subject that owes a promise."""
    return pytest.mark.parametrize("subject", [one for one in subjects if not excepted(one, promise)], ids=str)
