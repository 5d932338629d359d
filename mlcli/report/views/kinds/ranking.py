"""Rankings by the size of their group, and the lists of recommenders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Curve
from mlcli.core.names import counted
from mlcli.core.tables import Array, Rows
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.declaring import weighted_mean
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.rankings import pairs_in_order
from mlcli.metrics.scores.ratings import lists_of, mae, rmse
from mlcli.report.document import Content, Element, Heading, grid, grid_of_numbers, notes, strong
from mlcli.report.numbers import UNIT_DECIMALS, fixed, short
from mlcli.report.views.dataset import boxplots
from mlcli.report.views.kinds.supervised import predicted_against_true
from mlcli.scoring.differences import best_in
from mlcli.scoring.model_results import Group
from mlcli.tasks.ranking import RankAnswers, places
from mlcli.tasks.recommendation import RatingAnswers

SHOWN_BY = ("pairwise-accuracy", "ndcg", "kendall-tau")
MOST_PLACES = 20
MOST_SIZES = 8
"""More sizes of groups than these share lines."""
WORST = 5
ORDER_LEGEND = "best first: the share of groups in which a most relevant row has the highest score (ties by share)"


def orders_of(title: str, answers: RankAnswers) -> Iterator[Element]:
    """How well groups of each size are ordered, and the worst of them."""
    yield Heading(title)
    yield from _scores_by_size(answers)
    yield from _worst_groups(answers)


def best_among_the_first(group: Group) -> Iterator[Element]:
    """How often a most relevant row stands in one of the first places, of each model."""
    shares = {name: _hit_shares(result.answers) for result, name in group.items()}
    longest = max(map(len, shares.values()), default=0)
    if longest < 2:
        return
    lines = tuple(
        (name, tuple(np.pad(line, (0, longest - len(line)), "edge").tolist())) for name, line in shares.items()
    )
    yield Heading("Hit rate: a most relevant row is among the first k")
    yield Curve("", "k", tuple(range(1, longest + 1)), lines)
    yield notes("the share of groups; rows of equal scores share the best place")


def _hit_shares(answers: RankAnswers) -> Array:
    """The share of groups of which a most relevant row stands in each place or before it."""
    place = places(answers.score, answers.group)
    most = places(answers.relevance, answers.group) == 1
    first = np.full(len(answers.names), np.inf)
    np.minimum.at(first, answers.group[most], place[most])
    counts = np.bincount(first.astype(np.intp) - 1, minlength=int(place.max(initial=0)))[:MOST_PLACES]
    return np.asarray(np.cumsum(counts) / len(first))


def _scores_by_size(answers: RankAnswers) -> Iterator[Element]:
    """A line for each size, or for sizes from one to another where they are many."""
    sizes = np.bincount(answers.group, minlength=len(answers.names))
    scores = [_values_by_group(name, answers) for name in SHOWN_BY]
    first = _best_row_first(answers)
    rows: list[list[str]] = []
    for least, most in size_ranges(sizes):
        held = (sizes >= least) & (sizes <= most)
        size = str(least) if least == most else f"{least} to {most}"
        rows.append([size, str(int(held.sum())), *(_mean_text(values[held]) for values in (*scores, first))])
    yield grid_of_numbers(["rows in group", "groups", *SHOWN_BY, "best first"], rows)
    yield notes(ORDER_LEGEND)


def _worst_groups(answers: RankAnswers) -> Iterator[Element]:
    """The groups with the smallest share of pairs in order, and where their most relevant row stands."""
    right = pairs_in_order(answers)
    known = np.flatnonzero(~np.isnan(right))
    order = known[np.argsort(right[known], kind="stable")]
    chosen = order[right[order] < 1][:WORST]
    if not len(chosen):
        return
    place = places(answers.score, answers.group)
    rows = [_worst_row(answers, int(group), place, float(right[group])) for group in chosen]
    yield grid_of_numbers(["worst groups", "rows", "pairs in order", "place of the best"], rows)
    beside = int((right[order] == right[chosen[-1]]).sum() - (right[chosen] == right[chosen[-1]]).sum())
    if beside:
        yield notes(f"{counted(beside, 'more group')} as bad as the last of these")


def _worst_row(answers: RankAnswers, group: int, place: Rows, right: float) -> list[str]:
    rows = np.flatnonzero(answers.group == group)
    best = rows[answers.relevance[rows] == answers.relevance[rows].max()]
    return [answers.names[group], str(len(rows)), fixed(right, UNIT_DECIMALS), short(place[best].min())]


def size_ranges(sizes: Rows) -> list[tuple[int, int]]:
    """The smallest and the largest size of each line: every size, or ranges with about as many groups each."""
    distinct = np.unique(sizes)
    if len(distinct) <= MOST_SIZES:
        return [(size, size) for size in distinct.tolist()]
    shares = np.searchsorted(np.sort(sizes), distinct, side="left") * MOST_SIZES // len(sizes)
    lines = [distinct[shares == share] for share in np.unique(shares)]
    return [(int(line[0]), int(line[-1])) for line in lines]


def _best_row_first(answers: RankAnswers) -> Array:
    """For each group, the share of the rows with the highest score that are most relevant."""
    count = len(answers.names)
    first = places(answers.score, answers.group) == 1
    best = places(answers.relevance, answers.group) == 1
    tops = np.bincount(answers.group[first], minlength=count)
    share = np.bincount(answers.group[first & best], minlength=count) / tops
    return np.where(np.isnan(pairs_in_order(answers)), np.nan, share)


def _values_by_group(name: str, answers: RankAnswers) -> Array:
    metric = metric_named(name, RankAnswers)
    assert metric.per_unit is not None
    defined = isinstance(metric.compute(answers), float)
    return metric.per_unit(answers) if defined else np.full(len(answers.names), np.nan)


def _mean_text(values: Array) -> str:
    known = values[~np.isnan(values)]
    return fixed(float(known.mean()), UNIT_DECIMALS) if len(known) else "-"


EXAMPLES = 3
"""How many users are shown with their lists."""
MOST_RATINGS = 12
LISTS_LEGEND = (
    "the users whose lists held most of what they like; + the user gave it at least the mean rating, in a row "
    "that was not learned from, - less; of the others nothing is known"
)


def lists_in(title: str, answers: RatingAnswers) -> Iterator[Element]:
    """Errors of known and of cold rows, then some users with what they were recommended."""
    yield Heading(title)
    yield _errors_grid(answers)
    users = _example_users(answers)
    if users:
        yield grid(["user", "recommended, best first"], [_list_cells(answers, rows) for rows in users])
        yield notes(LISTS_LEGEND)


def predicted_by_rating(group: Group) -> Iterator[Element]:
    """What the best model has predicted where each rating was given; of very many ratings a point for each row."""
    if not (best := best_in(group)):
        return
    answers = best.answers
    ratings = np.unique(answers.truth)
    if len(ratings) > MOST_RATINGS:
        yield from predicted_against_true(group)
        return
    parts = [(f"rated {rating:g}", answers.predicted[answers.truth == rating]) for rating in ratings]
    yield Heading(f"{group[best]}: predicted against true ratings")
    yield boxplots("", "predicted", parts)


def _errors_grid(answers: RatingAnswers) -> Element:
    """Rows of a user or item without a history have their own line: no method can do much about them."""
    rows: list[list[str]] = []
    for name, chosen in (("user and item known", ~answers.cold), ("cold start", answers.cold)):
        rating_answers = answers.take(np.flatnonzero(chosen & (answers.weights > 0)))
        if len(rating_answers):
            errors = (
                _score_text(rmse(rating_answers)),
                _score_text(weighted_mean(mae(rating_answers), rating_answers.weight)),
            )
            rows.append([name, f"{len(rating_answers):,}", *errors])
    return grid_of_numbers(["judged rows", "count", "rmse", "mae"], rows)


def _score_text(score: Score) -> str:
    return "undefined" if isinstance(score, Undefined) else fixed(score, UNIT_DECIMALS)


def _example_users(answers: RatingAnswers) -> list[Rows]:
    """The rows of a few users, each judged in one split: those of whose liked items most are in their list."""
    lists = lists_of(answers)
    hits = answers.liked & (answers.top == answers.item[:, None]).any(axis=1)
    result = np.bincount(lists, weights=hits)
    best = np.argsort(-result, kind="stable")
    users = answers.user[np.unique(lists, return_index=True)[1]]
    one_each = best[np.sort(np.unique(users[best], return_index=True)[1])]
    return [np.flatnonzero(lists == chosen) for chosen in one_each[:EXAMPLES]]


def _list_cells(answers: RatingAnswers, rows: Rows) -> list[Content]:
    liked = dict(zip(answers.item[rows].tolist(), answers.liked[rows].tolist(), strict=True))
    marks = {True: " +", False: " -"}
    top = [item for item in answers.top[rows[0]].tolist() if item >= 0]
    named = [answers.items[item] + (marks[liked[item]] if item in liked else "") for item in top]
    user = int(answers.user[rows[0]])
    return [strong(answers.users[user] if user >= 0 else "a new user"), ", ".join(named)]
