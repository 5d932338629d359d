"""Confusion counts, their shares, and each class against the rest."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mlcli.metrics.confusion import confusion, counts_of, counts_under
from mlcli.metrics.one_against_rest import one_against_rest
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


def test_changing_a_matrix_does_not_change_scores() -> None:
    answers = drawn_labels(3, weighted=True)
    confusion(answers).counts[:] = 0
    assert counts_of(answers).sum() == pytest.approx(answers.weights.sum())


def test_counts_are_forgotten_with_their_answers() -> None:
    answers = drawn_labels(3)
    gone = weakref.ref(counts_of(answers))
    assert counts_of(answers) is gone()
    del answers
    gc.collect()
    assert gone() is None


def test_counts_under_weightings_equal_counting_one_by_one() -> None:
    answers = drawn_labels(3, rows=20)
    weightings = np.random.default_rng(1).random((4, 20))
    for counts, weights in zip(counts_under(answers, weightings), weightings, strict=True):
        expected = confusion_matrix(answers.truth, answers.predicted, sample_weight=weights)
        assert counts == pytest.approx(expected)


def test_a_class_without_rows_has_no_rates() -> None:
    *_, last = one_against_rest(label_answers("aab", "aba", "abc"))
    assert (last.label, last.support, last.predicted, last.lean) == ("c", 0, 0, 0)
    assert (last.precision, last.recall, last.f1, last.fnr) == (None, None, None, None)
    assert (last.specificity, last.fpr) == (1, 0)
