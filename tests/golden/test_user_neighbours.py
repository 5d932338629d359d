"""Recommenders by neighbourhood: a textbook's table, SciPy's similarities, and the loops that Surprise documents.

The table is 2.1 of Aggarwal 2016, Recommender Systems; its answers are printed with two or three digits. Both
are as they are quoted, not compared with a copy of the book; that one follows from the other is what is tested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from scipy.stats import pearsonr

from mlcli.models.recommendation.item_neighbours import ItemNeighbours
from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.models.recommendation.user_neighbours import UserNeighbours
from mlcli.tasks.recommendation import Ratings
from tests.golden.asking import asked, fitted
from tests.support.ratings import ITEMS, USERS, drawn, halves, ratings

NONE = np.nan
TABLE = np.array(
    [
        [7, 6, 7, 4, 5, 4],
        [6, 7, NONE, 4, 3, 4],
        [NONE, 3, 3, 1, 1, NONE],
        [1, 2, 2, 3, 3, 4],
        [1, NONE, 1, 2, 3, 3],
    ]
)
PLAIN: dict[str, Any] = {"shrinkage": 0.0, "centre": "none", "damping": 0.0}


def listed(table: Any) -> Ratings:
    """The known cells of a table as ratings."""
    users, items = np.nonzero(~np.isnan(table))
    return ratings(users.tolist(), items.tolist(), table[users, items].tolist())


def cell(model: Any, user: int, item: int) -> float:
    """The answer about one pair."""
    return float(model.rate(np.array([user]), np.array([item]))[0])


def test_cosines_of_users_are_those_of_the_textbook() -> None:
    model = fitted(UserNeighbours(similarity="cosine", **PLAIN), listed(TABLE))
    alike = model.similarities(2, model._sides())
    assert alike[[0, 1, 3, 4]] == pytest.approx([0.956, 0.981, 0.789, 0.645], abs=6e-4)


def test_adjusted_cosines_of_items_and_their_answers_are_those_of_the_textbook() -> None:
    model = fitted(ItemNeighbours(similarity="adjusted-cosine", k=2, **PLAIN), listed(TABLE))
    first, last = (model.similarities(item, model._sides()) for item in (0, 5))
    assert first[1:6] == pytest.approx([0.735, 0.912, -0.848, -0.813, -0.990], abs=6e-4)
    assert last[:5] == pytest.approx([-0.990, -0.622, -0.912, 0.829, 0.730], abs=6e-4)
    assert (cell(model, 2, 0), cell(model, 2, 5)) == pytest.approx((3.0, 1.0), abs=1e-12)


def test_answers_from_two_users_are_those_of_the_textbook() -> None:
    """With cosines instead of its correlations, whose means are over other ratings: the formulas by hand."""
    near = np.array([0.956, 0.981])
    plain = fitted(UserNeighbours(similarity="cosine", k=2, **PLAIN), listed(TABLE))
    assert cell(plain, 2, 0) == pytest.approx(near @ [7, 6] / near.sum(), abs=1e-3)
    assert cell(plain, 2, 5) == pytest.approx(4.0, abs=1e-12)
    means = fitted(UserNeighbours(similarity="cosine", k=2, **{**PLAIN, "centre": "mean"}), listed(TABLE))
    assert cell(means, 2, 0) == pytest.approx(2 + near @ [1.5, 1.2] / near.sum(), abs=1e-3)
    assert cell(means, 2, 5) == pytest.approx(2 + near @ [-1.5, -0.8] / near.sum(), abs=1e-3)


def similarity(one: Any, two: Any, how: str) -> float:
    """What SciPy says of common ratings."""
    both = ~np.isnan(one) & ~np.isnan(two)
    x, y = one[both], two[both]
    if how != "pearson":
        return 1 - float(cosine(x, y)) if len(x) and x.any() and y.any() else 0.0
    return float(pearsonr(x, y)[0]) if len(x) > 1 and np.ptp(x) and np.ptp(y) else 0.0


def surprise(table: Any, centres: Any, how: str, k: int, shrinkage: float, damping: float) -> Any:
    """Answers about every cell as Surprise's KNNBasic, KNNWithMeans and KNNBaseline have them, loop by loop.

    Whoever is as near as the k-th answers too, where Surprise takes the first of equals; ``damping``, which it has
    not, is what Bell & Koren 2007 add below the line.
    """
    everyone = range(len(table))
    less = {"adjusted-cosine": np.nanmean(table, axis=0), "residual": centres}.get(how, 0.0)
    shown = table - less
    answers = centres.copy()
    common = (~np.isnan(table)).astype(int) @ (~np.isnan(table)).astype(int).T
    for u in range(len(table)):
        shrunk = common[u] / (common[u] + shrinkage)
        alike = [similarity(shown[u], shown[v], how) * shrunk[v] for v in everyone]
        for i in range(table.shape[1]):
            raters = [v for v in everyone if v != u and not np.isnan(table[v, i]) and alike[v] > 1e-12]
            best = sorted((alike[v] for v in raters), reverse=True)[:k]
            nearest = [v for v in raters if alike[v] > best[-1] - 1e-12]
            if nearest:
                weights = np.array([alike[v] for v in nearest])
                away = weights @ [table[v, i] - centres[v, i] for v in nearest]
                answers[u, i] += away / (weights.sum() + damping)
    return answers


@pytest.mark.parametrize("how", ["cosine", "adjusted-cosine", "pearson", "residual"])
@pytest.mark.parametrize("centre", ["none", "mean", "baseline"])
@pytest.mark.parametrize("of_items", [False, True])
def test_answers_are_those_of_the_plain_loops(how: str, centre: str, of_items: bool) -> None:
    train, _ = halves(drawn(rows=450))
    table = np.full((USERS, ITEMS), np.nan)
    table[train.users, train.items] = train.y
    mean = float(train.y.mean())
    oriented = table.T if of_items else table
    centres = np.full(oriented.shape, mean)
    if centre == "mean":
        centres = centres * 0 + np.nanmean(oriented, axis=1)[:, None]
    if centre == "baseline":
        biases = fitted(UserItemBias(), train)
        both = mean + biases.user_bias_[:-1, None] + biases.item_bias_[None, :-1]
        centres = both.T if of_items else both
    damping = 0.0 if centre == "mean" else 1.5
    expected = surprise(oriented, centres, how, 7, 4.0, damping)
    method = ItemNeighbours if of_items else UserNeighbours
    model = fitted(method(similarity=how, centre=centre, k=7, shrinkage=4.0, damping=damping), train)
    found = model.rate(np.arange(USERS)[:, None], np.arange(ITEMS)[None, :])
    assert found == pytest.approx(expected.T if of_items else expected, abs=1e-9)


def test_tastes_that_agree_are_found() -> None:
    """Users of a few tastes: who rates alike says more than how generous users and how good items are."""
    rng = np.random.default_rng(2)
    taste = rng.integers(0, 3, 90)
    likes = rng.normal(0, 1, (3, 40))
    pairs = rng.permutation(90 * 40)[:2000]
    users, items = pairs // 40, pairs % 40
    y = 3 + likes[taste[users], items] + rng.normal(0, 0.3, len(pairs))
    train, test = halves(ratings(users.tolist(), items.tolist(), y.tolist()))

    def error(model: Any) -> float:
        return float(np.sqrt(np.mean((asked(fitted(model, train), test).predicted - test.y) ** 2)))

    bias = error(UserItemBias())
    assert error(UserNeighbours()) < 0.75 * bias
    assert error(ItemNeighbours()) < bias


def test_similarities_are_shrunk_by_what_they_vary_beyond_chance() -> None:
    rng = np.random.default_rng(4)
    seen, residual = rng.random((12, 30)) < 0.5, rng.normal(size=(12, 30)) + rng.normal(size=30)
    users, items = np.nonzero(seen)
    y = residual[seen]
    model = fitted(UserNeighbours(centre="none"), ratings(users.tolist(), items.tolist(), y.tolist()))
    left = np.where(seen, residual - y.mean(), 0.0)
    n, xy = seen.astype(float) @ seen.T, left @ left.T
    both = (n >= 2) & ~np.eye(12, dtype=bool)
    squared = xy**2 / ((left**2 @ seen.T) * (seen @ (left**2).T))
    expected = n[both].sum() / (n * squared - 1)[both].sum()
    assert model.shrinkage_ == pytest.approx(expected)
    by_chance = ratings(users.tolist(), items.tolist(), np.where(np.arange(len(y)) % 2, 1.0, 2.0).tolist())
    assert np.isfinite(fitted(UserNeighbours(), by_chance).rate(users, items)).all()


def test_who_is_not_known_is_answered_by_the_centre() -> None:
    model = fitted(UserNeighbours(), listed(TABLE))
    biases = fitted(UserItemBias(), listed(TABLE))
    assert cell(model, -1, 2) == pytest.approx(cell(biases, -1, 2), abs=1e-12)
    assert cell(model, 3, -1) == pytest.approx(cell(biases, 3, -1), abs=1e-12)


def test_ratings_of_one_pair_count_as_their_mean() -> None:
    twice = ratings([0, 0, 0, 1, 1, 2], [0, 0, 1, 0, 1, 0], [1.0, 5.0, 4.0, 3.0, 4.0, 2.0])
    once = ratings([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [3.0, 4.0, 3.0, 4.0, 2.0], weight=[2, 1, 1, 1, 1])
    both = [fitted(UserNeighbours(similarity="cosine"), data) for data in (twice, once)]
    assert cell(both[0], 2, 1) == pytest.approx(cell(both[1], 2, 1), abs=1e-12)
