"""Coordinate descent for squares with absolute penalties (Friedman, Hastie & Tibshirani 2010).

Only columns that are not left out are worked on; those that the gradient says belong to them join, until none
does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Flags
from mlcli.engines.linear_objective import Penalty

ENOUGH = 1e-13
"""How far an entry of the gradient may still move, as a share of the largest at 0."""
MOST_PASSES = 100_000
TINY = 1e-300
FEW = 64
"""So many columns are worked on at once."""


def quadratic_minimum(gram: Array, toward: Array, l1: Array, start: Array) -> Array:
    """Argmin of ½ wᵀ G w − toward·w + Σ l1_j |w_j|, from a start; a coefficient without curvature stays."""
    w = start.copy()
    _descend(gram, toward, Penalty(np.zeros(len(w)), l1), w, _bound(toward, ENOUGH))
    return w


@dataclass(frozen=True, eq=False)
class Squares:
    """½ ‖y − X w‖²; all products of columns are kept where there are no more columns than rows."""

    X: Array
    y: Array

    @cached_property
    def toward(self) -> Array:
        """Minus the gradient at 0."""
        return np.asarray(self.y @ self.X)

    @cached_property
    def gram(self) -> Array | None:
        """The products of columns."""
        return np.asarray(self.X.T @ self.X) if self.X.shape[1] <= len(self.X) else None

    def products(self, columns: Flags) -> Array:
        """The products of some columns."""
        if self.gram is not None:
            return self.gram[np.ix_(columns, columns)]
        subset = self.X[:, columns]
        return np.asarray(subset.T @ subset)

    def left(self, w: Array) -> float:
        """‖y − X w‖²."""
        return float(self.y @ self.y + (self._slope(w) - self.toward) @ w)

    def minimum(self, penalty: Penalty, start: Array, enough: float = ENOUGH) -> tuple[Array, bool]:
        """Argmin of the squares + penalty, and whether that was reached."""
        w, bound = start.copy(), _bound(self.toward, enough)
        if len(w) <= FEW and self.gram is not None:
            return w, _descend(self.gram, self.toward, penalty, w, bound)
        within = (w != 0) | self._belonging(w, penalty, bound)
        while within.any():
            some, inside = Penalty(penalty.l2[within], penalty.l1[within]), w[within]
            settled = _descend(self.products(within), self.toward[within], some, inside, bound)
            w[within] = inside
            join = self._belonging(w, penalty, bound) & ~within
            if not (settled and join.any()):
                return w, settled
            within |= join
        return w, True

    def _belonging(self, w: Array, penalty: Penalty, bound: float) -> Flags:
        """The columns whose gradient is larger than what their absolute penalty holds at 0."""
        return np.asarray(np.abs(self._slope(w)) > penalty.l1 + bound)

    def _slope(self, w: Array) -> Array:
        """The gradient."""
        inside = w != 0
        if self.gram is not None:
            return np.asarray(w[inside] @ self.gram[inside] - self.toward)
        return np.asarray((self.X[:, inside] @ w[inside] - self.y) @ self.X)


def _descend(gram: Array, toward: Array, penalty: Penalty, w: Array, bound: float) -> bool:
    """Improve coefficients in place until no entry of the gradient moves by more than a bound."""
    from mlcli.kernels.linear.coordinate_descent import descend_quadratic

    gram = np.ascontiguousarray(gram)
    return bool(descend_quadratic(gram, toward, penalty.l1, penalty.l2, w, bound, MOST_PASSES) < MOST_PASSES)


def _bound(toward: Array, enough: float) -> float:
    return enough * max(float(np.abs(toward).max(initial=0.0)), TINY)
