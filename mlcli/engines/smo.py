"""The dual problem of support vector machines, solved by SMO: classes, values and one class alike.

    maximise Σᵢ tᵢβᵢ − ½ Σᵢⱼ βᵢβⱼ K(xᵢ, xⱼ) − ε Σᵢ|βᵢ|  with  lowerᵢ ≤ βᵢ ≤ upperᵢ and Σβ as it is at the start

gives f(x) = Σᵢ βᵢ K(xᵢ, x) + b. For classes y = ±1 the targets are y, β = αy and its bounds 0 and Cy; for values
the targets are the values and the bounds −C and C; for one class the targets are 0 and a start has Σβ = 1. Pairs
are chosen as LIBSVM does; all rows are looked at for each of them, since setting some aside (shrinking) did not
pay.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.symmetric import inverse_factor

MOVES = 2_000_000
"""Pairs are moved at most so often, and 1,000 times for each row."""
RIDGE = 1e-10
"""Share of the kernel's size that keeps systems of equal support vectors solvable."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The coefficients of the training rows, and what follows from them."""

    beta: Array
    lower: Array
    upper: Array
    offset: float
    residual: Array
    """target − Kβ: what the training rows lack of their targets, without the offset."""
    converged: bool

    @property
    def free(self) -> Flags:
        """The support vectors that are at no bound: those on the margin."""
        return np.asarray((self.beta != 0) & (self.beta > self.lower) & (self.beta < self.upper))

    @property
    def bounded(self) -> Flags:
        """The support vectors at a bound: those inside the margin."""
        return np.asarray((self.beta != 0) & ~self.free)

    def turned(self, sign: float) -> Solution:
        """The same for targets of the other sign, where that is negative."""
        if sign > 0:
            return self
        turned = replace(self, beta=-self.beta, lower=-self.upper, upper=-self.lower)
        return replace(turned, offset=-self.offset, residual=-self.residual)


def solve(
    K: Array,
    target: Array,
    lower: Array,
    upper: Array,
    *,
    epsilon: float = 0.0,
    start: Array | None = None,
    tolerance: float = 1e-3,
    moves: int = MOVES,
    rows: Rows | None = None,
) -> Solution:
    """The maximum, up to ``tolerance`` in what a pair of coefficients could still gain per unit.

    Of only some ``rows``, ascending, where that is asked for: the coefficients of the others are 0.
    """
    from mlcli.kernels.svm.climbing import CHUNK, FAR, climb

    beta = np.zeros(len(target)) if start is None else start.astype(np.float64)
    residual = target.astype(np.float64) if start is None else target - K @ beta
    raising = np.where(beta >= upper, -FAR, np.where(beta >= 0, -epsilon, epsilon))
    lowering = np.where(beta <= lower, FAR, np.where(beta > 0, -epsilon, epsilon))
    spans = spans_of(np.arange(len(target)) if rows is None else rows)
    most = moves + 1000 * int((spans[:, 1] - spans[:, 0]).sum())
    diagonal = np.diagonal(K).astype(np.float64)
    problem = K, spans, diagonal, lower, upper, float(epsilon), float(tolerance), most
    room = np.empty(len(target)), np.empty((2, CHUNK))
    made = climb(*problem, beta, residual, raising, lowering, *room)
    if made == most:
        text = f"stopped after {made} moves of pairs, so that the margin may not be the widest"
        warnings.warn(f"{text}; scaled columns or a smaller C would converge sooner", MlcliWarning, stacklevel=3)
    offset = _level(beta, residual + raising, residual + lowering, (beta > lower) & (beta < upper) & (beta != 0))
    return Solution(beta, lower, upper, offset, residual, made < most)


def spans_of(rows: Rows) -> Rows:
    """Beginnings and ends of ascending rows that follow one another."""
    breaks = np.flatnonzero(np.diff(rows) > 1)
    return np.column_stack([rows[np.r_[0, breaks + 1]], rows[np.r_[breaks, -1]] + 1])


def _level(beta: Array, gain: Array, cost: Array, free: Flags) -> float:
    """The offset b: the mean over free coefficients, or the middle of what the others allow."""
    return float(gain[free].mean()) if free.any() else float(gain.max() + cost.min()) / 2


def left_out(K: Array, solution: Solution) -> Array:
    """By how much f(xᵢ) would be lower (in the direction of βᵢ) had row i not been there: βᵢSᵢ², 0 for most rows.

    Sᵢ, the span, is the distance in the space of the kernel from xᵢ to what the support vectors on the margin span
    with coefficients that sum to 1. It is exact while the others stay where they are: on the margin, or at a
    bound.
    """
    free, bounded = np.flatnonzero(solution.free), np.flatnonzero(solution.bounded)
    squared = np.diagonal(K).astype(np.float64)
    if len(free):
        among = K[np.ix_(free, free)].astype(np.float64)
        among[np.diag_indices(len(free))] += RIDGE * max(squared[free].mean(), RIDGE)
        inverse = inverse_factor(among)
        ones = inverse.sum(axis=1)
        beside = inverse @ K[np.ix_(free, bounded)]
        squared[free] = 1.0 / ((inverse**2).sum(axis=0) - (ones @ inverse) ** 2 / (ones @ ones))
        squared[bounded] -= (beside**2).sum(axis=0) - (1 - ones @ beside) ** 2 / (ones @ ones)
    return np.asarray(solution.beta * np.maximum(squared, 0.0))
