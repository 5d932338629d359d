"""Means, spreads and intervals over splits."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from mlcli.core.answers import Answers, Header
from mlcli.metrics.base import Summary, distinct, joined
from mlcli.metrics.intervals import effective_rows, replicates, resamples_for, wald, weightings, wilson
from mlcli.metrics.over_units import share_of_ties
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.metrics.making import drawn_labels, drawn_values, folds_of, label_answers, number, score, value_answers


def summary_of(name: str, splits: list[Answers], train: int = 100, pooled: bool = False) -> Summary:
    return summarise(metric_named(name, type(splits[0])), splits, [train] * len(splits), pooled)


def test_accuracy_of_iris_has_the_wilson_interval_of_its_150_rows() -> None:
    """144 of 150 right; scipy's Wilson interval is the oracle, of 0.8 of a row for each."""
    right = np.ones(150, dtype=np.int32)
    right[::25] = 0
    answers = LabelAnswers(
        header=Header(rows=np.arange(150)),
        truth=np.ones(150, dtype=np.int32),
        predicted=right,
        classes=("no", "yes"),
    )
    found = summary_of("accuracy", folds_of(answers, 10), train=135)
    fresh, oracle = summary_of("accuracy", [answers]), stats.binomtest(144, 150).proportion_ci(method="wilson")
    assert (fresh.mean, fresh.low, fresh.high) == pytest.approx((0.96, oracle.low, oracle.high))
    assert (round(oracle.low, 3), round(oracle.high, 3)) == (0.915, 0.982)
    fewer = wilson(0.96, 0.8 * 150)
    assert (found.mean, found.low, found.high) == pytest.approx((0.96, fewer.low, fewer.high))
    assert found.std == pytest.approx(np.std([value or 0.0 for value in found.splits], ddof=1))
    assert (found.interval, found.units, found.trust) == ("Wilson over 150 distinct rows", "rows", 0.8)


def test_judging_rows_again_does_not_narrow_the_interval() -> None:
    folds = folds_of(drawn_labels(3, rows=60), 5)
    for name in ("accuracy", "log-loss", "f1-macro", "auc"):
        once, thrice = summary_of(name, folds, train=48), summary_of(name, folds * 3, train=48)
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
    """The formula of the paper, with scipy's t: variance (1/J + n_test/n_train), of few training rows."""
    folds = folds_of(drawn_labels(3, rows=150), 10)
    found = summary_of("f1-macro", folds, train=100)
    values = [number("f1-macro", fold) for fold in folds]
    error = np.std(values, ddof=1) * np.sqrt(1 / 10 + 15 / 100)
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


def test_rmse_has_its_interval_from_squared_errors_on_the_scale_of_logarithms() -> None:
    """The delta method by hand, with scipy's t: log mse ± t s / (√n mse), 1/√n longer above, and the roots."""
    answers = drawn_values(rows=400)
    found, squares = summary_of("rmse", [answers]), (answers.predicted - answers.truth) ** 2
    reach = stats.t.ppf(0.975, 399) * stats.sem(squares) / squares.mean()
    ends = np.exp((np.log(squares.mean()) + np.array([-reach, reach * (1 + 1 / 20)])) / 2)
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert found.interval == "t over 400 rows, on the scale of logarithms"


@pytest.mark.parametrize(("errors", "wide"), [([20.0, 0.1], True), ([2.0, 1.5], False), ([20.0, 0.1, 0.1], False)])
def test_an_interval_to_a_thousand_times_the_score_is_none(errors: list[float], wide: bool) -> None:
    """SciPy's t by hand, on the scale of logarithms, of the mean of squares."""
    squares = np.square(errors)
    reach = stats.t.ppf(0.975, len(errors) - 1) * stats.sem(squares) / squares.mean()
    assert wide == (np.exp(reach) > 1000)
    found = summary_of("mse", [value_answers([0.0] * len(errors), errors)])
    assert found.mean == pytest.approx(squares.mean())
    assert (found.high is None) == wide
    assert wide == found.interval.startswith("none: a mean of so few may be 1,000 times as large")


@pytest.mark.parametrize("name", ["rmse", "r2", "median-absolute-error"])
def test_intervals_of_values_are_as_wide_as_the_bootstraps(name: str) -> None:
    """Up to a ninth, by which those on the scale of logarithms are longer."""
    answers = drawn_values(rows=400)
    found, resampled = summary_of(name, [answers]), replicates(metric_named(name, ValueAnswers), answers)
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / (high - low) == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("name", ["f1-macro", "balanced-accuracy", "mcc", "kappa", "recall[b]", "auc[a]"])
def test_intervals_of_class_averages_are_as_wide_as_the_bootstraps(name: str) -> None:
    answers = drawn_labels(3, rows=600)
    found, resampled = summary_of(name, [answers]), replicates(metric_named(name, LabelAnswers), answers)
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / (high - low) == pytest.approx(1, abs=0.1)


def test_an_area_has_delongs_interval_on_the_scale_of_odds() -> None:
    """The placements of DeLong, DeLong & Clarke-Pearson by hand, with half a row more of each class as bad as the
    worst, and their error carried to log odds."""
    answers = drawn_labels(2, rows=400)
    wins, area = wins_and_area(answers)
    placed = [wins.mean(axis=1), wins.mean(axis=0)]
    full = 200 / 200.5
    worst = [full * (of_class.min() - area) ** 2 / 2 for of_class in placed]
    variance = full**2 * sum(
        of_class.var() / 200 + far / 200**2 for of_class, far in zip(placed, worst, strict=True)
    )
    error = np.sqrt(variance * 400 / 399) / (area * (1 - area))
    found = summary_of("auc", [answers])
    assert found.low is not None
    assert found.high is not None
    ends = special.logit([found.low, found.high])
    assert ends.mean() == pytest.approx(special.logit(area))
    freedom = 2 * 199  # Welch & Satterthwaite, of two classes with nearly one variance
    assert np.diff(ends) / 2 == pytest.approx(stats.t.ppf(0.975, freedom) * error, rel=1e-3)


def test_scores_that_tie_say_nothing_of_an_area() -> None:
    answers = drawn_labels(2, rows=400)
    rankings = metric_named("auc", LabelAnswers).rankings
    assert rankings is not None
    assert share_of_ties(rankings(answers)) == pytest.approx((wins_and_area(answers)[0] == 0.5).mean())
    alike = replace(answers, probabilities=np.full((400, 2), 0.5))
    found = summary_of("auc", folds_of(alike, 10), train=360)
    assert (found.mean, found.low) == (0.5, None)
    assert "all scores tie" in found.interval


def test_an_area_of_classes_of_one_row_each_has_no_interval() -> None:
    found = summary_of("auc", [drawn_labels(9, rows=9)], train=6)
    assert found.mean is not None
    assert found.low is None
    assert found.interval == "none: only 1 of the test rows is of one class"


def wins_and_area(answers: LabelAnswers) -> tuple[np.ndarray[Any, Any], float]:
    assert answers.probabilities is not None
    scores, positive = answers.probabilities[:, 1], answers.truth == 1
    wins = np.sign(scores[positive][:, None] - scores[~positive][None, :]) / 2 + 0.5
    return wins, float(wins.mean())


def test_perfect_splits_have_an_interval_where_rows_of_several_are_ranked_wrong() -> None:
    """Each split ranks its rows right, the scores of one are below those of the other: area 1, of all rows 3/4."""
    folds: list[Answers] = [
        label_answers("aabb", "aabb", "ab", probabilities=[(0.9, 0.1), (0.9, 0.1), (0.7, 0.3), (0.7, 0.3)]),
        label_answers(
            "aabb", "aabb", "ab", probabilities=[(0.6, 0.4), (0.6, 0.4), (0.1, 0.9), (0.1, 0.9)], first_row=4
        ),
    ]
    assert wins_and_area(joined(folds))[1] == 0.75
    found = summary_of("auc", folds, train=4)
    assert (found.mean, found.high) == (1, 1)
    assert found.low is not None
    assert found.low < 0.75
    one_by_one = summary_of("auc", [joined(folds)])
    assert one_by_one.low is not None
    assert found.low < one_by_one.low


def test_groups_are_the_units_of_an_interval() -> None:
    """Rows of a group that all say the same are no more rows: scipy's t interval of 40 group means."""
    answers = drawn_values(rows=40)
    truth, said = (np.repeat(values, 5).tolist() for values in (answers.truth, answers.predicted))
    grouped = value_answers(truth, said).with_header(group=np.repeat(np.arange(40, dtype=np.int32), 5))
    found = summary_of("mae", [grouped])
    low, high = stats.ttest_1samp(abs(answers.predicted - answers.truth), 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.interval == "t over 40 groups"
    labels = drawn_labels(2, rows=40)
    again = joined([labels.take(np.repeat(np.arange(40), 5)).with_header(rows=np.arange(200))])
    found = summary_of("accuracy", [again.with_header(group=np.repeat(np.arange(40, dtype=np.int32), 5))])
    alone = summary_of("accuracy", [labels])
    assert found.low is not None
    assert alone.low is not None
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=0.01)


def test_groups_that_score_the_same_but_for_rounding_are_as_many_rows_as_groups() -> None:
    """Wilson's formula with SciPy's quantile of t: 30 groups say no more than 30 rows, and are no certainty."""
    answers = label_answers("aabbbb" * 30, "aabbaa" * 30, "ab")
    answers = answers.with_header(group=np.repeat(np.arange(30, dtype=np.int32), 6))
    t2 = stats.t.ppf(0.975, 29) ** 2
    reach = np.sqrt(t2 * (2 / 9 / 30 + t2 / 3600)) / (1 + t2 / 30)
    accuracy, f1 = summary_of("accuracy", [answers]), summary_of("f1-macro", [answers])
    assert (accuracy.high or 0) - (accuracy.low or 0) == pytest.approx(2 * reach)
    assert (f1.high or 0) - (f1.low or 0) > reach


def test_two_groups_of_a_class_that_are_right_are_no_certainty() -> None:
    answers = label_answers("aa", "aa", "abcd").with_header(group=np.array([0, 1], np.int32))
    found = summary_of("precision", [answers])
    assert found.low is not None
    assert found.low < 0.2


def test_errors_that_are_all_the_same_but_for_rounding_have_no_interval() -> None:
    truth = np.random.default_rng(2).normal(size=50)
    found = summary_of("mae", [value_answers(truth.tolist(), (truth + 0.1).tolist())])
    assert (found.low, found.high) == (None, None)


def test_large_groups_have_most_of_an_error() -> None:
    """Kish's number: of 40 groups, 4 of 20 rows and 36 of 1 are worth (4 · 20 + 36)² / (4 · 20² + 36) = 8.2."""
    sizes = np.array([20] * 4 + [1] * 36)
    truth, said = np.random.default_rng(5).normal(size=(2, int(sizes.sum())))
    group = np.repeat(np.arange(40, dtype=np.int32), sizes)
    found = summary_of("mae", [value_answers(truth.tolist(), said.tolist()).with_header(group=group)])
    assert found.interval == "t over 40 groups, worth 8.2 of one size"


@pytest.mark.parametrize(
    ("splits", "learned", "trust"), [(5, 48, 0.67), (60, 59, 0.64), (1, 140, 0.9), (1, 0, 1.0)]
)
def test_unstable_methods_count_rows_for_less_but_where_they_are_saved(
    splits: int, learned: int, trust: float
) -> None:
    answers = drawn_labels(3, rows=60)
    judged = folds_of(answers, splits) if splits > 1 else [answers]
    metric = metric_named("accuracy", LabelAnswers)
    found = summarise(metric, judged, [learned] * splits, unstable=True)
    oracle = wilson(found.mean or 0.0, trust * 60)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))


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
    metric = metric_named("mcc", LabelAnswers)
    first = replicates(metric, answers)
    assert np.array_equal(replicates(metric, answers.take(np.arange(50))), first)
    assert not np.array_equal(replicates(metric, answers.with_header(rows=answers.rows + 1)), first)


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


def test_no_interval_has_no_width() -> None:
    """At the ceiling a rate has Wilson's interval, and an area none; so has an error where none was seen."""
    sure = [(0.9, 0.1), (0.1, 0.9)] * 20
    perfect = folds_of(label_answers("ab" * 20, "ab" * 20, "ab", probabilities=sure), 4)
    for splits, trust in ((perfect, 0.8), (perfect[:1], 1.0)):
        rows = trust * sum(map(len, splits))
        found = summary_of("accuracy", splits, train=30)
        assert (found.mean, found.low, found.high) == (1, wilson(1, rows).low, 1)
        found = summary_of("f1-macro", splits, train=30)
        assert found.low is not None
        assert 0.4 < found.low < 0.95
        found = summary_of("auc", splits, train=30)
        assert (found.mean, found.low, found.high) == (1, None, None)
        assert found.interval.startswith("none: at 1 no error was seen")
    exact = summary_of("rmse", [value_answers([1, 2, 3], [1, 2, 3])])
    assert (exact.mean, exact.low, exact.high) == (0, None, None)


@pytest.mark.parametrize("weight", [None, [1000.0, 1.0, 1.0, 1.0]])
@pytest.mark.parametrize("name", ["f1-macro", "balanced-accuracy", "log-loss", "brier"])
def test_one_row_or_one_that_outweighs_all_others_has_no_interval(name: str, weight: list[float] | None) -> None:
    answers = drawn_labels(2, rows=4 if weight else 1, seed=3)
    found = summary_of(name, [answers.with_header(weight=None if weight is None else np.array(weight))])
    assert found.mean is not None
    assert (found.low, found.high) == (None, None)


def test_one_row_has_a_value_but_no_t_interval() -> None:
    found = summary_of("bias", [value_answers([1], [3])])
    assert (found.mean, found.low, found.high) == (2, None, None)
    assert found.interval.startswith("none: one value has no spread")


def test_an_area_of_two_classes_needs_both_in_every_split() -> None:
    folds: list[Answers] = [
        label_answers("ab", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)]),
        label_answers("aa", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)], first_row=2),
    ]
    found = summary_of("auc", folds)
    assert (found.mean, found.splits) == (None, (1.0, None))
    assert found.why.startswith("undefined in 1 of 2 splits: only one class among the test rows")


def test_averages_over_classes_need_three_rows_of_each_a_split() -> None:
    two, three = (folds_of(drawn_labels(2, rows=rows), 10) for rows in (40, 60))
    found = summary_of("f1-macro", two)
    assert found.mean == score("f1-macro", joined(two))
    assert found.marks == ("taken over all splits at once, since a has fewer than 3 rows a split",)
    assert summary_of("f1-macro", three).mean == pytest.approx(np.mean([number("f1-macro", one) for one in three]))


def test_splits_of_one_and_two_rows_are_said_not_to_count_by_rows() -> None:
    answers = drawn_labels(2, rows=14)
    uneven: list[Answers] = [answers.take(rows) for rows in np.array_split(np.arange(14), 10)]
    assert summary_of("accuracy", uneven).marks[0].startswith("splits of 1 to 2 rows count alike")
    assert not summary_of("accuracy", uneven[:4]).marks


def test_errors_with_heavy_tails_are_said() -> None:
    """The kurtosis of errors of 1 and -1 is 1; of 29 of them and one of 10 it is 17 (scipy)."""
    even = value_answers([0.0] * 30, [1.0, -1.0] * 15)
    odd = value_answers([0.0] * 30, [1.0, -1.0] * 14 + [1.0, 10.0])
    assert stats.kurtosis(odd.predicted, fisher=False) > 16
    assert not summary_of("rmse", [even]).marks
    assert summary_of("rmse", folds_of(odd, 5)).marks[0].startswith("errors have heavy tails")


def test_r2_is_of_all_rows_of_a_round() -> None:
    folds = folds_of(drawn_values(rows=60), 10)
    found = summary_of("r2", folds * 2, train=54)
    assert found.mean == pytest.approx(number("r2", joined(folds)))
    assert found.splits == pytest.approx([number("r2", fold) for fold in folds] * 2)


def test_one_undefined_split_leaves_no_mean_but_the_other_values() -> None:
    folds: list[Answers] = [
        label_answers("abb", "abb", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8), (0.2, 0.8)]),
        label_answers("aa", "ab", "ab", probabilities=[(0.9, 0.1), (0.2, 0.8)], first_row=3),
    ]
    found = summary_of("auc", folds)
    assert (found.mean, found.std, found.low, found.high) == (None, None, None, None)
    assert found.splits == (1.0, None)
    assert found.why.startswith("undefined in 1 of 2 splits: only one class among the test rows")
    assert "stratified" in found.why


def test_several_reasons_are_counted() -> None:
    folds: list[Answers] = [
        label_answers(truth, predicted, "ab") for truth, predicted in (("ab", "aa"), ("ab", "bb"), ("aa", "ab"))
    ]
    why = summary_of("mcc", folds).why
    assert why.startswith(
        "undefined in 3 of 3 splits: the same class is predicted for every row (2), only one class"
    )


def test_pooled_and_undefined_says_why() -> None:
    found = summary_of("r2", folds_of(value_answers([1, 1, 1], [1, 2, 3]), 3), pooled=True)
    assert (found.mean, found.splits, found.why) == (
        None,
        (None, None, None),
        "the test rows all have the same value",
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
    assert summarise(metric, [], []).why == "no split has predictions"


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
