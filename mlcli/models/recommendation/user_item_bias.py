"""User and item bias: the mean, plus what the user usually adds, plus what the item usually adds.

Formula:
    r̂(u, i) = μ + b_u + b_i, with μ the mean of all ratings and b the minimum of
    Σ w (r − μ − b_u − b_i)² + l2 (Σ b_u² + Σ b_i²).

    Users and items take turns, each set to its exact minimum given the other:
    b_u = Σ w (r − μ − b_i) / (l2 + Σ w) over the ratings of u, and likewise b_i.

Assumes:
    Users differ in how generous they are and items in how good they are, and in nothing else: every user has the
    same order of items. Ratings are numbers whose distances mean something.

Cost:
    One pass over the ratings per turn; some tens of turns.

Choices:
    `l2` counts as so many ratings at the mean: a user with few ratings is drawn towards 0. It stops when no bias
    moves by more than 1e-11 of the largest distance of a rating from the mean. A user or item without training
    ratings adds 0.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows
from mlcli.tasks.recommendation import Ratings, Recommender


@register("user-item-bias", reference="Koren 2010, Factor in the neighbors, section 2.1")
class UserItemBias(Recommender):
    """How generous users are, and how good items are."""

    l2: float = param(
        5.0, "L2 penalty: as many ratings at the mean are added to each user and item", ge=0.0, tune=(0.5, 50.0)
    )

    mean_: float = learned()
    user_bias_: Array = learned("users")
    item_bias_: Array = learned("items")

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Solve for users and items in turn until neither moves."""
        self.mean_ = self.liked_from_
        residual, weights = data.y - self.mean_, data.weights
        small = 1e-11 * float(np.abs(residual).max())
        users, items = np.zeros_like(self.user_ratings_), np.zeros_like(self.item_ratings_)
        for _ in range(10_000):
            before = users
            users = self._biases(data.users, residual - items[data.items], weights, self.user_ratings_)
            items = self._biases(data.items, residual - users[data.users], weights, self.item_ratings_)
            if np.abs(users - before).max() <= small:
                break
        else:
            warnings.warn("the biases still move after 10000 turns", MlcliWarning, stacklevel=2)
        self.user_bias_, self.item_bias_ = users, items

    def _biases(self, codes: Codes, left: Array, weights: Array, ratings: Array) -> Array:
        sums = np.bincount(codes, weights * left, len(ratings))
        return np.divide(sums, ratings + self.l2, out=np.zeros_like(sums), where=ratings > 0)

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The mean and both biases."""
        return np.asarray(self.mean_ + self.user_bias_[users] + self.item_bias_[items])

    def explain(self) -> findings.Explanation:
        """The mean, and who is farthest from it."""
        user, item = self.columns_
        return (
            findings.Lines("Mean of all ratings", lines=(f"{self.target_} = {self.mean_:.6g}",)),
            extremes(item, self.item_bias_, self.item_ratings_),
            extremes(user, self.user_bias_, self.user_ratings_),
        )


def extremes(column: Column, biases: Array, ratings: Array) -> findings.Table:
    """The five users, or items, with the highest and lowest biases, and their numbers of training ratings."""
    rated = np.flatnonzero(ratings[:-1] > 0)
    order = rated[np.argsort(-biases[rated], kind="stable")]
    shown = order if len(order) <= 10 else np.concatenate([order[:5], order[-5:]])
    rows = tuple((column.levels[code], float(biases[code]), float(ratings[code])) for code in shown)
    title = f"Biases of '{column.name}': the highest and the lowest of {len(order)}"
    return findings.Table(title, header=(column.name, "bias", "ratings"), rows=rows)
