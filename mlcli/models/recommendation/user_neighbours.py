"""User neighbours: a user would rate an item as users who rate alike have rated it.

Formula:
    r̂(u, i) = c(u, i) + Σ s(u, v) (r(v, i) − c(v, i)) / (damping + Σ s(u, v)) over the k users v most similar to
    u that have rated i, of those with s > 0. The centre c is μ (``centre: none``), the mean of the user, or the
    baseline μ + b_u + b_i of ``user-item-bias``.

    s(u, v) over the items that both have rated: Σ r r' / √(Σ r² Σ r'²) (cosine), the same of r − r̄_i with r̄_i
    the mean of the item (adjusted-cosine), of r − c (residual), or the correlation (pearson); times n / (n +
    shrinkage), n being how many these items are.

Assumes:
    Users who agreed before will agree again, and share enough items to show it.

Cost:
    Nothing to fit but the centre. To predict for a user takes the ratings of all items that it has rated, then
    one pass over the ratings of its neighbours.

Choices:
    Residuals of the baseline are compared (Koren's pearson-baseline): with few common ratings a correlation
    about their own means is mostly chance. Without `shrinkage` it is estimated from the ratings: chance alone
    makes s² about 1/n; with τ² the mean of s² − 1/n (weighted by n), the credible part of s is n / (n + 1/τ²)
    (James & Stein), and nothing if τ² is not above 0. Koren gives 100 for many ratings. Without `damping` a
    single weak neighbour counts as much as forty similar ones: with few ratings per user that is worse than the
    baseline alone (Bell & Koren's remedy). The classic formula is `shrinkage: 0`, `damping: 0`. Users as similar
    as the k-th count too, so that the order of rows decides nothing. Similarities of 0 or less are not used.
    Without neighbours the prediction is the centre; an unknown user or item adds nothing to it. Several ratings
    of a pair count as their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core import DECIMALS, findings
from mlcli.core.moments import quotient
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.common_ratings import nearest_raters, sums_in_common
from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.tasks.recommendation import Ratings, Recommender

NO_TRUST = 1e9
"""The shrinkage if similarities are no larger than chance makes them."""


@dataclass(kw_only=True, eq=False)
class Neighbourhood(Recommender):
    """``owners`` is the column whose levels are compared: 0 for users, 1 for items."""

    owners: ClassVar[int]

    k: int = param(40, "maximum number of neighbours", ge=1, tune=(5, 100))
    similarity: str = param(
        "residual",
        "similarity measure over common ratings",
        choices=("cosine", "adjusted-cosine", "pearson", "residual"),
    )
    shrinkage: float | None = param(
        None, "similarities from n common ratings are multiplied by n / (n + this); none: estimated", ge=0
    )
    damping: float = param(
        1.0, "weight of the centre among the neighbours, so that few or weak ones move it little", ge=0
    )
    centre: str = param("baseline", "centre that is subtracted from ratings", choices=("none", "mean", "baseline"))
    l2: float = param(
        5.0,
        "L2 penalty of the baseline, in ratings at the mean",
        ge=0,
        matters_when={"centre": "baseline"},
    )

    mean_: float = learned()
    user_centre_: Array = learned("users")
    """What a user adds to the mean in the centre; 0 for an unknown user."""
    item_centre_: Array = learned("items")
    shrinkage_: float = learned()
    ratings_: Array = learned("ratings")
    """The mean rating of each pair in ``seen_user_`` and ``seen_item_``."""

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Store the mean rating of every pair, the centre, and the shrinkage."""
        items = len(self.item_ratings_)
        seen = self.seen_user_ * items + self.seen_item_
        pair = np.searchsorted(seen, data.users.astype(np.int64) * items + data.items)
        self.ratings_ = np.bincount(pair, data.weights * data.y) / np.bincount(pair, data.weights)
        self.mean_ = self.liked_from_
        self.user_centre_, self.item_centre_ = np.zeros_like(self.user_ratings_), np.zeros_like(self.item_ratings_)
        if self.centre == "baseline":
            baseline = UserItemBias(l2=self.l2)
            baseline.fit(data, rng)
            self.user_centre_, self.item_centre_ = baseline.user_bias_, baseline.item_bias_
        elif self.centre == "mean":
            totals = self._totals()
            codes, deviations = data.table.codes[:, self.owners], data.weights * (data.y - self.mean_)
            means = quotient(np.bincount(codes, deviations, len(totals)).astype(np.float64), totals)
            if self.owners == 0:
                self.user_centre_ = means
            else:
                self.item_centre_ = means
        self.shrinkage_ = self._shrinkage_from_chance() if self.shrinkage is None else self.shrinkage

    def _totals(self) -> Array:
        """The summed weight of the ratings of each owner, and of an unknown one."""
        return (self.user_ratings_, self.item_ratings_)[self.owners]

    def _shrinkage_from_chance(self) -> float:
        """1 / τ², with τ² the excess of squared similarities over 1/n, their chance.

        It is measured on the 400 owners with most ratings.
        """
        sides, excess, common = self._sides(), 0.0, 0.0
        for owner in np.argsort(-self._totals()[:-1], kind="stable")[:400].tolist():
            similarities, n = self._raw_similarities(owner, sides)
            n, similarities = n[n >= 2], similarities[n >= 2]
            excess, common = excess + float((n * similarities**2 - 1.0).sum()), common + float(n.sum())
        return min(common / excess, NO_TRUST) if excess > 0 else NO_TRUST

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The centre of each pair, plus the mean deviation of the nearest ratings from theirs."""
        pair = (np.asarray(users), np.asarray(items))
        base = self.mean_ + self.user_centre_[pair[0]] + self.item_centre_[pair[1]]
        owners, things = np.broadcast_arrays(pair[self.owners], pair[1 - self.owners])
        owner_of, thing_of = owners.ravel(), things.ravel()
        deviations, sides = np.zeros(owners.size), self._sides()
        order = np.argsort(owner_of, kind="stable")
        unique, starts = np.unique(owner_of[order], return_index=True)
        for owner, rows in zip(unique.tolist(), np.split(order, starts)[1:], strict=True):
            if owner >= 0:
                deviations[rows] = self._deviations(owner, sides)[thing_of[rows]]
        return np.asarray(base + deviations.reshape(owners.shape))

    def _deviations(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> Array:
        """The mean deviation of the ratings of the nearest owners from their centres, for each thing."""
        by_owner, by_thing = sides
        similarities = self.similarities(owner, sides)
        order = np.argsort(-similarities, kind="stable")[: int((similarities > 0).sum())]
        sums = np.zeros((4, len(by_thing.starts) - 1))
        nearest_raters(order, similarities, by_owner.starts, by_owner.others, by_owner.deviations, self.k, sums)
        return quotient(sums[0], sums[1] + self.damping)

    def _sides(self) -> tuple[RatingsByOwner, RatingsByOwner]:
        """All ratings by owner, and by thing."""
        seen = (self.seen_user_, self.seen_item_)
        owners, things = seen[self.owners], seen[1 - self.owners]
        totals = (self.user_ratings_, self.item_ratings_)
        count, count_of_things = len(totals[self.owners]), len(totals[1 - self.owners])
        deviations = self.ratings_ - (self.mean_ + self.user_centre_[seen[0]] + self.item_centre_[seen[1]])
        if self.similarity == "residual":
            compared = deviations
        elif self.similarity == "pearson":
            compared = self.ratings_ - self.mean_
        elif self.similarity == "adjusted-cosine":
            number = np.bincount(things, minlength=count_of_things).astype(np.float64)
            total = np.bincount(things, self.ratings_, count_of_things).astype(np.float64)
            compared = self.ratings_ - quotient(total, number)[things]
        else:
            compared = self.ratings_
        by_owner = RatingsByOwner.of(owners, things, deviations, compared, count)
        return by_owner, RatingsByOwner.of(things, owners, deviations, compared, count_of_things)

    def similarities(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> Array:
        """The similarity of an owner with all others, shrunk if there are few common ratings; 0 with itself."""
        similarities, n = self._raw_similarities(owner, sides)
        return np.round(similarities * quotient(n, n + self.shrinkage_), DECIMALS)

    def _raw_similarities(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> tuple[Array, Array]:
        """The similarity of an owner with all others, and the number of common ratings; 0 with itself."""
        by_owner, by_thing = sides
        own = slice(by_owner.starts[owner], by_owner.starts[owner + 1])
        sums = np.zeros((6, len(by_owner.starts) - 1))
        others = by_thing.starts, by_thing.others, by_thing.compared
        sums_in_common(by_owner.others[own], by_owner.compared[own], *others, sums)
        sums[:, owner] = 0.0
        n, x, y, xx, yy, xy = sums
        if self.similarity != "pearson":
            return quotient(xy, np.sqrt(xx * yy)), n
        # The correlation; 0 if one side does not vary.
        vx, vy = n * xx - x**2, n * yy - y**2
        constant = np.minimum(vx - 1e-9 * n * xx, vy - 1e-9 * n * yy) <= 0
        return quotient(np.where(constant, 0.0, n * xy - x * y), np.sqrt(np.maximum(vx * vy, 0.0))), n

    def explain(self) -> findings.Explanation:
        """The ten with most ratings: how many neighbours each has, and the most similar one."""
        column, sides, totals = self.columns_[self.owners], self._sides(), self._totals()[:-1]
        rows = []
        for owner in np.argsort(-totals, kind="stable")[:10].tolist():
            similarities = self.similarities(owner, sides)
            best = int(similarities.argmax())
            name = column.levels[best] if similarities[best] > 0 else ""
            counts = float(totals[owner]), int((similarities > 0).sum())
            rows.append((column.levels[owner], *counts, name, float(similarities[best])))
        header = (column.name, "ratings", "rated alike", "most alike", "similarity")
        note = f"similarities are shrunk as if {self.shrinkage_:.3g} common ratings had said 0"
        if self.shrinkage is None and self.shrinkage_ == NO_TRUST:
            note = "similarities are no larger than chance makes them: the centre answers alone"
        title = f"Neighbours of those with most ratings ('{column.name}')"
        return (findings.Table(title, header, tuple(rows), note=note),)


@dataclass(frozen=True, eq=False)
class RatingsByOwner:
    """Ratings sorted by owner: those of owner o stand from starts[o] to starts[o + 1]."""

    starts: Rows
    others: Rows
    deviations: Array
    """Ratings less their centres."""
    compared: Array
    """The numbers that similarities compare."""

    @classmethod
    def of(cls, owners: Rows, others: Rows, deviations: Array, compared: Array, count: int) -> RatingsByOwner:
        """The ratings of owners with numbers below ``count``."""
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.intp)
        return cls(starts, others[order].astype(np.intp), deviations[order], compared[order])


@register(
    "user-neighbours", reference="Resnick et al. 1994, GroupLens; Koren 2010, Factor in the neighbors", revision=3
)
class UserNeighbours(Neighbourhood, Recommender):
    """Users are compared by the items that both have rated."""

    owners: ClassVar[int] = 0
