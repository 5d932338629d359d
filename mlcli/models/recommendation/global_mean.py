"""Global mean: every user would give every item the mean of all ratings.

Formula:
    r̂(u, i) = μ = Σ w r / Σ w.

Assumes:
    Nothing of users and items. Since it rates all items alike, its lists hold the items with the most training
    ratings: they are what a list must beat that claims to know the user.

Cost:
    One pass over the ratings.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows
from mlcli.tasks.recommendation import Ratings, Recommender


@register("global-mean", reference="Koren, Bell & Volinsky 2009, Matrix factorization techniques, the term μ")
class GlobalMean(Recommender):
    """The baseline of recommendation."""

    mean_: float = learned()

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Learn the weighted mean."""
        self.mean_ = self.liked_from_

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The mean, for every pair."""
        return np.full(np.broadcast_shapes(users.shape, items.shape), self.mean_)

    def explain(self) -> findings.Explanation:
        """The mean, and how full the table of users and items is."""
        users, items = ((counts > 0).sum() for counts in (self.user_ratings_, self.item_ratings_))
        share = len(self.seen_user_) / (users * items)
        lines = (f"{self.target_} = {self.mean_:.6g}", f"{users} users × {items} items, {share:.2%} of them rated")
        return (findings.Lines("Constant prediction", lines=lines),)
