"""The dual problem of support vector machines, solved by SMO (sequential minimal optimisation).

    maximise Σᵢ tᵢβᵢ − ½ Σᵢⱼ βᵢβⱼ K(xᵢ, xⱼ) − ε Σᵢ|βᵢ|  with  lowerᵢ ≤ βᵢ ≤ upperᵢ and Σβ as it is at the start

gives f(x) = Σᵢ βᵢ K(xᵢ, x) + b. For classes y = ±1 the targets are y, β = αy and its bounds 0 and Cy; for values
the targets are the values and the bounds −C and C; for one class the targets are 0 and a start has Σβ = 1. Pairs
are chosen as in LIBSVM; long searches set aside rows that would stay at their bound (shrinking).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.calibration import LEAST_SLOPE
from mlcli.engines.symmetric import inverse_factor

RIDGE = 1e-10
"""The share of the kernel's size that keeps systems of equal support vectors solvable."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The coefficients of the training rows, with the offset and the residuals."""

    target: Array
    beta: Array
    lower: Array
    upper: Array
    offset: float
    residual: Array
    """target − Kβ, without the offset."""
    converged: bool
    stopped: bool
    """Whether any coefficient reached a bound; otherwise wider bounds would change nothing."""

    @property
    def products(self) -> Array:
        """Kβ."""
        return self.target - self.residual

    @property
    def scores(self) -> Array:
        """The f of the training rows."""
        return self.products + self.offset

    @property
    def norm(self) -> float:
        """‖w‖ = √(βᵀKβ)."""
        return float(np.sqrt(max(float(self.beta @ self.products), 0.0)))

    @cached_property
    def free(self) -> Flags:
        """The support vectors at no bound, which are on the margin."""
        return np.asarray((self.beta != 0) & (self.beta > self.lower) & (self.beta < self.upper))

    @cached_property
    def bounded(self) -> Flags:
        """The support vectors at a bound, which are inside the margin."""
        return np.asarray((self.beta != 0) & ~self.free)

    def turned(self, sign: float) -> Solution:
        """The solution for targets times a sign."""
        if sign > 0:
            return self
        signs = {name: -getattr(self, name) for name in ("target", "beta", "offset", "residual")}
        return replace(self, lower=-self.upper, upper=-self.lower, **signs)


@dataclass(eq=False)
class DualAscent:
    """The coefficients and the residuals while pairs are moved."""

    K: Array
    lower: Array
    upper: Array
    epsilon: float
    tolerance: float
    beta: Array
    residual: Array
    offset: float = 0.0
    stopped: bool = False

    def ascend(self, most: int) -> int:
        """Move pairs until none gains more, at most ``most`` times; return the number of moves."""
        from mlcli.kernels.svm.smo import LANES, move_pairs

        limits = float(self.epsilon), float(self.tolerance), most
        self.room = np.empty((4, len(self.beta)))
        problem = self.K, self.lower, self.upper, *limits, self.beta, self.residual
        moves, stopped, self.offset = move_pairs(*problem, self.room, np.empty(LANES))
        self.stopped |= stopped
        return moves

    def movable(self) -> Rows:
        """The rows whose coefficients would gain by a move with some other row."""
        gain, cost = self.residual + self.room[:2]
        return np.flatnonzero((gain > cost.min()) | (cost < gain.max()))

    def ascend_among(self, rows: Rows, most: int) -> int:
        """Move pairs among a few rows (shrinking)."""
        bounds = self.lower[rows], self.upper[rows]
        limits = *bounds, self.epsilon, self.tolerance
        few = DualAscent(self.K[np.ix_(rows, rows)], *limits, self.beta[rows], self.residual[rows])
        moves = few.ascend(most)
        self.stopped |= few.stopped
        change = few.beta - self.beta[rows]
        moved = np.flatnonzero(change)
        self.residual -= change[moved] @ self.K[rows[moved]]
        self.beta[rows] = few.beta
        return moves


def solve(
    K: Array,
    target: Array,
    lower: Array,
    upper: Array,
    *,
    epsilon: float = 0.0,
    start: Array | None = None,
    tolerance: float = 1e-3,
    moves: int = 2_000_000,
) -> Solution:
    """The maximum, up to ``tolerance`` in what a pair of coefficients could still gain per unit.

    At most ``moves`` pairs are moved, and 1,000 for each row.
    """
    beta = np.zeros(len(target)) if start is None else start.astype(np.float64)
    residual = target.astype(np.float64) if start is None else target - K @ beta
    ascent = DualAscent(K, lower, upper, epsilon, tolerance, beta, residual)
    most, total, per_round = moves + 1000 * len(target), 0, max(1_000, len(target))
    while True:
        last = ascent.ascend(min(per_round, most - total))
        total += last
        if last < per_round or total >= most:
            break
        rows = ascent.movable()
        if len(rows) < 0.7 * len(target):  # otherwise setting aside the others does not pay
            total += ascent.ascend_among(rows, most - total)
    if total >= most:
        text = f"stopped after {total} moves of pairs, so that the margin may not be the widest"
        warnings.warn(f"{text}; scaled columns or a smaller C would converge sooner", MlcliWarning, stacklevel=3)
    return Solution(target, beta, lower, upper, ascent.offset, residual, total < most, ascent.stopped)


def among(K: Array, spans: Sequence[slice], room: Array) -> Array:
    """The kernel among some spans of rows, in memory that is used again, since fresh memory is slow."""
    size = sum(span.stop - span.start for span in spans)
    if size == len(K):
        return K
    part = room[: size**2].reshape(size, size)
    begin = 0
    for down in spans:
        end = begin + down.stop - down.start
        np.concatenate([K[down, across] for across in spans], axis=1, out=part[begin:end])
        begin = end
    return part


def left_out(K: Array, solution: Solution) -> Array:
    """By how much f(xᵢ) would fall (in the direction of βᵢ) without row i: βᵢSᵢ², 0 for most rows.

    Sᵢ, the span, is the distance in feature space from xᵢ to the affine span of the support vectors on the margin.
    It is exact if all other rows stay on the margin, or at their bound.
    """
    from mlcli.kernels.svm.left_out import losses, spans

    free, bounded = np.flatnonzero(solution.free), np.flatnonzero(solution.bounded)
    lost, m = np.zeros(len(K)), len(free)
    squares, products = np.empty((2, 2 * m + 1 + len(bounded)))
    few = m <= 200  # with more rows on the margin, products of blocks are faster than one elimination
    work = np.empty((m, len(squares)) if few else 0)
    if few and spans(K, free, bounded, RIDGE, work, squares, products):
        squares, products = squares[m:], products[m:]
    else:
        squares, products = _sums_by_blocks(K, free, bounded)
    losses(K, solution.beta, free, bounded, squares, products, lost)
    return lost


def _sums_by_blocks(K: Array, free: Rows, bounded: Rows) -> Array:
    """The squares and products that ``spans`` fills, by LAPACK and products of blocks."""
    A = K[np.ix_(free, free)].astype(np.float64)
    A[np.diag_indices(len(free))] += RIDGE * max(A.diagonal().mean(), RIDGE)
    inverse = inverse_factor(A)
    ones = inverse.sum(axis=1)
    parts = ones[:, None], inverse @ K[np.ix_(free, bounded)], inverse
    return np.hstack([np.vstack([(part**2).sum(axis=0), ones @ part]) for part in parts])


def slope_of_two(score: Array, sides: Array, weights: Array) -> float:
    """``calibration.slope`` of one score for the second of two classes, whose sides are −1 and 1."""
    from mlcli.kernels.svm.left_out import likeliest_slope

    return likeliest_slope(score, sides, weights, LEAST_SLOPE)
