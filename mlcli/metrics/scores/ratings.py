"""Scores of recommenders: the errors of ratings, and what the lists of users hold of what they like.

A row is liked when its rating reaches the mean of the training ratings. A list is judged by the liked rows of its
user among the judged ones, each item once; users who like none of their judged rows say nothing of their list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.metrics.base import Metric, Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.declaring import AT_K, SHARE, declare, guarded, mean_of_rows, of_weightings, score
from mlcli.metrics.scores import values
from mlcli.tasks.recommendation import TOP, RatingAnswers

COLD = "some judged rows have a user or an item without training ratings (cold start)"


def cold_start(answers: RatingAnswers) -> tuple[str, ...]:
    """The mark of errors that some rows could not but have."""
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
    """Which list each row was judged with: a user has one in each split, also where they hold the same items."""
    fold = np.zeros(len(answers), np.int32) if answers.header.fold is None else answers.header.fold
    known = np.column_stack([answers.user, fold, answers.top])
    return np.unique(known, axis=0, return_inverse=True)[1].ravel().astype(np.int32)


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
    judged = liked > 0
    shares = np.where(judged, share(hits, liked), 0.0)
    return ratio(shares.sum(axis=1), judged.sum(axis=1).astype(np.float64))


NOTHING_LIKED = Undefined("no judged rating reaches the mean of the training ratings")


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
