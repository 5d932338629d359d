"""Least squares along a path of absolute penalties: from the least one that leaves no column, downwards.

Where the user gives no strength, Akaike's criterion chooses one on the path, with its correction for few rows: the
degrees of freedom are the columns that are left, less what a squared penalty takes (Zou, Hastie & Tibshirani
2007).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned
from mlcli.core.tables import Array
from mlcli.engines.linear_design import Design, root_weighted
from mlcli.engines.linear_values import LinearValues
from mlcli.engines.penalties import Penalty
from mlcli.engines.solvers.coordinate_descent import TINY, Squares
from mlcli.tasks.regression import ValuedRows

POINTS, LEAST = 100, 1e-3
"""How many strengths the path has, and the last one as a share of the first."""
ROUGH = 1e-9
"""How precisely the path is solved; where it ends, to rounding."""
ADVICE = "a larger penalty, or columns of one scale, would help"
DRAWN = 12
"""So many columns of the path are drawn, those that enter first."""
NOTHING = 1e-12
"""A residual of so small a share of the target's squares is rounding."""


@dataclass(kw_only=True, eq=False)
class PenaltyPath(LinearValues):
    """A linear function whose coefficients are paid for, and what they are at other prices."""

    strength_: float = learned()
    chosen_: bool = learned()
    """Whether the criterion chose it."""
    strengths_: Array = learned()
    path_: Array = learned()
    """The coefficients (strengths × columns)."""
    criterion_: Array = learned()

    def learn_path(self, data: ValuedRows, strength: float | None, share: float) -> None:
        """Solve for every strength of the path, then for the one that is given or chosen.

        A unit of |coefficient| costs strength × share, half a unit of its square strength × (1 − share).
        """
        data = data.counted()
        design = Design.by_column(data, self.intercept)
        level = design.mean(data.y) if self.intercept else 0.0
        squares = Squares(design.rooted / design.scale, root_weighted(data.y - level, design.weight))

        def penalty(of: float) -> Penalty:
            return Penalty(of * (1 - share) / design.scale**2, of * share / design.scale)

        highest = float((np.abs(squares.toward) * design.scale).max(initial=0.0)) / share
        self.strengths_ = highest * LEAST ** np.linspace(0, 1, POINTS)
        found = np.zeros((POINTS, len(design.scale)))
        self.criterion_ = np.full(POINTS, np.inf)
        for k in range(POINTS):
            found[k], _ = squares.minimum(penalty(self.strengths_[k]), found[k - 1], ROUGH)
            self.criterion_[k] = _criterion(squares, found[k], penalty(self.strengths_[k]), design.total)
        best = int(np.argmin(self.criterion_))
        self.chosen_ = strength is None
        self.strength_ = float(self.strengths_[best]) if strength is None else strength
        nearest = int(np.argmin(np.abs(self.strengths_ - self.strength_)))
        w, settled = squares.minimum(penalty(self.strength_), found[nearest])
        if not settled:
            warnings.warn(f"{self.id} has not settled; {ADVICE}", MlcliWarning, stacklevel=2)
        self.path_ = design.coefficients(found / design.scale)
        self.learn_slopes(design, w / design.scale, level)

    def check_learned(self) -> None:
        """Refuse a path that does not fit the columns."""
        super().check_learned()
        if self.path_.shape != (len(self.strengths_), len(self.columns_)):
            raise ValueError("a path that does not fit its strengths and columns")

    def path_curve(self, over: str) -> findings.Curve:
        """The coefficients over the strength, of the columns that enter first."""
        entered = np.where((self.path_ != 0).any(axis=0), (self.path_ != 0).argmax(axis=0), len(self.path_))
        first = np.argsort(entered, kind="stable")[:DRAWN]
        series = tuple((self.columns_[j].name, tuple(map(float, self.path_[:, j]))) for j in first.tolist())
        more = f" {len(first)} of {len(entered)} columns, those that enter first." if len(entered) > DRAWN else ""
        return findings.Curve(
            "Coefficients by strength of the penalty", over, tuple(map(float, self.strengths_)), series,
            note=f"Fitted with {self.strength_:.6g}.{more}",
        )  # fmt: skip

    def left_out(self) -> str:
        """How the strength came about, and which columns it left out."""
        gone = [column.name for column, w in zip(self.columns_, self.coefficients_, strict=True) if w == 0]
        how = "chosen on the path by Akaike's criterion" if self.chosen_ else "as given"
        names = f": {', '.join(gone[:DRAWN])}{' ...' if len(gone) > DRAWN else ''}" if gone else ""
        return (
            f"Strength {self.strength_:.6g}, {how}; {len(gone)} of {len(self.columns_)} columns left out{names}."
        )


def _criterion(squares: Squares, w: Array, penalty: Penalty, total: float) -> float:
    """Akaike's criterion for normal noise, corrected for few rows; infinite where too few are left for it."""
    inside = w != 0
    if np.count_nonzero(inside) + 3 >= max(total, len(squares.y)):
        return np.inf
    free = float(np.count_nonzero(inside)) + 2
    if penalty.l2.any():
        own = penalty.l2[inside]
        free -= float(np.trace(np.linalg.solve(squares.products(inside) + np.diag(own), np.diag(own))))
    left = max(squares.left(w), NOTHING * float(squares.y @ squares.y), TINY)
    if total - free - 1 <= 0:
        return np.inf
    return float(total * np.log(left / total) + 2 * free * total / (total - free - 1))
