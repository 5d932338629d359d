"""The answers of several splits as one, and which splits of a sweep judge the same rows again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.tables import Array, Rows

Rounds = Sequence[int]
"""For each split, the round of the sweep that it belongs to."""
_POOLED: WeakKeyDictionary[Answers, tuple[tuple[Answers, ...], Answers]] = WeakKeyDictionary()
"""By the answers of the first split: those of the others, and all of them together; gone with the first."""


def joined(splits: Sequence[Answers]) -> Any:
    """The answers of all splits together, in their order."""
    first, *others = splits
    if not others:
        return first
    known, together = _POOLED.get(first, ((), first))
    if known != tuple(others):
        together = type(first).pooled(splits)
        _POOLED[first] = (tuple(others), together)
    return together


def distinct(answers: Answers) -> Any:
    """The first answer to each row: a repeated protocol asks about a row more than once."""
    first = np.unique(answers.rows, return_index=True)[1]
    return answers if len(first) == len(answers) else answers.take(np.sort(first))


def units_of(answers: Answers) -> Rows | None:
    """The group of each row; rows that hang together otherwise are known by the first of them."""
    if answers.header.group is not None:
        return np.asarray(answers.header.group)
    if answers.units is None:
        return None
    first = np.full(int(answers.units.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, answers.units, answers.rows)
    return np.asarray(first[answers.units])


def rounds_of(coordinates: Sequence[Coordinate | None], splits: Sequence[Answers]) -> Rounds | None:
    """One round for the splits that judge the same rows at different coordinates; None without coordinates."""
    if not any(coordinates):
        return None
    rounds: dict[tuple[bytes, int], int] = {}
    before: Counter[tuple[Coordinate | None, bytes]] = Counter()
    found = []
    for coordinate, answers in zip(coordinates, splits, strict=True):
        rows = answers.rows.tobytes()
        found.append(rounds.setdefault((rows, before[coordinate, rows]), len(rounds)))
        before[coordinate, rows] += 1
    return found


def by_round(values: Sequence[float] | Array, rounds: Rounds | None) -> Array:
    """The mean of each round; the values as they are where nothing is swept over."""
    found = np.array(values, dtype=np.float64)
    if rounds is None:
        return found
    place = np.unique(rounds, return_inverse=True)[1]
    return np.asarray(np.bincount(place, found) / np.bincount(place))


def counted_rounds(values: Array, rounds: Rounds | None) -> str:
    """What is counted, in words."""
    return f"{len(values)} splits" if rounds is None else f"{len(values)} splits, each the mean of its sweep"
