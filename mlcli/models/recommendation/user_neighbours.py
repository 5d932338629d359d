"""User neighbours: a user would rate an item as users who rate alike have rated it.

Formula:
    r̂(u, i) = c(u, i) + Σ s(u, v) (r(v, i) − c(v, i)) / (damping + Σ s(u, v)) over the k users v most similar to
    u that have rated i, of those with s > 0. The centre c is μ (``centre: none``), the mean of the user, or the
    baseline μ + b_u + b_i of ``user-item-bias``.

    s(u, v) over the items that both have rated: Σ r r' / √(Σ r² Σ r'²) (cosine), the same of r − r̄_i with r̄_i
    the mean of the item (adjusted-cosine), of r − c (residual), or the correlation (pearson); times n / (n +
    shrinkage), n being how many these items are.

Assumes:
    Users who agreed before agree again, and share enough items to show it.

Cost:
    Nothing to fit but the centre. An answer about a user takes the ratings of all items that it has rated, then
    one pass over the ratings of its neighbours.

Choices:
    Residuals of the baseline are compared (Koren's pearson-baseline): of few common ratings a correlation about
    their own means is mostly chance. Without `shrinkage` it follows from the ratings: chance alone makes s² about
    1/n, so that with τ² the mean of s² − 1/n (by n) n / (n + 1/τ²) is what is to be believed of s (James & Stein);
    where τ² is not above 0, nothing. Koren gives 100 for many ratings. Without `damping` one neighbour that is
    hardly alike answers as surely as forty that are: on few ratings of each user that does worse than the baseline
    alone (Bell & Koren's remedy). The classic formula is `shrinkage: 0`, `damping: 0`. Users as similar as the
    k-th answer too, so that the order of rows decides nothing. Similarities of 0 or less are not used. Without
    neighbours the answer is the centre; what is not known adds nothing to it. Several ratings of a pair count as
    their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import quotient
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows
from mlcli.core.tolerances import DECIMALS
from mlcli.kernels.common_ratings import nearest_raters, sums_in_common
from mlcli.models.recommendation.user_item_bias import UserItemBias
from mlcli.tasks.recommendation import Ratings, Recommender

SHOWN = 10
NO_TRUST = 1e9
"""The shrinkage where similarities are no larger than chance makes them."""


def cosine(n: Array, x: Array, y: Array, xx: Array, yy: Array, xy: Array) -> Array:
    """Σxy / √(Σx² Σy²), 0 where it is not defined."""
    return quotient(xy, np.sqrt(xx * yy))


def pearson(n: Array, x: Array, y: Array, xx: Array, yy: Array, xy: Array) -> Array:
    """The correlation over common ratings, 0 where one side does not vary in them."""
    vary = (n * xx - x**2, n * yy - y**2)
    steady = np.minimum(vary[0] - 1e-9 * n * xx, vary[1] - 1e-9 * n * yy) <= 0
    return quotient(np.where(steady, 0.0, n * xy - x * y), np.sqrt(np.maximum(vary[0] * vary[1], 0.0)))


SIMILARITIES: dict[str, Callable[..., Array]] = {
    "cosine": cosine,
    "adjusted-cosine": cosine,
    "pearson": pearson,
    "residual": cosine,
}
CENTRES = ("none", "mean", "baseline")


@dataclass(kw_only=True, eq=False)
class Neighbourhood(Recommender):
    """``owners`` is the column whose levels are compared: 0 for users, 1 for items."""

    owners: ClassVar[int]

    k: int = param(40, "how many neighbours answer at most", ge=1, tune=(5, 100))
    similarity: str = param("residual", "how alike two are in what both have rated", choices=SIMILARITIES)
    shrinkage: float | None = param(
        None, "similarities from n common ratings are multiplied by n / (n + this); none: as chance asks for", ge=0
    )
    damping: float = param(
        1.0, "similarity that the centre itself has, so that weak or few neighbours move it little", ge=0
    )
    centre: str = param("baseline", "what ratings are measured from", choices=CENTRES)
    l2: float = param(
        5.0,
        "how many ratings at the mean the baseline gives each user and item",
        ge=0,
        matters_when={"centre": "baseline"},
    )

    mean_: float = learned()
    user_centre_: Array = learned("users")
    """What a user adds to the mean in the centre that ratings are measured from; 0 for one that is not known."""
    item_centre_: Array = learned("items")
    shrinkage_: float = learned()
    ratings_: Array = learned("ratings")
    """Of each pair in ``seen_user_`` and ``seen_item_``: the mean of its ratings."""

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Note the rating of every pair, and the centre."""
        items = len(self.item_ratings_)
        pair = np.searchsorted(
            self.seen_user_ * items + self.seen_item_, data.users.astype(np.int64) * items + data.items
        )
        weight = np.bincount(pair, data.weights)
        self.ratings_ = np.bincount(pair, data.weights * data.y) / weight
        self.mean_ = self.liked_from_
        self.user_centre_, self.item_centre_ = self._centres(data, rng)
        self.shrinkage_ = self._beyond_chance() if self.shrinkage is None else self.shrinkage

    def _beyond_chance(self) -> float:
        """1 / τ², with τ² what squared similarities of those with most ratings are above 1/n, their chance."""
        sides, excess, common = self._sides(), 0.0, 0.0
        totals = (self.user_ratings_, self.item_ratings_)[self.owners][:-1]
        # the variance of similarities is measured on those with most ratings
        for owner in np.argsort(-totals, kind="stable")[:400].tolist():
            raw, n = self._raw_similarities(owner, sides)
            n, raw = n[n >= 2], raw[n >= 2]
            excess, common = excess + float((n * raw**2 - 1.0).sum()), common + float(n.sum())
        return min(common / excess, NO_TRUST) if excess > 0 else NO_TRUST

    def _centres(self, data: Ratings, rng: np.random.Generator) -> tuple[Array, Array]:
        """What each user and each item adds to the mean."""
        centres = [np.zeros_like(self.user_ratings_), np.zeros_like(self.item_ratings_)]
        if self.centre == "mean":
            totals = (self.user_ratings_, self.item_ratings_)[self.owners]
            codes = data.table.codes[:, self.owners]
            left = np.bincount(codes, data.weights * (data.y - self.mean_), len(totals)).astype(np.float64)
            centres[self.owners] = quotient(left, totals)
        if self.centre == "baseline":
            biases = UserItemBias(l2=self.l2)
            biases.fit(data, rng)
            return biases.user_bias_, biases.item_bias_
        return centres[0], centres[1]

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The centre of each pair, and how far from theirs the nearest have rated on average."""
        pair = (np.asarray(users), np.asarray(items))
        base = self.mean_ + self.user_centre_[pair[0]] + self.item_centre_[pair[1]]
        owners, things = np.broadcast_arrays(pair[self.owners], pair[1 - self.owners])
        return np.asarray(base + self._offsets(owners.ravel(), things.ravel()).reshape(owners.shape))

    def _offsets(self, owners: Rows, things: Rows) -> Array:
        """How far the answer to each pair is from its centre, owner by owner."""
        found, sides = np.zeros(len(owners)), self._sides()
        order = np.argsort(owners, kind="stable")
        asked, starts = np.unique(owners[order], return_index=True)
        for owner, rows in zip(asked.tolist(), np.split(order, starts)[1:], strict=True):
            if owner >= 0:
                found[rows] = self._offsets_of(owner, sides)[things[rows]]
        return found

    def _sides(self) -> tuple[RatingsByOwner, RatingsByOwner]:
        """All ratings by owner, as distances from their centres; and by thing, as they are compared."""
        seen = (self.seen_user_, self.seen_item_)
        own, things = seen[self.owners], seen[1 - self.owners]
        totals = (self.user_ratings_, self.item_ratings_)
        centre = self.mean_ + self.user_centre_[seen[0]] + self.item_centre_[seen[1]]
        counts = len(totals[self.owners]), len(totals[1 - self.owners])
        compared = self.ratings_ - self.mean_ if self.similarity == "pearson" else self.ratings_
        if self.similarity == "residual":
            compared = self.ratings_ - centre
        if self.similarity == "adjusted-cosine":
            rated = np.bincount(things, minlength=counts[1]).astype(np.float64)
            totals_rated = np.bincount(things, self.ratings_, counts[1]).astype(np.float64)
            compared = self.ratings_ - quotient(totals_rated, rated)[things]
        by_owner = RatingsByOwner.of(own, things, self.ratings_ - centre, compared, counts[0])
        return by_owner, RatingsByOwner.of(things, own, self.ratings_ - centre, compared, counts[1])

    def similarities(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> Array:
        """How like an owner all others are, shrunk where little is known; 0 for itself."""
        raw, n = self._raw_similarities(owner, sides)
        return np.round(raw * quotient(n, n + self.shrinkage_), DECIMALS)

    def _raw_similarities(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> tuple[Array, Array]:
        """How like an owner all others are in what both have rated, and how much that is; none for itself."""
        by_owner, by_thing = sides
        mine = slice(by_owner.starts[owner], by_owner.starts[owner + 1])
        sums = np.zeros((6, len(by_owner.starts) - 1))
        others = by_thing.starts, by_thing.others, by_thing.compared
        sums_in_common(by_owner.others[mine], by_owner.compared[mine], *others, sums)
        sums[:, owner] = 0.0
        return SIMILARITIES[self.similarity](*sums), sums[0]

    def _offsets_of(self, owner: int, sides: tuple[RatingsByOwner, RatingsByOwner]) -> Array:
        """Of every thing, and of one that is not known: the mean distance of its nearest ratings from theirs."""
        by_owner, by_thing = sides
        alike = self.similarities(owner, sides)
        order = np.argsort(-alike, kind="stable")[: int((alike > 0).sum())]
        sums = np.zeros((4, len(by_thing.starts) - 1))
        nearest_raters(order, alike, by_owner.starts, by_owner.others, by_owner.deviations, self.k, sums)
        return quotient(sums[0], sums[1] + self.damping)

    def explain(self) -> findings.Explanation:
        """How many have neighbours at all, and which two are most alike."""
        column, sides = self.columns_[self.owners], self._sides()
        totals = (self.user_ratings_, self.item_ratings_)[self.owners][:-1]
        most = np.argsort(-totals, kind="stable")[:SHOWN]
        rows = []
        for owner in most.tolist():
            alike = self.similarities(owner, sides)
            best = int(alike.argmax())
            name = column.levels[best] if alike[best] > 0 else ""
            counts = float(totals[owner]), int((alike > 0).sum())
            rows.append((column.levels[owner], *counts, name, float(alike[best])))
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
    """From their centres."""
    compared: Array
    """As similarities compare them."""

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
