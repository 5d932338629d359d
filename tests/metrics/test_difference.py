"""Tests of difference between two models on the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mlcli.core.answers import Answers
from mlcli.metrics.difference import Difference, compare, holm, wald_plus_two
from mlcli.metrics.intervals import replicates
from mlcli.metrics.registry import metric_named
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import drawn_labels, drawn_values, folds_of, label_answers, number, value_answers


def compared(
    name: str, a: list[Any], b: list[Any], train: int = 100, pooled: bool = False, unstable: bool = False
) -> Difference:
    """One split is one of saved models, which learned from no row here."""
    learned = [train] * len(a) if len(a) > 1 else [0]
    return compare(metric_named(name, type(a[0])), a, b, learned, pooled, unstable=unstable)


def _two_models(rows: int = 150, weighted: bool = False) -> tuple[Any, Any]:
    good, poor = (drawn_labels(3, rows=rows, weighted=weighted, skill=skill) for skill in (1.5, 0.3))
    return good, poor


def test_splits_are_compared_by_nadeau_and_bengios_t() -> None:
    """The formula of the paper, with scipy's t, where splits do not learn from all other rows."""
    good, poor = (folds_of(answers, 10) for answers in _two_models())
    found = compared("f1-macro", good, poor, train=100)
    gains = [number("f1-macro", a) - number("f1-macro", b) for a, b in zip(good, poor, strict=True)]
    error = np.std(gains, ddof=1) * np.sqrt(1 / 10 + 15 / 100)
    p = 2 * stats.t.sf(abs(np.mean(gains)) / error, 9)
    low, high = stats.t.interval(0.95, 9, loc=np.mean(gains), scale=error)
    assert (found.mean, found.low, found.high, found.p) == pytest.approx((np.mean(gains), low, high, p))
    assert found.test == "corrected resampled t over 10 splits"
    assert found.distinguishable == (p < 0.05)


def test_turning_the_two_round_turns_the_sign() -> None:
    good, poor = (folds_of(answers, 10) for answers in _two_models())
    for name in ("accuracy", "auc", "log-loss"):
        there, back = compared(name, good, poor), compared(name, poor, good)
        assert (there.mean, there.low, there.p) == pytest.approx((-back.mean, -back.high, back.p))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("repeats", "name", "unstable", "doubt"),
    [
        (1, "accuracy", False, 1.75),
        (1, "log-loss", True, 2.0),
        (3, "brier", False, 1.4),
        (3, "accuracy", True, 2.0),
    ],
)
def test_folds_are_compared_by_their_rows(repeats: int, name: str, unstable: bool, doubt: float) -> None:
    """SciPy's t-test of the row means of differences, with more than the variance."""
    rounds = [
        (drawn_labels(3, rows=150, seed=1, skill=1.5), _twin(1, 0.3, repeat, rows=150))
        for repeat in range(repeats)
    ]
    good, poor = ([fold for round_ in rounds for fold in folds_of(round_[place], 10)] for place in (0, 1))
    found = compared(name, good, poor, train=135, unstable=unstable)
    per_row = metric_named(name, LabelAnswers).per_row
    assert per_row is not None
    gains = np.mean([per_row(a) - per_row(b) for a, b in rounds], axis=0)
    oracle = stats.ttest_1samp(gains, 0)
    assert found.mean == pytest.approx(gains.mean())
    assert found.p == pytest.approx(2 * stats.t.sf(abs(oracle.statistic) / np.sqrt(doubt), 149))
    assert found.test == f"paired t over 150 rows, variance × {doubt}"


def test_one_split_that_has_taught_both_is_trusted_less() -> None:
    good, poor = _two_models()
    metric = metric_named("accuracy", LabelAnswers)
    saved, taught = (compare(metric, [good], [poor], [rows]) for rows in (0, 300))
    assert (taught.high or 0) - (taught.low or 0) == pytest.approx(
        1.25**0.5 * ((saved.high or 0) - (saved.low or 0))
    )


@pytest.mark.parametrize("name", ["f1-macro", "auc", "mcc"])
def test_the_error_of_a_difference_is_that_of_the_bootstrap(name: str) -> None:
    """Resampled rows give the difference the same standard error (Efron 1979)."""
    good, poor = _two_models()
    metric = metric_named(name, LabelAnswers)
    found = compared(name, [good], [poor])
    resampled = np.std(replicates(metric, good) - replicates(metric, poor), ddof=1)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / (2 * stats.t.ppf(0.975, 149)) == pytest.approx(resampled, rel=0.1)


def test_groups_are_what_is_compared() -> None:
    """SciPy's t-test of the mean gains of 40 groups; the rows of a group all say the same."""
    group = np.repeat(np.arange(40, dtype=np.int32), 5)
    answers = drawn_values(rows=40)
    worse = answers.predicted + np.random.default_rng(5).normal(0.3, 2, 40)
    a, b = (
        value_answers(np.repeat(answers.truth, 5).tolist(), np.repeat(said, 5).tolist()).with_header(group=group)
        for said in (answers.predicted, worse)
    )
    found = compared("mae", [a], [b])
    oracle = stats.ttest_rel(abs(answers.predicted - answers.truth), abs(worse - answers.truth))
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.test == "paired t over 40 groups"


def test_few_groups_are_compared_by_splits() -> None:
    group = np.repeat(np.arange(10, dtype=np.int32), 15)
    good, poor = (folds_of(answers.with_header(group=group), 5) for answers in _two_models())
    assert compared("accuracy", good, poor, train=120).test == "corrected resampled t over 5 splits"


@pytest.mark.parametrize("name", ["accuracy", "error-rate"])
def test_mcnemars_exact_test_is_made_on_request(name: str) -> None:
    """scipy's binomial test of the rows on which the two disagree."""
    good, poor = _two_models()
    found = compare(metric_named(name, LabelAnswers), [good], [poor], [100], test="mcnemar")
    right, wrong = good.predicted == good.truth, poor.predicted == poor.truth
    more, less = int((right & ~wrong).sum()), int((~right & wrong).sum())
    assert found.p == pytest.approx(stats.binomtest(more, more + less).pvalue)
    assert found.test == "exact McNemar over 150 rows"
    assert found.low is not None
    assert found.mean is not None
    assert found.high is not None
    assert found.low < found.mean < found.high


def test_dietterichs_test_is_made_on_request() -> None:
    """His formula by hand: the first difference by the root of the mean variance within five rounds, t of 5."""
    good, poor = (folds_of(answers, 2) * 5 for answers in _two_models())
    metric = metric_named("accuracy", LabelAnswers)
    found = compare(metric, good, poor, [75] * 10, test="5x2")
    gains = [number("accuracy", a) - number("accuracy", b) for a, b in zip(good, poor, strict=True)]
    error = np.sqrt(np.mean([np.var(gains[:2], ddof=1)] * 5))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(gains[0]) / error, 5))
    refused = compare(metric, good[:4], poor[:4], [75] * 4, test="5x2")
    assert refused.why.startswith("the 5 × 2 test needs five repeats of two folds")


def test_the_interval_of_paired_shares_is_agresti_and_mins() -> None:
    """Worked by hand from their formula: b = 12, c = 2, n = 40, centre 10/42, sd sqrt(15 - 100/42)/42."""
    found = wald_plus_two(12, 2, 40)
    error = 1.959963984540054 * np.sqrt(15 - 100 / 42) / 42
    assert (found.low, found.high) == pytest.approx((10 / 42 - error, 10 / 42 + error))
    assert (wald_plus_two(5, 0, 5).high, wald_plus_two(0, 5, 5).low) == (1.0, -1.0)


def test_weighted_shares_are_compared_as_means_of_rows() -> None:
    good, poor = _two_models(weighted=True)
    found = compared("accuracy", [good], [poor])
    assert found.test == "paired t over 121.1 effective rows (weighted)"  # Kish's number
    assert found.mean == pytest.approx(number("accuracy", good) - number("accuracy", poor))


def test_one_split_of_row_means_is_a_paired_t_test() -> None:
    """scipy's paired t-test of the absolute errors."""
    a, b = drawn_values(seed=1), drawn_values(seed=1)
    b = replace(b, predicted=b.predicted + np.random.default_rng(5).normal(0, 2, len(b)))
    found = compared("mae", [a], [b])
    oracle = stats.ttest_rel(abs(a.predicted - a.truth), abs(b.predicted - b.truth))
    interval = oracle.confidence_interval()
    assert (found.p, found.low, found.high) == pytest.approx((oracle.pvalue, interval.low, interval.high))
    assert found.test == "paired t over 200 rows"


def test_the_rest_is_a_paired_bootstrap() -> None:
    a, b = drawn_values(seed=1), drawn_values(seed=1)
    b = replace(b, predicted=b.predicted + np.random.default_rng(5).normal(0, 9, len(b)))
    found = compared("median-absolute-error", folds_of(a, 200), folds_of(b, 200), train=199, pooled=True)
    assert found.test == "paired bootstrap over 200 rows"
    assert found.distinguishable
    assert found.p is not None
    assert found.p >= 2 / 1001  # so many resamples cannot say less


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("name", ["accuracy", "f1-macro", "log-loss"])
def test_a_model_is_not_distinguishable_from_itself(name: str, pooled: bool) -> None:
    folds = folds_of(drawn_labels(3), 10)
    found = compared(name, folds, folds, pooled=pooled)
    assert (found.mean, found.p, found.distinguishable) == (0, 1, False)


def test_chance_is_rarely_called_a_difference() -> None:
    """Two models of equal skill on 60 sets of rows: at 5 % few are called different, and with a skill all are."""
    alike = [
        compared("accuracy", folds_of(drawn_labels(3, seed=seed), 10), folds_of(_twin(seed, 0.6), 10), train=180)
        for seed in range(60)
    ]
    assert sum(found.distinguishable for found in alike) <= 6
    apart = [
        compared("accuracy", folds_of(drawn_labels(3, seed=seed), 10), folds_of(_twin(seed, 3), 10), train=180)
        for seed in range(10)
    ]
    assert all(found.distinguishable for found in apart)


def _twin(seed: int, skill: float, repeat: int = 0, rows: int = 200) -> Any:
    """Other answers to the same rows."""
    asked = drawn_labels(3, rows=rows, seed=seed)
    other = drawn_labels(3, rows=rows, seed=seed + 1000 + repeat, skill=skill)
    order = np.argsort(other.truth, kind="stable")[np.argsort(np.argsort(asked.truth, kind="stable"))]
    return other.take(order).with_header(rows=asked.rows)


@pytest.mark.parametrize("splits", [5, 10])
def test_splits_that_all_differ_alike_are_compared_by_their_rows(splits: int) -> None:
    """A perfect model beside Zero-R on stratified folds: no spread, yet surely different."""
    truth = "abc" * 5 * splits
    perfect = folds_of(label_answers(truth, truth, "abc"), splits)
    zero = folds_of(label_answers(truth, "a" * len(truth), "abc"), splits)
    found = compared("accuracy", perfect, zero)
    assert found.mean == pytest.approx(2 / 3)
    assert found.p == pytest.approx(0, abs=1e-6)
    assert found.distinguishable
    assert found.test == f"paired t over {15 * splits} rows"
    assert found.why == "the splits all differ by the same amount, so the rows were tested"


def test_the_same_value_in_every_split_is_no_difference_whatever_the_rows() -> None:
    a = folds_of(label_answers("ab" * 20, "ab" * 19 + "aa", "ab"), 1) * 3
    b = folds_of(label_answers("ab" * 20, "bb" + "ab" * 19, "ab"), 1) * 3
    found = compared("accuracy", a, b)
    assert (found.mean, found.p, found.distinguishable) == (0, 1, False)
    assert found.why == "both have the same value in every split"


def test_rows_judged_again_do_not_make_a_difference_surer() -> None:
    truth = "ab" * 4
    a, b = label_answers(truth, truth, "ab"), label_answers(truth, "abababaa", "ab")
    found = compared("accuracy", [a] * 10, [b] * 10)
    assert found.p == pytest.approx(stats.ttest_1samp([0] * 7 + [1], 0).pvalue)  # one row, however often
    assert not found.distinguishable


def test_a_spread_of_rounding_is_no_spread() -> None:
    a: list[Answers] = [value_answers([0.0], [far]) for far in (0.3, 0.1 + 0.2, 0.3)]
    b: list[Answers] = [value_answers([0.0], [0.0]) for _ in range(3)]
    assert compared("bias", a, b).why.startswith("the splits all differ by the same amount")


@pytest.mark.parametrize("name", ["mae", "rmse", "median-absolute-error", "r2"])
@pytest.mark.parametrize("splits", [1, 5])
def test_a_model_that_is_fitted_in_two_ways_is_one_model(name: str, splits: int) -> None:
    """All errors of the second are larger in the fifteenth digit, for which a t or sign test has no doubt."""
    one = drawn_values(rows=60)
    other = replace(one, predicted=one.truth + (one.predicted - one.truth) * (1 + 1e-14))
    found = compared(name, folds_of(one, splits), folds_of(other, splits), train=48)
    assert found.mean == pytest.approx(0.0, abs=1e-12)
    assert found.p == 1.0


def test_two_groups_that_differ_alike_are_two_throws_of_a_coin() -> None:
    """Where one model is always right and the other never, both groups say so: p = 2 / 2²."""
    group = np.array([0, 0, 1, 1], np.int32)
    right, wrong = (label_answers("abab", said, "ab").with_header(group=group) for said in ("abab", "baba"))
    found = compared("f1-weighted", [right], [wrong])
    assert (found.mean, found.p) == pytest.approx((1.0, 0.5))


def test_one_row_cannot_be_tested() -> None:
    found = compared("bias", [value_answers([1], [2])], [value_answers([1], [4])])
    assert (found.mean, found.p, found.distinguishable) == (-2, None, False)
    assert found.why.startswith("none: one value has no spread")


def test_what_is_undefined_or_infinite_is_not_compared() -> None:
    sure, unsure = ([(0.0, 1.0)] * 2, [(0.5, 0.5)] * 2)
    a = label_answers("ab", "ab", "ab", probabilities=sure)
    b = label_answers("ab", "ab", "ab", probabilities=unsure)
    assert compared("log-loss", [a], [b]) == Difference(None, why="not defined for both: infinite")
    plain = label_answers("ab", "ab", "ab")
    found = compared("auc", [a, a], [plain, plain])
    assert (found.mean, found.why) == (None, "not defined for both: the model gives no probabilities")


def test_other_rows_or_splits_are_not_compared() -> None:
    a, b = drawn_labels(3, rows=10), drawn_labels(3, rows=10)
    assert compared("accuracy", [a], [b.take(np.arange(10)[::-1])]).why.startswith("the two were not tested on")
    assert compared("accuracy", [a], folds_of(b, 2)).mean is None


def test_holm_corrects_from_the_smallest_p_on() -> None:
    """Holm 1979 by hand: the sorted p times 4, 3, 2, 1, none below the one before it."""
    family = [Difference(0.1, p=p) for p in (0.01, 0.04, 0.03, 0.005)] + [Difference(None, why="untested")]
    assert [one.corrected for one in holm(family)] == pytest.approx([0.03, 0.06, 0.06, 0.02, None])
    assert [one.distinguishable for one in holm(family)] == [True, False, False, True, False]
