"""Means, spreads and intervals over splits."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mlcli.core.answers import Answers, Header
from mlcli.metrics.base import Summary
from mlcli.metrics.bootstrap import replicates, resamples_for, weightings
from mlcli.metrics.intervals import effective_rows, wald, wilson
from mlcli.metrics.pooling import distinct, joined
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.regression import ValueAnswers
from tests.metrics.making import drawn_labels, drawn_values, folds_of, label_answers, number, score, value_answers


def summary_of(name: str, splits: list[Answers], train: int = 100, pooled: bool = False) -> Summary:
    return summarise(metric_named(name, type(splits[0])), splits, [train] * len(splits), pooled)


def test_accuracy_of_iris_has_the_wilson_interval_of_its_150_rows() -> None:
    """144 of 150 right; scipy's Wilson interval is the oracle."""
    right = np.ones(150, dtype=np.int32)
    right[::25] = 0
    answers = LabelAnswers(
        header=Header(rows=np.arange(150)),
        truth=np.ones(150, dtype=np.int32),
        predicted=right,
        classes=("no", "yes"),
    )
    found = summary_of("accuracy", folds_of(answers, 10), train=135)
    oracle = stats.binomtest(144, 150).proportion_ci(method="wilson")
    assert (found.mean, found.low, found.high) == pytest.approx((0.96, oracle.low, oracle.high))
    assert (round(oracle.low, 3), round(oracle.high, 3)) == (0.915, 0.982)
    assert found.std == pytest.approx(np.std([value or 0.0 for value in found.splits], ddof=1))
    assert found.interval == "Wilson over 150 distinct rows"


def test_judging_rows_again_does_not_narrow_the_interval() -> None:
    folds = folds_of(drawn_labels(3, rows=60), 5)
    once, thrice = summary_of("accuracy", folds), summary_of("accuracy", folds * 3)
    assert (once.low, once.high) == pytest.approx((thrice.low, thrice.high))


def test_weighted_rows_count_as_kishs_effective_number() -> None:
    weights = np.array([3.0, 1, 1, 1])
    assert effective_rows(weights) == 3.0
    assert effective_rows(np.full(7, 2.5)) == pytest.approx(7)
    answers = label_answers("aaaa", "aaab", "ab", weight=list(weights))
    found = summary_of("accuracy", [answers])
    oracle = wilson(5 / 6, 3.0)
    assert (found.mean, found.low, found.high) == pytest.approx((5 / 6, oracle.low, oracle.high))


@pytest.mark.parametrize(("right", "rows"), [(0, 1), (1, 1), (0, 14), (14, 14), (7, 9), (999, 1000)])
def test_wilson_is_scipys_and_holds_the_share(right: int, rows: int) -> None:
    found, oracle = wilson(right / rows, rows), stats.binomtest(right, rows).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= right / rows <= found.high <= 1
    assert found.low < found.high


def test_wald_has_no_width_at_no_errors() -> None:
    assert (wald(0, 14).low, wald(0, 14).high) == (0, 0)


def test_a_mean_over_splits_has_nadeau_and_bengios_interval() -> None:
    """The formula of the paper, with scipy's t: variance (1/J + n_test/n_train)."""
    folds = folds_of(drawn_labels(3, rows=150), 10)
    found = summary_of("f1-macro", folds, train=135)
    values = [number("f1-macro", fold) for fold in folds]
    error = np.std(values, ddof=1) * np.sqrt(1 / 10 + 15 / 135)
    low, high = stats.t.interval(0.95, 9, loc=np.mean(values), scale=error)
    assert (found.mean, found.low, found.high) == pytest.approx((np.mean(values), low, high), abs=1e-9)
    assert found.splits == tuple(values)
    assert found.interval == "corrected resampled t over 10 splits"


def test_an_interval_stays_where_the_metric_can_be() -> None:
    folds = [
        label_answers("ab" * 4, answered, "ab") for answered in ("abababab", "abababab", "bbababab", "aaabaaaa")
    ]
    found = summary_of("f1-macro", list(folds))
    assert found.high == 1.0
    assert found.low is not None
    assert 0 <= found.low < 1


def test_the_mean_of_unequal_splits_is_plain() -> None:
    folds: list[Answers] = [value_answers([0, 0, 0], [1, 1, 1]), value_answers([0], [3], first_row=3)]
    assert summary_of("mae", folds).mean == 2.0


def test_one_split_has_no_spread_but_an_interval_over_rows() -> None:
    """Bias of one split: scipy's one-sample t interval of the errors."""
    answers = drawn_values(rows=30)
    found = summary_of("bias", [answers])
    errors = answers.predicted - answers.truth
    low, high = stats.ttest_1samp(errors, 0).confidence_interval()
    assert (found.mean, found.low, found.high) == pytest.approx((errors.mean(), low, high))
    assert (found.std, found.splits) == (None, (found.mean,))
    assert found.interval == "t over 30 rows"


def test_pooled_answers_are_scored_at_once() -> None:
    answers = drawn_labels(3, rows=60)
    rows = folds_of(answers, 60)
    for name in ("accuracy", "log-loss", "f1-macro", "auc", "mcc"):
        found = summary_of(name, rows, pooled=True)
        assert found.mean == pytest.approx(score(name, answers))
        assert found.std is None
        assert found.low is not None
        assert found.high is not None
        assert found.low < number(name, answers) < found.high


def test_pooled_splits_have_values_where_the_metric_is_a_mean_of_rows() -> None:
    answers = drawn_labels(3, rows=40, weighted=True)
    groups = folds_of(answers, 7)
    found = summary_of("accuracy", groups, pooled=True)
    assert found.splits == pytest.approx([score("accuracy", group) for group in groups])
    assert summary_of("auc", groups, pooled=True).splits == (None,) * 7


def test_the_bootstrap_agrees_with_theory_where_theory_is_known() -> None:
    """RMSE is the root of a mean of rows: its interval must be near the roots of the t interval of squares."""
    answers = drawn_values(rows=400)
    squares, found = summary_of("mse", [answers]), summary_of("rmse", [answers])
    assert squares.low is not None
    assert squares.high is not None
    assert (found.low, found.high) == pytest.approx((squares.low**0.5, squares.high**0.5), rel=0.01)
    assert found.interval == "bootstrap over 400 rows, 1000 resamples"


def test_the_bootstrap_of_auc_is_as_wide_as_hanley_and_mcneil_say() -> None:
    """Hanley & McNeil 1982, equation 1, is the standard error of the area under the curve."""
    answers = drawn_labels(2, rows=400)
    found = summary_of("auc", [answers])
    area = found.mean
    assert area is not None
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    error = np.sqrt((area * (1 - area) + 199 * (q1 - area**2) + 199 * (q2 - area**2)) / 200**2)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.15)


def test_the_bootstrap_is_seeded_by_the_rows() -> None:
    answers = drawn_labels(3, rows=50)
    first = summary_of("mcc", [answers])
    assert summary_of("mcc", [answers.take(np.arange(50))]) == first
    assert summary_of("mcc", [answers.with_header(rows=answers.rows + 1)]) != first


def test_the_work_of_the_bootstrap_is_bounded() -> None:
    assert [resamples_for(rows) for rows in (1, 150, 20_000, 40_000, 10**6)] == [1000, 1000, 1000, 500, 200]


def test_a_resample_draws_as_many_rows_as_there_are() -> None:
    blocks = np.concatenate(list(weightings(drawn_labels(3, rows=500))))
    assert blocks.shape == (1000, 500)
    assert (blocks.sum(axis=1) == 500).all()
    assert blocks.mean(axis=0) == pytest.approx(np.ones(500), abs=0.2)


def test_the_loop_and_the_arrays_of_the_bootstrap_agree() -> None:
    answers = drawn_labels(3, rows=30, weighted=True)
    metric = metric_named("kappa", LabelAnswers)
    assert replicates(metric, answers) == pytest.approx(replicates(replace(metric, under=None), answers))


def test_no_spread_is_said_to_be_no_certainty() -> None:
    perfect = folds_of(label_answers("ab" * 20, "ab" * 20, "ab"), 4)
    for splits in (perfect, perfect[:1]):
        found = summary_of("f1-macro", splits)
        assert (found.mean, found.low, found.high) == (1, 1, 1)
        assert found.interval.endswith("no spread was seen, so a width of 0 is not certainty")


def test_one_row_has_a_value_but_no_t_interval() -> None:
    found = summary_of("bias", [value_answers([1], [3])])
    assert (found.mean, found.low, found.high) == (2, None, None)
    assert found.interval.startswith("none: one value has no spread")


def test_one_undefined_split_leaves_no_mean_but_the_other_values() -> None:
    folds: list[Answers] = [
        label_answers("ab", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)]),
        label_answers("aa", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)], first_row=2),
    ]
    found = summary_of("auc", folds)
    assert (found.mean, found.std, found.low, found.high) == (None, None, None, None)
    assert found.splits == (1.0, None)
    assert found.why == (
        "undefined in 1 of 2 splits: only one class among the judged rows; stratified splits, or fewer, would help"
    )


def test_several_reasons_are_counted() -> None:
    folds: list[Answers] = [
        label_answers(truth, predicted, "ab") for truth, predicted in (("ab", "aa"), ("ab", "bb"), ("aa", "ab"))
    ]
    assert summary_of("mcc", folds).why == (
        "undefined in 3 of 3 splits: the same class is answered for every row (2), "
        "only one class among the judged rows (1); stratified splits, or fewer, would help"
    )


def test_pooled_and_undefined_says_why() -> None:
    found = summary_of("r2", folds_of(value_answers([1, 1, 1], [1, 2, 3]), 3), pooled=True)
    assert (found.mean, found.splits, found.why) == (
        None,
        (None, None, None),
        "the judged rows all have the same value",
    )


def test_infinite_is_a_value_with_the_number_of_rows() -> None:
    folds: list[Answers] = [
        label_answers("ab", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)]),
        label_answers("ab", "bb", "ab", probabilities=[(0.0, 1.0), (0.2, 0.8)], first_row=2),
    ]
    found = summary_of("log-loss", folds)
    said = "infinite: the true class has probability 0 in 1 of 4 rows"
    assert (found.mean, found.std, found.low, found.high) == (np.inf, None, None, None)
    assert (found.why, found.marks) == (said, (said,))
    assert found.splits[1] == np.inf


def test_an_infinite_row_without_weight_leaves_the_interval_alone() -> None:
    probabilities = [(0.9, 0.1), (0.2, 0.8), (0.6, 0.4), (0.0, 1.0)]
    answers = label_answers("abaa", "abab", "ab", weight=[1, 1, 1, 0], probabilities=probabilities)
    found, three = summary_of("log-loss", [answers]), summary_of("log-loss", [answers.take(np.arange(3))])
    assert (found.mean, found.low, found.high) == pytest.approx((three.mean, three.low, three.high))
    assert found.marks == ()


def test_marks_say_in_how_many_splits() -> None:
    folds: list[Answers] = [label_answers("aab", answered, "ab") for answered in ("aaa", "aaa", "aab")]
    assert summary_of("precision", folds).marks == (
        "b is never predicted: its precision 0/0 counts as 0 (in 2 of 3 splits)",
    )


def test_nothing_answered_is_no_mean() -> None:
    metric = metric_named("rmse", ValueAnswers)
    assert summarise(metric, [], []).why == "no split was answered"


def test_splits_are_joined_once_for_all_metrics() -> None:
    folds = folds_of(drawn_labels(3, rows=20), 4)
    together = joined(folds)
    assert joined(list(folds)) is together
    assert joined(folds[:1]) is folds[0]
    assert joined(folds[:2]).rows.tolist() == list(range(10))
    assert joined(folds).rows.tolist() == list(range(20))


def test_joined_answers_are_forgotten_with_their_splits() -> None:
    folds = folds_of(drawn_labels(3, rows=20), 4)
    gone = weakref.ref(joined(folds))
    assert joined(folds) is gone()
    del folds
    gc.collect()
    assert gone() is None


def test_the_first_answer_to_each_row_stands_for_it() -> None:
    answers = label_answers("abab", "abba", "ab")
    again = joined([answers, replace(answers.take(np.array([3, 1])), predicted=np.zeros(2, np.int32))])
    assert distinct(again).rows.tolist() == [0, 1, 2, 3]
    assert distinct(again).predicted.tolist() == [0, 1, 1, 0]
    assert distinct(answers) is answers
