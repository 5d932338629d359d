"""Groups of rows with a relevance, told outright or drawn; and answers to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core.answers import Header
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table
from mlcli.models.ranking.ranking_svm import PreferencePairs, pairs_in_window, rows_in_window
from mlcli.tasks.ranking import GroupedRows, RankAnswers

COLOURS = ("blue", "green", "red")


def grouped(numbers: Any, relevance: Sequence[float], group: Sequence[int], weight: Any = None) -> GroupedRows:
    """Rows of numbers only."""
    X = np.array(numbers, np.float64, ndmin=2, order="C")
    columns = [(Column(f"x{i}"), cells) for i, cells in enumerate(X.T)]
    return GroupedRows(
        table=Table.of(columns, len(X)),
        rows=np.arange(len(X)),
        target="relevance",
        relevance=np.array(relevance, np.float64),
        groups=np.array(group, np.int32),
        names=tuple(f"g{i}" for i in range(max(group) + 1)),
        weight=None if weight is None else np.array(weight, np.float64),
    )


def answers(score: Any, relevance: Any, group: Any, weight: Any = None) -> RankAnswers:
    """What a model might have said."""
    return RankAnswers(
        header=Header(rows=np.arange(len(score)), weight=None if weight is None else np.array(weight, np.float64)),
        score=np.array(score, np.float64),
        relevance=np.array(relevance, np.float64),
        group=np.array(group, np.int32),
        names=tuple(f"g{i}" for i in range(max(group) + 1)),
    )


def drawn(accepts: Accepts, groups: int = 40, seed: int = 1, noise: float = 0.4) -> GroupedRows:
    """Groups of 2 to 6 rows whose relevance, from 0 to 3, follows two numbers and, where it may, a colour."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rng.integers(2, 7, groups))
    n = len(group)
    level = rng.normal(0, 5, groups)[group]
    length, width, colour = rng.normal(0, 1, n), rng.normal(0, 1, n), rng.integers(0, 3, n)
    worth = 2 * length - width + (colour == 2) + rng.normal(0, noise, n)
    parts: list[tuple[Column, Any]] = [
        (Column("length"), length),
        (Column("width"), width),
        (Column("level"), level),
    ]
    if accepts.nominal:
        parts.append((Column("colour", "nominal", COLOURS), colour))
    return GroupedRows(
        table=Table.of(parts, n),
        rows=np.arange(n),
        target="worth",
        relevance=np.clip(np.round(worth + 1), 0, 3),
        groups=group.astype(np.int32),
        names=tuple(f"g{i}" for i in range(groups)),
    )


def each_group(data: Any, value: Any) -> list[Array]:
    """The values of each group."""
    return [value[data.group == one] for one in np.unique(data.group)]


def pairs_of(value: Any, group: Any, weight: Any) -> PreferencePairs:
    """Every pair."""
    return pairs_in_window(value, weight, rows_in_window(group, value, -np.inf, np.inf))
