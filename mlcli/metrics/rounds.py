"""Splits that judge the same rows again while a protocol sweeps over something: what they say is one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.tables import Array

Rounds = Sequence[int]
"""For each split, the round of the sweep that it belongs to."""


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
