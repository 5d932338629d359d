"""Scores of rankings and of recommenders.

A ranking is scored by the mean over groups of how well the order of each agrees with its relevance. A group whose
rows are all equally relevant has no order to find: it is left out, and counted in a mark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.moments import pair_balance, pair_weight
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.metrics.base import Metric, Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.registry import AT_K, SHARE, declare, guarded, mean_of_rows, of_weightings, score
from mlcli.metrics.scores import values
from mlcli.tasks.ranking import RankAnswers
from mlcli.tasks.recommendation import TOP, RatingAnswers

OfGroups = Callable[[RankAnswers], Array]
MOST_PLACES = 10_000_000
"""The most places for which discounts are summed; large weights make many places."""


def pairs_in_order(answers: RankAnswers) -> Array:
    """Share of pairs of one group that are in the right order, equal scores half; the mean over groups."""
    return (ratio(agreement(answers), total_of_pairs(answers, answers.relevance)) + 1) / 2


def kendall_tau(answers: RankAnswers) -> Array:
    """Kendall's tau-b between score and relevance: +1 the right order, -1 its reverse; the mean over groups."""
    by_relevance, by_score = (total_of_pairs(answers, value) for value in (answers.relevance, answers.score))
    # Scores that are all equal make 0/0: an order that is not there agrees with nothing.
    return ratio(agreement(answers), np.sqrt(by_relevance * np.where(by_score > 0, by_score, by_relevance)))


def ndcg(answers: RankAnswers, first: int = MOST_PLACES) -> Array:
    """Discounted relevance of the order, as a share of that of the best order; the mean over groups."""
    gained, best = (discounted(answers, key, first) for key in (answers.score, answers.relevance))
    return np.where(ordered(answers), ratio(gained, best), np.nan)


def ndcg_at_k(first: int) -> Metric:
    """NDCG that looks at the first rows of each order only."""
    return guarded(mean_of_groups(f"ndcg@{first}", partial(ndcg, first=first), 0.0), not_negative, few_places)


def agreement(answers: RankAnswers) -> Array:
    """The weight of the pairs of each group that are in the right order, less that of those in the wrong one."""
    balance = pair_balance(answers.relevance, answers.group, answers.score, answers.weights)
    return summed(balance, answers.group, len(answers.names))


def total_of_pairs(answers: RankAnswers, value: Array) -> Array:
    """The summed weight of the pairs of each group that differ in a value."""
    return summed(pair_weight(value, answers.group, answers.weights), answers.group, len(answers.names))


def discounted(answers: RankAnswers, key: Array, first: int) -> Array:
    """Σ relevance / log2(1 + place) in each group; rows that are equal share their places evenly.

    A row of weight w takes w places, parts of places counting by their part.
    """
    order = np.lexsort((-key, answers.group))
    group, weight = answers.group[order], answers.weights[order]
    run = runs(group, key[order])
    run_groups = group[np.flatnonzero(np.diff(run, prepend=-1))]
    size, gain = (summed(part, run, 0) for part in (weight, weight * answers.relevance[order]))
    upto = np.cumsum(size)
    start = np.append(0.0, upto)[np.searchsorted(run_groups, run_groups)]
    discount = summed_discounts(upto - start, first) - summed_discounts(upto - size - start, first)
    shares = np.divide(gain * discount, size, out=np.zeros_like(size), where=size > 0)
    return summed(shares, run_groups, len(answers.names))


def summed(values: Array, into: Codes | Rows, count: int) -> Array:
    """Sums of values by the place each belongs to."""
    return np.asarray(np.bincount(into, weights=values, minlength=count), np.float64)


def runs(group: Codes, value: Array) -> Rows:
    """A number for each run of equal rows of one group."""
    new = (np.diff(group, prepend=-1) != 0) | (np.diff(value, prepend=np.nan) != 0)
    numbers: Rows = np.cumsum(new) - 1
    return numbers


def summed_discounts(indices: Array, first: int) -> Array:
    """Σ 1 / log2(1 + place) over so many places, none beyond the ``first`` counting."""
    reached = np.minimum(indices, first)
    whole = np.arange(1, int(np.ceil(reached.max(initial=0.0))) + 1)
    sums = np.append(0.0, np.cumsum(1 / np.log2(1 + whole)))
    return np.asarray(np.interp(reached, np.arange(len(sums)), sums))


def ordered(answers: RankAnswers) -> Flags:
    """Which groups hold two rows that count and differ in relevance."""
    return total_of_pairs(answers, answers.relevance) > 0


def not_negative(answers: RankAnswers) -> Undefined | None:
    """Precondition: no relevance is below 0."""
    return Undefined("some relevance is below 0") if (answers.relevance < 0).any() else None


def few_places(answers: RankAnswers) -> Undefined | None:
    """Precondition: weights do not make too many places."""
    most = summed(answers.weights, answers.group, 0).max(initial=0.0)
    return Undefined(f"a group weighs more than {MOST_PLACES:,} rows") if most > MOST_PLACES else None


def mean_of_groups(name: str, of_groups: OfGroups, low: float) -> Metric:
    """A metric whose units are groups."""

    def compute(answers: RankAnswers) -> Score:
        values = of_groups(answers)
        defined = values[~np.isnan(values)]
        return float(defined.mean()) if len(defined) else Undefined(WITHOUT_ORDER)

    return Metric(
        name=name,
        answers=RankAnswers,
        compute=compute,
        better="high",
        low=low,
        high=1.0,
        aggregation="mean of units",
        per_unit=of_groups,
        marks=left_out,
    )


WITHOUT_ORDER = "in every group all rows are equally relevant"


def left_out(answers: RankAnswers) -> tuple[str, ...]:
    """The mark of groups without an order to find."""
    without = int((~ordered(answers)).sum())
    return (f"{without} of {len(answers.names)} groups are equally relevant throughout and left out",) * (
        without > 0
    )


declare(mean_of_groups("pairwise-accuracy", pairs_in_order, 0.0))
declare(mean_of_groups("kendall-tau", kendall_tau, -1.0))
declare(mean_of_groups("ndcg", ndcg, 0.0), not_negative, few_places)
AT_K[RankAnswers, "ndcg"] = ndcg_at_k


# Recommenders: the errors of ratings, and what the lists of users hold of what they like.
#
# A row is liked if its rating reaches the mean of the training ratings. A list is scored by the liked rows of its
# user among the test rows, each item once; users who like none of their test rows are left out.

COLD = "some test rows have a user or an item without training ratings (cold start)"


def cold_start(answers: RatingAnswers) -> tuple[str, ...]:
    """The mark of errors of rows without training ratings of their user or item."""
    return (COLD,) if (answers.cold & (answers.weights > 0)).any() else ()


@score(
    "rmse",
    RatingAnswers,
    better="low",
    low=0.0,
    marks=cold_start,
    influence=values.influence_on_rmse,
    scale="log",
    by_rounds=True,
)
def rmse(answers: RatingAnswers) -> Score:
    """Root mean squared error of the ratings."""
    return values.rmse(answers)


@mean_of_rows("mae", RatingAnswers, better="low", low=0.0, marks=cold_start)
def mae(answers: RatingAnswers) -> Array:
    """Mean absolute error of the ratings."""
    return values.mae(answers)


@dataclass(frozen=True, eq=False)
class LikedItems:
    """The liked rows sorted by list and item.

    ``pairs`` is where each pair of list and item begins among these rows, ``lists`` where a list does among pairs.
    """

    order: Rows
    pairs: Rows
    lists: Rows
    hit: Flags
    """Of each pair, whether the list holds the item."""

    @classmethod
    @lru_cache(maxsize=4)  # the bootstrap asks for each block of its resamples
    def of(cls, answers: RatingAnswers, first: int) -> LikedItems:
        """Whether the first places of the lists of some answers hold what their users like."""
        liked = np.flatnonzero(answers.liked)
        owner = lists_of(answers)[liked]
        order = liked[np.lexsort((answers.item[liked], owner))]
        owner = np.sort(owner)
        new_list = np.diff(owner, prepend=-1) > 0
        new_pair = new_list | (np.diff(answers.item[order], prepend=-1) != 0)
        pairs = np.flatnonzero(new_pair)
        rows = order[pairs]
        hit = (answers.top[rows, :first] == answers.item[rows, None]).any(axis=1)
        return cls(order, pairs, np.flatnonzero(new_list[pairs]), hit)

    def counted(self, weightings: Array) -> tuple[Array, Array]:
        """The items that each user likes and that its list holds, and those that it likes, under weightings."""
        counting = (weightings[:, self.order] > 0).astype(np.float64)
        pairs = np.maximum.reduceat(counting, self.pairs, axis=1)
        hits, liked = (np.add.reduceat(result, self.lists, axis=1) for result in (pairs * self.hit, pairs))
        return hits, liked


def lists_of(answers: RatingAnswers) -> Codes:
    """The list that each row is scored with: a user has one in each split, even if they hold the same items."""
    fold = np.zeros(len(answers), np.int32) if answers.header.fold is None else answers.header.fold
    lists = np.column_stack([answers.user, fold, answers.top])
    return np.unique(lists, axis=0, return_inverse=True)[1].ravel().astype(np.int32)


def precision_under(answers: RatingAnswers, weightings: Array, first: int = TOP) -> Array:
    """The mean share of a list that its user likes, NaN where nothing is liked."""
    return _mean_over_users(answers, weightings, first, lambda hits, liked: hits / first)


def recall_under(answers: RatingAnswers, weightings: Array, first: int = TOP) -> Array:
    """The mean share of what a user likes that its list holds, NaN where nothing is liked."""
    return _mean_over_users(answers, weightings, first, ratio)


def _mean_over_users(
    answers: RatingAnswers, weightings: Array, first: int, share: Callable[[Array, Array], Array]
) -> Array:
    if not answers.liked.any():
        return np.full(len(weightings), np.nan)
    hits, liked = LikedItems.of(answers, first).counted(weightings)
    has_liked = liked > 0
    shares = np.where(has_liked, share(hits, liked), 0.0)
    return ratio(shares.sum(axis=1), has_liked.sum(axis=1).astype(np.float64))


NOTHING_LIKED = Undefined("no test rating reaches the mean of the training ratings")


def at_k(name: str, under: Callable[..., Array], first: int) -> Metric:
    """The metric of the first places of the lists, which are stored to a certain length."""
    if first > TOP:
        raise UsageError(
            f"{name}@{first}: the lists hold {TOP} items", hint=f"the number is 1 to {TOP}: {name}@{TOP}"
        )
    return guarded(
        of_weightings(f"{name}@{first}", RatingAnswers, partial(under, first=first), NOTHING_LIKED, **SHARE)
    )


for _name, _under in (("precision", precision_under), ("recall", recall_under)):
    declare(of_weightings(f"{_name}-at-{TOP}", RatingAnswers, _under, NOTHING_LIKED, **SHARE))
    AT_K[RatingAnswers, _name] = partial(at_k, _name, _under)
