"""Alternating least squares: each half is ridge regressions of scikit-learn, and the loss never rises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mlcli.models.recommendation.matrix_factorisation import MatrixFactorisation
from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.tasks.recommendation import Ratings
from tests.golden.asking import asked, fitted
from tests.support.ratings import drawn, halves, ratings


def factors_of(model: Any) -> tuple[Any, Any]:
    """Users and items without the entry for those that are not known."""
    return model.users_[:-1], model.items_[:-1]


def loss(model: Any, data: Ratings, l2: float) -> float:
    """The definition, written as a loop over ratings."""
    users, items = factors_of(model)
    squares = sum(
        (y - model.mean_ - users[u, 0] - items[i, 0] - sum(users[u, 1:] * items[i, 1:])) ** 2
        for u, i, y in zip(data.users, data.items, data.y, strict=True)
    )
    return float(squares + l2 * ((users**2).sum() + (items**2).sum()))


@pytest.mark.parametrize("l2", [0.05, 2.0])
def test_each_item_is_the_ridge_regression_of_scikit_learn_given_the_users(l2: float) -> None:
    data = drawn(traits=2)
    model = fitted(MatrixFactorisation(factors=3, l2=l2, rounds=4), data)
    users, items = factors_of(model)
    for item in range(len(items)):
        mine = data.items == item
        design = np.column_stack([np.ones(mine.sum()), users[data.users[mine], 1:]])
        left = data.y[mine] - data.y.mean() - users[data.users[mine], 0]
        peer = Ridge(alpha=l2, fit_intercept=False, solver="cholesky").fit(design, left)
        assert items[item] == pytest.approx(peer.coef_, abs=1e-9)


def test_each_user_solves_its_own_normal_equations_given_the_items_of_the_round_before() -> None:
    data = drawn(traits=2)
    before = fitted(MatrixFactorisation(factors=2, l2=1.0, rounds=3), data)
    after = fitted(MatrixFactorisation(factors=2, l2=1.0, rounds=4), data)
    items = factors_of(before)[1]
    for user, found in enumerate(factors_of(after)[0]):
        mine = data.users == user
        X = np.column_stack([np.ones(mine.sum()), items[data.items[mine], 1:]])
        left = data.y[mine] - data.y.mean() - items[data.items[mine], 0]
        assert (X.T @ X + np.eye(3)) @ found == pytest.approx(X.T @ left, abs=1e-9)


@pytest.mark.parametrize("l2", [0.01, 1.0, 50.0])
def test_the_loss_is_what_it_says_and_never_rises(l2: float) -> None:
    data = drawn(traits=3)
    losses = []
    for rounds in (1, 2, 5, 20):
        model = fitted(MatrixFactorisation(factors=4, l2=l2, rounds=rounds), data)
        losses.append(loss(model, data, l2))
        assert model.losses_[-1] == pytest.approx(losses[-1], rel=1e-12)
    assert (np.diff(model.losses_) <= 1e-12 * model.losses_[:-1]).all()
    assert losses[0] > losses[-1]


def test_with_a_penalty_that_no_factor_survives_it_is_the_biases_alone() -> None:
    # With l2 above the largest singular value of the residuals the best factors are 0 (Srebro et al. 2005).
    train, test = halves(drawn())
    heavy = 200.0
    biases = asked(fitted(UserItemBias(l2=heavy), train), test).predicted
    found = asked(fitted(MatrixFactorisation(l2=heavy, rounds=60), train), test).predicted
    assert found == pytest.approx(biases, abs=1e-9)


def test_it_finds_one_trait_again() -> None:
    train, test = halves(drawn(rows=590))
    answers = asked(fitted(MatrixFactorisation(factors=1, l2=0.05, rounds=30), train), test)
    plain = asked(fitted(UserItemBias(l2=0.05), train), test)
    assert np.sqrt(np.mean((answers.predicted - answers.truth) ** 2)) < 0.25  # the noise is 0.1
    assert np.sqrt(np.mean((plain.predicted - plain.truth) ** 2)) > 0.6


def test_a_single_rating_is_answered_with_itself() -> None:
    data = ratings([0], [0], [4.0], known=2)
    answered = fitted(MatrixFactorisation(), data).predict_values(data.table)
    assert answered == pytest.approx([4.0], abs=1e-12)


def test_ratings_solved_in_small_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = drawn(traits=2)
    whole = fitted(MatrixFactorisation(factors=2), data)
    monkeypatch.setattr("mlcli.models.recommendation.matrix_factorisation.BLOCK_CELLS", 100)
    blocked = fitted(MatrixFactorisation(factors=2), data)
    assert np.array_equal(whole.users_, blocked.users_)
    assert np.array_equal(whole.items_, blocked.items_)
