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
    ("rbf-network[bias=False]", "one_row"): "without a constant, answers fade with the distance",
    ("similarity[form=plain]", "one_row"): "a plain sum is the value of the row times how near that is",
    ("knn[tied_distance=random]", "training_order"): "of equally near rows it draws some",
    ("knn[tied_distance=random]", "weights_count_as_repeats"): "of equally near rows it draws some",
    ("hmm[smoothing=interpolation,stop=True]", "hardly_any_rows"): "no path is longer than those of training",
    ("markov-chain[", "truth_changes_nothing"): "it answers the next symbol after the true ones",
    ("markov-chain[", "beats_the_baseline"): "it looks at no column",
    ("lasso[intercept=False]", "one_row"): "a line through the origin need not meet the mean",
    ("elastic-net[intercept=False]", "one_row"): "a line through the origin need not meet the mean",
    ("least-absolute[intercept=False]", "one_row"): "a line through the origin need not meet the mean",
    ("least-absolute[", "weights_count_as_repeats"): "of several best planes it gives one between them",
    ("linear-svm[penalty=l1]", "weights_count_as_repeats"): "of several best planes it gives one between them",
    ("perceptron[", "training_order"): "rows correct it one after another",
    ("pocket[", "training_order"): "rows correct it one after another",
    ("perceptron[start=random]", "label_names"): "it starts on a side that the names decide",
    ("pocket[start=random]", "label_names"): "it starts on a side that the names decide",
    ("global-mean[", "beats_the_baseline"): "it is the baseline",
    ("single-items[", "beats_the_baseline"): "it is the baseline",
    ("one-cluster[", "beats_chance"): "it is a baseline",
    ("random-scores[", "beats_chance"): "it is the baseline",
    ("random-scores[", "far_row_is_oddest"): "it is the baseline",
    ("random-scores[", "reasons_of_the_oddest"): "it has no reasons",
    ("random-clusters[", "beats_chance"): "it is a baseline",
    ("gaussian[", "beats_chance"): "it is the baseline",
    (
        "gmm[]-density",
        "beats_chance",
    ): "a level that few rows have, such as that of gaps, has no width",
    ("mean-row[", "beats_chance"): "it is the baseline",
    (
        "adaboost[",
        "label_names",
    ): "of equally probable classes a round answers the first, which later rounds mind",
    (
        "extra-trees[reuse=False,combine=votes]",
        "label_names",
    ): "a leaf without a column left to ask for may have two classes alike, and votes for the first",
    ("stacking[", "label_names"): "rows are dealt into folds in the order of their classes",
    ("stacking[", "weights_count_as_repeats"): "rows are dealt into folds, whatever they weigh",
    ("tuned[", "weights_count_as_repeats"): "rows are dealt into inner folds, whatever they weigh",
    ("tuned[]-ranking", "label_names"): "groups are dealt into inner folds in their order",
    ("selected-model[", "weights_count_as_repeats"): "rows are dealt into inner folds, whatever they weigh",
    ("fair-thresholds[", "label_names"): "the last class has the thresholds",
    ("fair-thresholds[", "weights_count_as_repeats"): "rows are dealt into inner folds, whatever they weigh",
    ("voting[validation=0.3]", "weights_count_as_repeats"): "rows are drawn for validation, whatever they weigh",
    ("decision-tree[prune=reduced-error]", "label_names"): "rows are dealt in the order of their classes",
    ("decision-tree[prune=reduced-error]", "weights_count_as_repeats"): "rows are held out, whatever they weigh",
    ("decision-tree[prune=cost-complexity]", "label_names"): "rows are dealt in the order of their classes",
    ("decision-tree[prune=cost-complexity]", "weights_count_as_repeats"): "rows are dealt, whatever they weigh",
    ("decision-tree[prune=pessimistic]", "weights_count_as_repeats"): "values are pruned by folds",
    ("output-codes[length=2]", "label_names"): "short codes are dealt to classes in their order",
    ("bayes-net[inference=gibbs]", "label_names"): "it draws levels in their order",
    ("mrf[inference=gibbs]", "label_names"): "it draws levels in their order",
    ("one-class-svm[kernel=linear]", "far_row_is_oddest"): "it looks one way from the origin only",
    ("one-class-svm[kernel=polynomial]", "far_row_is_oddest"): "it looks one way from the origin only",
    ("autoencoder[activation=identity]", "reasons_of_the_oddest"): "a straight code takes other columns along",
    ("autoencoder[activation=softplus]", "reasons_of_the_oddest"): "a code without bounds takes others along",
    ("supervised-detector[", "labels_unseen"): "it learns from labels",
    ("score-ranking[", "labels_unseen"): "it learns from labels",
    ("supervised-detector[", "far_row_is_oddest"): "beyond its artificial anomalies a forest answers the same",
    ("score-ranking[", "reasons_of_the_oddest"): "of columns with two humps the artificial rows say little",
    ("collective[", "far_row_is_oddest"): "rows of the same windows score alike",
    ("collective[", "reasons_of_the_oddest"): "a window of rows in any order says little",
    ("collective[", "asked_order"): "rows are scored by those beside them",
    ("collective[", "training_order"): "it learns windows of consecutive rows",
}
"""A method with what it is set to, and the promise that it does not make then."""


def excepted(subject: Subject, promise: str) -> bool:
    """Whether the table frees a subject of a promise."""
    return any(is_one_of(subject, whom) for whom, freed in EXCEPTIONS if freed == promise)


def is_one_of(subject: Subject, whom: str) -> bool:
    """Whether a subject is the method that is meant, with all that it is set to, and of the kind that is named."""
    model, _, rest = whom.partition("[")
    settings, _, kind = rest.partition("]")
    meant = set(filter(None, settings.split(",")))
    given = {f"{name}={value}" for name, value in subject.params}
    return subject.model == model and kind.lstrip("-") in ("", subject.kind) and meant <= given


def owing(promise: str, subjects: Sequence[Subject]) -> Callable[[Any], Any]:
    """Run a test for every subject that owes a promise."""
    return pytest.mark.parametrize("subject", [one for one in subjects if not excepted(one, promise)], ids=str)
