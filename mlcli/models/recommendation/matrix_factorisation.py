"""Matrix factorisation: users and items are points, and a rating grows with how well their directions agree.

Formula:
    r̂(u, i) = μ + b_u + b_i + p_u·q_i, with μ the mean of all ratings and the rest a minimum of
    Σ w (r − r̂)² + l2 (Σ b_u² + Σ b_i² + Σ |p_u|² + Σ |q_i|²).

    Alternating least squares: given the items, bias and point of each user are a ridge regression of its own on
    (1, q_i), solved exactly by normal equations; given the users, so are those of each item. No turn can raise the
    loss.

Assumes:
    A few hidden traits (`factors`) explain who likes what; whether a rating exists does not depend on its value.

Cost:
    ratings × factors² + (users + items) × factors³ per round.

Choices:
    Items start at random points (normal, 0.1 wide): the seed decides which of several minima is reached. Users
    are solved first. `l2` is not multiplied by the number of ratings. Users and items without training ratings
    have bias and point 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.recommendation.user_item_bias import extremes
from mlcli.tasks.recommendation import Ratings, Recommender

BLOCK_CELLS = 4_000_000
"""Products of two columns that are made at once."""


@register(
    "matrix-factorisation", reference="Koren, Bell & Volinsky 2009, Matrix factorization techniques", revision=2
)
class MatrixFactorisation(Recommender):
    """``users_`` and ``items_`` hold a bias, then the factors, of each."""

    factors: int = param(5, "number of latent factors", ge=1, tune=(1, 50))
    l2: float = param(15.0, "L2 penalty of biases and factors", gt=0.0, tune=(0.1, 100.0))
    rounds: int = param(15, "number of rounds that solve for users, then for items", ge=1)

    mean_: float = learned()
    users_: Array = learned("users", "width")
    items_: Array = learned("items", "width")
    losses_: Array = learned()

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Solve for users and items in turn."""
        self.mean_ = self.liked_from_
        user = RidgeByOwner.of(data.users, len(self.user_ratings_))
        item = RidgeByOwner.of(data.items, len(self.item_ratings_))
        items = np.zeros((item.size, 1 + self.factors))
        items[:, 1:] = rng.normal(0.0, 0.1, (item.size, self.factors))
        items[self.item_ratings_ == 0] = 0.0
        losses = []
        for _ in range(self.rounds):
            users = self._solve(user, data, items[data.items])
            items = self._solve(item, data, users[data.users])
            errors = data.y - self.mean_ - agreement(users[data.users], items[data.items])
            loss = float(data.weights @ errors**2 + self.l2 * ((users**2).sum() + (items**2).sum()))
            losses.append(loss)
        self.users_, self.items_, self.losses_ = users, items, np.array(losses)

    def _solve(self, side: RidgeByOwner, data: Ratings, others: Array) -> Array:
        """Biases and factors of one side, given those of the other side at each rating."""
        design = np.column_stack([np.ones(len(data)), others[:, 1:]])
        return side.ridge(design, data.y - self.mean_ - others[:, 0], data.weights, self.l2)

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The mean, both biases, and the product of the factors."""
        return self.mean_ + agreement(self.users_[users], self.items_[items])

    def explain(self) -> findings.Explanation:
        """How the loss fell, the largest biases, and three items at each end of each factor."""
        user, item = self.columns_
        rows = []
        for factor in range(1, 1 + self.factors):
            order = np.argsort(self.items_[:-1, factor], kind="stable")
            strength = float((self.items_[:, factor] ** 2).sum() * (self.users_[:, factor] ** 2).sum()) ** 0.5
            ends = (", ".join(item.levels[code] for code in end) for end in (order[:3], order[::-1][:3]))
            rows.append((factor, strength, *ends))
        header = ("factor", "strength", "items at one end", "items at the other")
        note = "strength: length of the factor over all items, times that over all users"
        losses = tuple((number, float(loss)) for number, loss in enumerate(self.losses_, 1))
        return (
            findings.Table("Loss: squared error and penalty", ("round", "loss"), losses),
            extremes(item, self.items_[:, 0], self.item_ratings_),
            extremes(user, self.users_[:, 0], self.user_ratings_),
            findings.Table("Factors", header, tuple(rows), note=note),
        )

    def check_learned(self) -> None:
        """A bias and the factors for each user and item, and for unknown ones."""
        super().check_learned()
        if self.users_.shape[1] != 1 + self.factors:
            raise ValueError("there are not as many factors")


def agreement(users: Array, items: Array) -> Array:
    """Both biases and the product of the factors; the two are broadcast against each other."""
    return np.asarray(users[..., 0] + items[..., 0] + np.einsum("...f,...f->...", users[..., 1:], items[..., 1:]))


@dataclass(frozen=True, eq=False)
class RidgeByOwner:
    """The ratings of each user together, or of each item.

    ``order`` sorts the ratings by owner (a user, or an item); ``starts`` is where each of ``owners`` begins.
    """

    order: Rows
    owners: Codes
    starts: Rows
    size: int
    """The number of all owners, with and without ratings."""

    @classmethod
    def of(cls, codes: Codes, size: int) -> RidgeByOwner:
        """The side of the users, or of the items, of some ratings."""
        order = np.argsort(codes, kind="stable")
        owners, starts = np.unique(codes[order], return_index=True)
        return cls(order, owners, starts, size)

    def ridge(self, X: Array, y: Array, weights: Array, l2: float) -> Array:
        """For each owner the b that minimises Σ w (y − x·b)² + l2 |b|² over its ratings; 0 without ratings.

        These are the normal equations (Σ w x xᵀ + l2 I) b = Σ w y x.
        """
        width = X.shape[1]
        result = np.zeros((self.size, width))
        bounds, first = np.append(self.starts, len(self.order)), 0
        while first < len(self.owners):
            # As many owners at once as make no more products than fit a block, but at least one.
            most = self.starts[first] + max(1, BLOCK_CELLS // width**2)
            last = max(first + 1, int(np.searchsorted(bounds[1:], most, "right")))
            rows = self.order[bounds[first] : bounds[last]]
            starts = self.starts[first:last] - self.starts[first]
            weighted = X[rows] * weights[rows, None]
            gram = np.add.reduceat(weighted[:, :, None] * X[rows, None, :], starts)
            right = np.add.reduceat(weighted * y[rows, None], starts)
            gram[:, range(width), range(width)] += l2
            result[self.owners[first:last]] = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
            first = last
        return result
