"""Confusion counts, their shares, and each class against the rest."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mlcli.core.answers import Header
from mlcli.metrics.confusion import confusion, tallies_of, tallies_under
from mlcli.metrics.over_units import influence
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.labels import one_against_rest
from mlcli.metrics.summary import summarise
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import drawn_labels, label_answers


def test_rows_are_actual_and_columns_predicted_as_in_scikit_learn() -> None:
    answers = drawn_labels(4)
    found = confusion(answers)
    assert found.labels == tuple("abcd")
    assert found.counts.dtype == np.int64
    assert found.counts.tolist() == confusion_matrix(answers.truth, answers.predicted).tolist()


def test_weights_are_summed() -> None:
    answers = drawn_labels(3, weighted=True)
    expected = confusion_matrix(answers.truth, answers.predicted, sample_weight=answers.weight)
    assert confusion(answers).counts == pytest.approx(expected)
    whole = label_answers("aab", "abb", "ab", weight=[2, 1, 3])
    assert confusion(whole).counts.tolist() == [[2, 1], [0, 3]]
    assert confusion(whole).counts.dtype == np.int64


def test_tallies_are_forgotten_with_their_answers() -> None:
    answers = drawn_labels(3)
    gone = weakref.ref(tallies_of(answers))
    assert tallies_of(answers) is gone()
    del answers
    gc.collect()
    assert gone() is None


def test_tallies_under_weightings_equal_counting_one_by_one() -> None:
    answers = drawn_labels(3, rows=20)
    weightings = np.random.default_rng(1).random((4, 20))
    found = tallies_under(answers, weightings)
    for place, weights in enumerate(weightings):
        counts = confusion_matrix(answers.truth, answers.predicted, sample_weight=weights)
        assert found.true_positives[place] == pytest.approx(np.diag(counts))
        assert found.support[place] == pytest.approx(counts.sum(axis=1))
        assert found.predicted[place] == pytest.approx(counts.sum(axis=0))


@pytest.mark.parametrize("name", ["f1", "specificity-weighted", "recall[c7]", "mcc", "kappa", "balanced-accuracy"])
def test_the_influence_of_rows_of_300_classes_is_what_a_little_more_weight_does(name: str) -> None:
    rng = np.random.default_rng(2)
    truth = np.arange(1200) % 300
    said = np.where(rng.random(1200) < 0.6, truth, rng.integers(0, 300, 1200))
    classes = tuple(f"c{code}" for code in range(300))
    answers = LabelAnswers(
        header=Header(rows=np.arange(1200)),
        truth=truth.astype(np.int32),
        predicted=said.astype(np.int32),
        classes=classes,
        probabilities=None,
    )
    metric = metric_named(name, LabelAnswers)
    assert metric.under is not None
    moved = influence(metric, answers)
    assert moved is not None
    assert float(moved.mean()) == pytest.approx(0, abs=1e-6)
    rows = np.array([7, 307, 500, 900])
    up, down = (metric.under(answers, 1 + by * np.eye(1200)[rows]) for by in (1e-4, -1e-4))
    assert moved[rows] == pytest.approx(1200 * (up - down) / 2e-4, rel=1e-6, abs=1e-6)
    found = summarise(metric, [answers], [1200])
    assert found.mean is not None
    assert (found.low or 1) < found.mean < (found.high or -1)


def test_a_class_without_rows_has_no_rates() -> None:
    *_, last = one_against_rest(label_answers("aab", "aba", "abc"))
    assert (last.label, last.support, last.predicted, last.lean) == ("c", 0, 0, 0)
    assert (last.precision, last.recall, last.f1, last.fnr) == (None, None, None, None)
    assert (last.specificity, last.fpr) == (1, 0)
