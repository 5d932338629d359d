"""Lists of recommendations: precision and recall by hand, and beside a plain loop; cold start is marked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from mlcli.core.errors import UsageError
from mlcli.metrics.base import Undefined
from mlcli.metrics.difference import compare
from mlcli.metrics.over_units import over_units
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.rankings import COLD, precision_under, recall_under
from mlcli.metrics.summary import summarise
from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.tasks.recommendation import RatingAnswers
from tests.golden.asking import asked, fitted
from tests.support.ratings import answers_with, drawn, halves


def score(name: str, answers: RatingAnswers) -> object:
    return metric_named(name, RatingAnswers).compute(answers)


def by_hand() -> RatingAnswers:
    """User 0 likes 1, 2, 3 and is offered 1, 2, 9; user 1 likes 4 and is offered 5; user 2 likes nothing."""
    lists = [[1, 2, 9], [1, 2, 9], [1, 2, 9], [1, 2, 9], [5], [5], [7]]
    liked = [True, True, True, False, True, False, False]
    return answers_with([0, 0, 0, 0, 1, 1, 2], [1, 2, 3, 9, 4, 5, 7], liked, lists)


def test_precision_and_recall_by_hand_are_means_over_the_users_who_like_something() -> None:
    assert score("precision-at-10", by_hand()) == pytest.approx((2 / 10 + 0 / 10) / 2)
    assert score("recall-at-10", by_hand()) == pytest.approx((2 / 3 + 0 / 1) / 2)


def test_shorter_lists_are_the_first_places_of_the_stored_ones() -> None:
    # User 0 likes 1, 2, 3 and is offered 1, 2, 9; user 1 is offered nothing that it likes.
    assert score("precision@1", by_hand()) == pytest.approx((1 + 0) / 2)
    assert score("precision@3", by_hand()) == pytest.approx((2 / 3 + 0) / 2)
    assert score("recall@1", by_hand()) == pytest.approx((1 / 3 + 0) / 2)
    assert score("recall@10", by_hand()) == score("recall-at-10", by_hand())
    with pytest.raises(UsageError, match="the lists hold 10 items"):
        metric_named("precision@11", RatingAnswers)


def test_an_item_that_a_user_has_rated_twice_counts_once() -> None:
    answers = by_hand()
    twice = answers.take(np.array([0, 0, 0, 1, 2, 3, 4, 5, 6]))
    for name in ("precision-at-10", "recall-at-10"):
        assert score(name, twice) == score(name, answers)
        assert score(name, answers.with_header(weight=np.array([3.0, 1, 1, 1, 1, 1, 1]))) == score(name, answers)


def test_a_row_of_weight_0_is_not_there() -> None:
    answers = by_hand().with_header(weight=np.array([1.0, 1, 0, 1, 0, 1, 1]))
    assert score("recall-at-10", answers) == score("recall-at-10", by_hand().take(np.array([0, 1, 3, 5, 6])))
    assert score("recall-at-10", answers) == 1.0


def test_a_user_judged_in_two_splits_has_two_lists() -> None:
    answers = answers_with([0, 0], [1, 2], [True, True], [[1], [1]])
    apart = answers_with([0, 0], [1, 2], [True, True], [[1], [2]])
    assert score("recall-at-10", answers) == 0.5
    assert score("recall-at-10", apart) == 1.0


def test_equal_lists_of_two_splits_are_two_of_which_neither_holds_what_is_liked() -> None:
    """By hand: three splits, of which one list in three has what its user likes."""
    answers = answers_with([0, 0, 0], [1, 2, 3], [True, True, True], [[1], [9], [9]])
    found = answers.judged_in(np.array([0, 1, 2], np.int32))
    assert score("recall-at-10", found) == pytest.approx(1 / 3)
    assert score("precision-at-10", found) == pytest.approx(1 / 30)


def test_where_nothing_is_liked_there_is_nothing_to_find() -> None:
    answers = replace(by_hand(), liked=np.zeros(7, bool))
    for name in ("precision-at-10", "recall-at-10"):
        assert isinstance(score(name, answers), Undefined)


def test_they_are_a_plain_loop_over_users_under_any_weighting() -> None:
    train, test = halves(drawn())
    answers = asked(fitted(UserItemBias(), train), test)
    weightings = np.random.default_rng(0).integers(0, 3, (20, len(test))).astype(float)
    for weighting, precision, recall in zip(
        weightings, precision_under(answers, weightings), recall_under(answers, weightings), strict=True
    ):
        some = answers.take(np.flatnonzero(weighting))
        hits, wishes = [], []
        for user in np.unique(some.user):
            mine = some.user == user
            liked = set(some.item[mine & some.liked].tolist())
            if liked:
                hits.append(len(liked & set(some.top[mine][0].tolist())))
                wishes.append(len(liked))
        assert precision == pytest.approx(np.mean(hits) / 10)
        assert recall == pytest.approx(np.mean(np.array(hits) / np.array(wishes)))


def test_errors_that_cold_rows_share_in_are_marked() -> None:
    warm = by_hand()
    cold = replace(warm, cold=np.array([True, *[False] * 6]))
    for name in ("rmse", "mae"):
        metric = metric_named(name, RatingAnswers)
        assert metric.marks is not None
        assert metric.marks(cold) == (COLD,)
        assert metric.marks(warm) == ()
        assert metric.marks(cold.with_header(weight=np.array([0.0, 1, 1, 1, 1, 1, 1]))) == ()


def with_errors(rng: np.random.Generator, users: int = 60, items: int = 50, apart: float = 0.5) -> RatingAnswers:
    """A quarter of all pairs, whose errors are of the user, of the item and of the row."""
    user, item = np.nonzero(np.random.default_rng(1).random((users, items)) < 0.25)
    of_user, of_item = rng.normal(0, apart, users)[user], rng.normal(0, apart, items)[item]
    plain = answers_with(user.tolist(), item.tolist(), [False] * len(user), [])
    return replace(plain, predicted=plain.truth + of_user + of_item + rng.normal(0, 1, len(user)))


def test_their_error_is_clustered_by_user_and_by_item_as_statsmodels_has_it() -> None:
    answers = with_errors(np.random.default_rng(3))
    found = over_units(metric_named("mae", RatingAnswers), [answers])
    values = np.abs(answers.predicted - answers.truth)
    clusters = {"groups": np.column_stack([answers.user, answers.item]), "use_correction": False}
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds=clusters)
    assert found is not None
    assert found.spread == pytest.approx(fit.cov_params()[0, 0])
    assert found.spread > 1.5 * np.var(values) / len(values)
    assert found.counted == "60 users and 50 items"


def test_where_nobody_is_known_rows_stand_alone() -> None:
    answers = with_errors(np.random.default_rng(3))
    nobody = np.full(len(answers), -1, np.int32)
    found = over_units(metric_named("mae", RatingAnswers), [replace(answers, user=nobody, item=nobody)])
    values = np.abs(answers.predicted - answers.truth)
    assert found is not None
    assert found.spread == pytest.approx(np.var(values) / len(values))
    assert found.count == pytest.approx(len(answers))


def test_intervals_hold_the_truth_of_other_users_and_items_and_equal_models_are_equal() -> None:
    """An error of variance 1.5 has these means; over rows alone 79 % of the intervals hold them."""
    truth = {"mae": np.sqrt(1.5 * 2 / np.pi), "rmse": np.sqrt(1.5)}
    rng, times = np.random.default_rng(1), 100
    held, apart = dict.fromkeys(truth, 0), 0
    for _ in range(times):
        one, other = with_errors(rng), with_errors(rng)
        for name, value in truth.items():
            found = summarise(metric_named(name, RatingAnswers), [one], [0])
            assert found.low is not None
            assert found.high is not None
            held[name] += found.low <= value <= found.high
        apart += compare(metric_named("mae", RatingAnswers), [one], [other], [0]).distinguishable
    assert min(held.values()) >= 0.9 * times
    assert apart <= 0.1 * times
