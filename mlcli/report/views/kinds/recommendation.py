"""What recommenders answered: errors with and without a history, and the lists of a few users."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.tables import Rows
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.declaring import weighted_mean
from mlcli.metrics.scores.ratings import lists_of, mae, rmse
from mlcli.report.document import Content, Element, Heading, grid, grid_of_numbers, notes, strong
from mlcli.report.numbers import UNIT_DECIMALS, fixed
from mlcli.report.scoring.differences import best_in
from mlcli.report.scoring.scored import Group
from mlcli.report.views.distributions import boxplots
from mlcli.report.views.kinds.regression import predicted_against_true
from mlcli.tasks.recommendation import RatingAnswers

EXAMPLES = 3
"""How many users are shown with their lists."""
MOST_RATINGS = 12
READING = (
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
        yield notes(READING)


def predicted_by_rating(group: Group) -> Iterator[Element]:
    """What the best model has predicted where each rating was given; of very many ratings a point for each row."""
    if not (best := best_in(group)):
        return
    answers = best.answers
    ratings = np.unique(answers.truth)
    if len(ratings) > MOST_RATINGS:
        yield from predicted_against_true(group)
        return
    parts = [(f"rated {one:g}", answers.predicted[answers.truth == one]) for one in ratings]
    yield Heading(f"{group[best]}: predicted against true ratings")
    yield boxplots("", "predicted", parts)


def _errors_grid(answers: RatingAnswers) -> Element:
    """Rows of a user or item without a history have their own line: no method can do much about them."""
    rows: list[list[str]] = []
    for name, chosen in (("user and item known", ~answers.cold), ("cold start", answers.cold)):
        some = answers.take(np.flatnonzero(chosen & (answers.weights > 0)))
        if len(some):
            errors = (_score_text(rmse(some)), _score_text(weighted_mean(mae(some), some.weight)))
            rows.append([name, f"{len(some):,}", *errors])
    return grid_of_numbers(["judged rows", "count", "rmse", "mae"], rows)


def _score_text(score: Score) -> str:
    return "undefined" if isinstance(score, Undefined) else fixed(score, UNIT_DECIMALS)


def _example_users(answers: RatingAnswers) -> list[Rows]:
    """The rows of a few users, each judged in one split: those of whose liked items most are in their list."""
    lists = lists_of(answers)
    hits = answers.liked & (answers.top == answers.item[:, None]).any(axis=1)
    found = np.bincount(lists, weights=hits)
    best = np.argsort(-found, kind="stable")
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
