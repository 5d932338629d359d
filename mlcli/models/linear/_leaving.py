"""What a linear classifier minimises without each part of a round, for many parts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from mlcli.core.held_out import Round
from mlcli.core.tables import Array, Rows
from mlcli.models.linear._forms import Part
from mlcli.models.linear._frame import Frame, Units
from mlcli.models.linear._inverse import WIDE
from mlcli.models.linear._losses import CrossEntropy
from mlcli.models.linear._newton import descended, newton
from mlcli.models.linear._objective import Here, Objective
from mlcli.models.linear._standard import Scaled

BLOCK = 2**17
"""How many scores are held at a time."""
LEAST_ROWS = 256
"""Fewer rows at a time would cost more calls than they save room."""
TOGETHER = 64
"""So many parts are taken together at most."""
LARGEST_SCORE = 500.0
"""Up to it, powers need no care."""
TOLERANCE = 1e-10
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Leaving:
    """The minimum for all rows, and the objectives of the rows outside each part, as shares of all weight."""

    frame: Frame
    units: Units
    round_: Round
    whole: Objective
    """That of all rows, in the columns of the model."""
    there: Here
    """Its minimum."""
    rows_of_model: Array
    """The columns of the model over all rows, and ones."""
    l2: float
    """As a share of all weight."""

    @classmethod
    def of(cls, frame: Frame, round_: Round, part: Part, l2: float) -> Self | None:
        """None where the minimum for all rows is not found."""
        units, share = frame.of_everything, l2 / float(frame.weights.sum())
        if not units.sound.all() or len(part.outcomes) * len(units.share[0]) >= WIDE:
            return None
        columns = frame.filled(units.share[0])
        whole = _objective(frame, columns[:, :-1], units.strength[0] * share, part)
        there = newton(whole, whole.start, TOLERANCE, MOST_STEPS)
        if not there.converged:
            return None
        return cls(frame, frame.outside(round_), round_, whole, there.at, columns, share)

    def alone(self, part: int, start: Array) -> Array | None:
        """The coefficients without a part, by Newton's method from near it."""
        outside = np.flatnonzero(self.round_.part != part)
        columns = self.frame.filled(self.units.share[part])[outside, :-1]
        strength = np.append(self.units.strength[part] * self.l2, 0.0)
        objective = replace(self._of_rows(outside, columns), strength=strength)
        found = descended(objective, start, TOLERANCE, MOST_STEPS)
        return found.at.w if found.converged else None

    def slope(self, parts: Rows, w: Array) -> Array:
        """The slopes without some parts (parts × outputs × columns), each at coefficients of its own."""
        mixing, share = self.whole.mixing, self.units.share[parts]
        columns = self.frame.spread(w, share)
        mixed = np.einsum("ij,bjc->ibc", mixing, columns)
        lines = mixed.reshape(-1, columns.shape[2])
        gathered = np.zeros_like(lines)
        for rows in self._blocks(len(lines)):
            block = self.frame.columns[rows]
            scores = self._room[: len(lines) * len(block)].reshape(len(lines), len(block))
            np.matmul(lines, block.T, out=scores)
            self._bend(scores.reshape(len(mixing), len(parts), len(block)), parts, rows)
            gathered += scores @ block
        gathered *= 1.0 if self._uneven else self.whole.loss.weights[0]
        slopes = np.einsum("ij,ibc->bjc", mixing, gathered.reshape(mixed.shape))
        inside = self.frame.gathered(slopes, share)
        inside[..., :-1] += self.l2 * self.units.strength[parts][:, None, :] * w[..., :-1]
        return inside

    @cached_property
    def _room(self) -> Array:
        """Where scores are made slopes, again and again."""
        return np.empty(max(BLOCK, LEAST_ROWS * TOGETHER * len(self.whole.mixing)))

    def _blocks(self, lines: int) -> Iterator[slice]:
        size = max(LEAST_ROWS, BLOCK // max(lines, 1))
        return (slice(first, first + size) for first in range(0, len(self.frame.columns), size))

    def _bend(self, scores: Array, parts: Rows, rows: slice) -> None:
        """Put the slope of the loss in scores (outputs × parts × rows) in their place, 0 in a part's own rows."""
        (_become_share if len(scores) == 1 else _become_shares)(scores)
        scores -= self.whole.loss.outcomes[:, None, rows]
        if self._uneven:
            scores *= self.whole.loss.weights[rows]
        scores[:, *self._own_places(parts, rows)] = 0.0

    @cached_property
    def _uneven(self) -> bool:
        """Whether rows weigh differently; else their weight is left to the end."""
        return bool(np.ptp(self.whole.loss.weights))

    def _own_places(self, parts: Rows, rows: slice) -> tuple[Rows, Rows]:
        """Where rows of a block are of one of some parts: the place of the part, and that of the row."""
        place = np.full(self.round_.parts + 1, -1)
        place[parts] = np.arange(len(parts))
        of_rows = place[self.round_.part[rows]]
        own = np.flatnonzero(of_rows >= 0)
        return of_rows[own], own

    def slope_at_start(self, parts: Rows) -> Array:
        """About the slopes without some parts at the minimum for all rows: gaps are filled as they are there."""
        strength = self.l2 * self.units.strength[parts]
        slopes = -self._pull(parts)
        slopes[..., :-1] += (strength - self.whole.strength[:-1])[:, None, :] * self.there.w[:, :-1]
        return slopes

    def _pull(self, parts: Rows) -> Array:
        """The slope, at the minimum for all rows, of the loss of some parts."""
        loss, X = self.whole.loss, self.rows_of_model
        bent = self.whole.mixing.T @ (self.there.shares * loss.weights - loss.weighted)
        if self.round_.one_by_one:
            return np.asarray(bent.T[parts][:, :, None] * X[parts][:, None, :])
        each = (self.round_.rows_of[part] for part in parts)
        return np.array([bent[:, rows] @ X[rows] for rows in each])

    def own_scores(self, parts: Rows, w: Array) -> Sequence[Array] | Array:
        """The scores of the rows of some parts (rows × outputs), each by coefficients of its own."""
        columns = self.frame.spread(w, self.units.share[parts])
        if self.round_.one_by_one:
            return np.asarray(np.einsum("bc,bjc->bj", self.frame.columns[parts], columns)[:, None, :])
        return [self._own_columns[part] @ lines.T for part, lines in zip(parts.tolist(), columns, strict=True)]

    @cached_property
    def _own_columns(self) -> list[Array]:
        return [self.frame.columns[rows] for rows in self.round_.rows_of]

    def curvature_of(self, part: int) -> Array:
        """What the rows of a part add to the curvature at the minimum for all rows."""
        rows = self.round_.rows_of[part]
        own = replace(self._of_rows(rows, self.whole.X.columns[rows]), strength=np.zeros_like(self.whole.strength))
        return own.curvature(replace(self.there, shares=self.there.shares[:, rows]))

    def _of_rows(self, rows: Rows, columns: Array) -> Objective:
        loss = self.whole.loss
        some = CrossEntropy(loss.outcomes[:, rows], loss.weights[rows])
        return replace(self.whole, X=replace(self.whole.X, columns=columns), loss=some)


def _become_share(scores: Array) -> None:
    """Put the share of the second class in the place of its only score."""
    np.negative(scores, out=scores)
    with np.errstate(over="ignore"):
        np.exp(scores, out=scores)
    scores += 1.0
    np.reciprocal(scores, out=scores)


def _become_shares(scores: Array) -> None:
    """Put the shares of all classes but the first in the place of scores (first axis) relative to it."""
    highest = scores.max(axis=0, initial=0.0) if np.max(scores, initial=0.0) > LARGEST_SCORE else 0.0
    if np.ndim(highest):
        scores -= highest
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    total += np.exp(-highest)
    scores /= total


def _objective(frame: Frame, columns: Array, strength: Array, part: Part) -> Objective:
    width = columns.shape[1]
    X = Scaled(columns, np.zeros(width), np.ones(width), True, 1.0)
    loss = CrossEntropy(part.outcomes, frame.weights / frame.weights.sum())
    return Objective(X, loss, part.mixing, part.bound, np.append(strength, 0.0))
