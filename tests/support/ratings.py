"""Ratings written down by hand, and ratings drawn from users and items that differ in known ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core.answers import Header
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.tasks.recommendation import RatingAnswers, Ratings

USERS, ITEMS = 30, 20


def ratings(
    users: Sequence[int], items: Sequence[int], values: Sequence[float], weight: Any = None, known: int = 0
) -> Ratings:
    """Rows of user, item and rating; there are ``known`` users and items at least."""
    columns = [
        Column(name, "nominal", tuple(f"{name}{code}" for code in range(max(known, *codes, 0) + 1)))
        for name, codes in (("user", users), ("item", items))
    ]
    cells = [np.array(codes, np.int32) for codes in (users, items)]
    return Ratings(
        table=Table.of(zip(columns, cells, strict=True), len(values)),
        rows=np.arange(len(values)),
        target="stars",
        y=np.array(values, np.float64),
        weight=None if weight is None else np.array(weight, np.float64),
    )


def drawn(seed: int = 1, rows: int = 400, traits: int = 1) -> Ratings:
    """Different pairs, whose rating is 3 + generosity + quality + how well their traits agree, and some noise."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(USERS * ITEMS)[:rows]
    users, items = pairs // ITEMS, pairs % ITEMS
    generosity, quality = rng.normal(0, 0.7, USERS), rng.normal(0, 0.7, ITEMS)
    p, q = rng.normal(0, 1, (USERS, traits)), rng.normal(0, 1, (ITEMS, traits))
    y = 3 + generosity[users] + quality[items] + (p[users] * q[items]).sum(axis=1) + rng.normal(0, 0.1, rows)
    return ratings(users.tolist(), items.tolist(), y.tolist())


def halves(data: Ratings) -> tuple[Ratings, Ratings]:
    """Two thirds to learn from, the rest to be asked about."""
    cut = 2 * len(data) // 3
    return data.take(np.arange(cut)), data.take(np.arange(cut, len(data)))


def answers_with(
    user: Sequence[int], item: Sequence[int], liked: Sequence[bool], top: Sequence[Sequence[int]]
) -> RatingAnswers:
    """Answers to rows, each with the list of its user."""
    n = len(user)
    lists = np.full((n, 10), -1, np.int32)
    for row, items in enumerate(top):
        lists[row, : len(items)] = items
    return RatingAnswers(
        header=Header(rows=np.arange(n)),
        truth=np.zeros(n),
        predicted=np.zeros(n),
        user=np.array(user, np.int32),
        item=np.array(item, np.int32),
        cold=np.zeros(n, bool),
        liked=np.array(liked, bool),
        top=lists,
        users=tuple(f"u{code}" for code in range(max(user) + 1)),
        items=tuple(f"i{code}" for code in range(50)),
    )
