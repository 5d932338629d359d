"""The mean of all ratings, beside NumPy; the lists of what is rated most, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.models.recommendation.global_mean import GlobalMean
from tests.golden.asking import asked, fitted
from tests.support.ratings import drawn, halves, ratings


def test_it_answers_the_weighted_mean_of_numpy_whoever_is_asked_about_whatever() -> None:
    train, test = halves(drawn())
    weight = np.random.default_rng(0).random(len(train))
    weighted = ratings(train.users.tolist(), train.items.tolist(), train.y.tolist(), weight.tolist())
    answers = asked(fitted(GlobalMean(), weighted), test)
    assert answers.predicted == pytest.approx(np.full(len(test), np.average(train.y, weights=weight)), abs=1e-12)


def test_its_lists_hold_what_most_have_rated_and_the_user_has_not() -> None:
    # By hand: item 2 has three ratings, item 0 two, item 1 and item 3 one each, item 4 none.
    train = ratings([0, 1, 2, 0, 1, 2, 0], [2, 2, 2, 0, 0, 1, 3], [1, 5, 3, 3, 3, 3, 3], known=4)
    asked_for = ratings([0, 1, 2, 3], [0, 0, 0, 0], [3, 3, 3, 3], known=4)
    top = fitted(GlobalMean(), train).top_items(asked_for.table)
    assert [[item for item in row if item >= 0] for row in top.tolist()] == [[1], [1, 3], [0, 3], [2, 0, 1, 3]]


def test_it_says_the_mean_and_how_full_the_table_of_users_and_items_is() -> None:
    (section,) = fitted(GlobalMean(), ratings([0, 1, 2], [0, 0, 1], [1, 2, 3])).explain()
    assert section.lines == ("stars = 2", "3 users × 2 items, 50.00% of them rated")
