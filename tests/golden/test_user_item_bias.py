"""Biases beside scikit-learn: a ridge regression on one 0/1 column per user and item; and exact small cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.tasks.recommendation import Ratings
from tests.golden.asking import asked, fitted
from tests.support.ratings import ITEMS, USERS, drawn, halves, ratings


def one_hot(data: Ratings) -> np.ndarray:
    return np.column_stack([np.eye(USERS)[data.users], np.eye(ITEMS)[data.items]])


@pytest.mark.parametrize("l2", [0.1, 5.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_ridge_regression_of_scikit_learn(l2: float, weighted: bool) -> None:
    train, test = halves(drawn())
    weight = np.random.default_rng(0).random(len(train)) if weighted else np.ones(len(train))
    given = ratings(train.users.tolist(), train.items.tolist(), train.y.tolist(), weight if weighted else None)
    mean = np.average(train.y, weights=weight)
    peer = Ridge(alpha=l2, fit_intercept=False, solver="cholesky")
    peer.fit(one_hot(train), train.y - mean, sample_weight=weight)
    theirs = mean + peer.predict(one_hot(test))
    assert asked(fitted(UserItemBias(l2=l2), given), test).predicted == pytest.approx(theirs, abs=1e-9)


def test_without_a_penalty_it_is_least_squares() -> None:
    train, test = halves(drawn(rows=500))
    solution = np.linalg.lstsq(one_hot(train), train.y - train.y.mean(), rcond=None)[0]
    theirs = train.y.mean() + one_hot(test) @ solution
    assert asked(fitted(UserItemBias(l2=0.0), train), test).predicted == pytest.approx(theirs, abs=1e-7)


def test_one_user_and_one_item_by_hand() -> None:
    # Ratings 1 and 5 of item 0, mean 3. Symmetry: the item's bias is 0, the users' are ∓2 / (1 + l2).
    data = ratings([0, 1], [0, 0], [1.0, 5.0])
    model = fitted(UserItemBias(l2=1.0), data)
    assert model.user_bias_ == pytest.approx([-1.0, 1.0, 0.0], abs=1e-12)
    assert model.predict_values(data.table) == pytest.approx([2.0, 4.0], abs=1e-12)


def test_who_is_not_known_is_answered_by_what_is() -> None:
    data = ratings([0, 1], [0, 1], [1.0, 5.0])
    model = fitted(UserItemBias(l2=1.0), data)
    half_known = ratings([-1, 0, -1], [1, -1, -1], [3.0, 3.0, 3.0], known=1)
    answers = asked(model, half_known)
    expected = [3 + model.item_bias_[1], 3 + model.user_bias_[0], 3.0]
    assert answers.predicted == pytest.approx(expected, abs=1e-12)
    assert answers.cold.all()
