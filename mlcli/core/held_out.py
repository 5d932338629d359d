"""Answers to every part of a round at once: what a method may give in the place of being fitted part by part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows


@dataclass(frozen=True, eq=False)
class Round:
    """Rows dealt into parts: each part is judged by what is learned from all rows outside it.

    ``part`` has the part of each row, -1 for rows that are only learned from.
    """

    part: Codes
    parts: int

    @cached_property
    def sizes(self) -> Rows:
        """How many rows each part has."""
        return np.bincount(self.part[self.part >= 0], minlength=self.parts).astype(np.intp)

    @cached_property
    def one_by_one(self) -> bool:
        """Whether every row is a part of its own, in order."""
        return self.parts == len(self.part) and bool((self.part == np.arange(self.parts)).all())

    @cached_property
    def rows_of(self) -> tuple[Rows, ...]:
        """The rows of each part, in order."""
        return tuple(np.split(self.judged, np.cumsum(self.sizes)[:-1]))

    @cached_property
    def judged(self) -> Rows:
        """The rows of the first part, then of the second, ..."""
        order = np.argsort(self.part, kind="stable").astype(np.intp)
        return order[len(order) - int(self.sizes.sum()) :]

    @cached_property
    def learned_only(self) -> Rows:
        """The rows that no part judges."""
        return np.flatnonzero(self.part < 0)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """``answers`` has a value (n or n × 1) or probabilities (n × K) for each row, by what other rows teach.

    Parts that are ``refused`` must be fitted after all: what stands for their rows means nothing.
    """

    answers: Array
    refused: Flags
    route: str
    """How it was done, in a few words."""


def refusing_not_finite(held: HeldOut, round_: Round) -> HeldOut:
    """The same, with every part refused that has an answer which is no number."""
    finite = np.isfinite(held.answers.reshape(len(held.answers), -1)).all(axis=1)
    wrong = np.zeros(round_.parts, bool)
    wrong[round_.part[~finite & (round_.part >= 0)]] = True
    return HeldOut(held.answers, held.refused | wrong, held.route)


def totals_outside(values: Array, round_: Round) -> Array:
    """The sum of the rows of ``values`` (n × K) outside each part (parts × K), by adding only."""
    judged = round_.part >= 0
    part = round_.part[judged]
    summed = (np.bincount(part, column, round_.parts) for column in values[judged].T)
    inside = values if round_.one_by_one else np.stack(list(summed), axis=1)
    nothing = np.zeros((1, values.shape[1]))
    before = np.concatenate([nothing, np.cumsum(inside, axis=0)[:-1]])
    after = np.concatenate([np.cumsum(inside[::-1], axis=0)[::-1][1:], nothing])
    return np.asarray(before + after + values[~judged].sum(axis=0))
