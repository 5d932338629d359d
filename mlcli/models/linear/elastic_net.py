"""Elastic net: least squares with a penalty on size and squared size, which leaves columns out in groups.

Formula:
    Minimise ½ Σ (y_i − b − w·x_i)² + strength·(share·Σ_j |w_j| + (1 − share)/2·Σ_j w_j²).

Assumes:
    The target is linear in some of the columns. The penalty depends on units, so columns are best standardised
    first. Columns that say nearly the same get nearly the same coefficients, where lasso would keep one of them.

Cost:
    n·p² for the products of columns, then p for each coefficient that moves; beyond 3,000 columns n for each. The
    whole path of 100 strengths costs little more than its last one.

Choices:
    Scikit-learn's l1_ratio is share, its alpha is strength / n, as it divides the squares by n. A share of 1 is
    lasso; towards 0 it becomes ridge with l2 = strength. The intercept is not penalised. Where no strength is
    given, Akaike's criterion (with its correction for few rows) chooses one on the path, which goes on to smaller
    strengths for as long as the criterion falls. A weight counts a row that many times.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import SearchRanges, SharesWork
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import Among, ByRows, Range, log_range, warn_at_edge
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.core.tolerances import ROUNDING
from mlcli.engines.linear_objective import Penalty
from mlcli.engines.solvers.coordinate_descent import TINY, Squares
from mlcli.models.linear._design import Design, LinearValues, root_weighted
from mlcli.tasks.regression import Regressor, ValuedRows

POINTS, LEAST = 100, 1e-3
"""How many strengths the path has at least, and the last of these as a share of the first."""
FARTHEST = 4
"""The path may go on to LEAST to this power, with as many points again."""
FALL = 1e-3
"""It goes on while each further point lowers the criterion by more than this."""
ROUGH = 1e-9
"""How precisely the path is solved; where it ends, to rounding."""
ADVICE = "a larger penalty, or columns of one scale, would help"
NO_PENALTY = "hardly any penalty is best, as in linear-regression"
NO_COLUMN = "no column improves Akaike's criterion"
DRAWN = 12
"""So many columns of the path are drawn, those that enter first."""


@dataclass(frozen=True, eq=False)
class SolvedPath:
    """The coefficients at every strength of the path, from the least one that leaves no column."""

    design: Design
    squares: Squares
    level: float
    share: float
    strengths: Array
    found: Array
    criterion: Array

    @staticmethod
    def of(data: ValuedRows, share: float, intercept: bool) -> SolvedPath:
        """Each strength begins where the one before has ended."""
        design = Design.by_column(data, intercept)
        level = design.mean(data.y) if intercept else 0.0
        squares = Squares(design.rooted / design.scale, root_weighted(data.y - level, design.weight))
        highest = float((np.abs(squares.toward) * design.scale).max(initial=0.0)) / share
        path = SolvedPath(design, squares, level, share, *(np.empty(0) for _ in range(3)))
        exponents = np.append(np.linspace(0, 1, POINTS), np.linspace(1, FARTHEST, POINTS)[1:])
        results, criterion = [np.zeros(len(design.scale))], [np.inf]
        for strength in highest * LEAST**exponents:
            penalty = path.penalty(strength)
            results.append(squares.minimum(penalty, results[-1], ROUGH)[0])
            criterion.append(_criterion(squares, results[-1], penalty, design.total))
            if len(criterion) > POINTS and not criterion[-1] < min(criterion[:-1]) - FALL:
                break
        strengths = (highest * LEAST**exponents)[: len(results) - 1]
        return replace(path, strengths=strengths, found=np.array(results[1:]), criterion=np.array(criterion[1:]))

    def penalty(self, strength: float) -> Penalty:
        """What the scaled columns pay."""
        of, scale = strength, self.design.scale
        return Penalty(of * (1 - self.share) / scale**2, of * self.share / scale)


@dataclass(kw_only=True, eq=False)
class PenaltyPath(LinearValues, SearchRanges, SharesWork):
    """A linear function whose coefficients are paid for, and what they are at other prices."""

    strength_: float = learned()
    chosen_: bool = learned()
    """Whether the criterion chose it."""
    strengths_: Array = learned("strengths")
    path_: Array = learned("strengths", "columns")
    """The coefficients (strengths × columns)."""
    criterion_: Array = learned()

    def learn_path(self, data: ValuedRows, strength: float | None, share: float) -> None:
        """Solve for every strength of the path, then for the one that is given or chosen.

        A unit of |coefficient| costs strength × share, half a unit of its square strength × (1 − share).
        """
        key = (self.id, share, self.intercept)
        path = self.shared(key, lambda: SolvedPath.of(data.counted(), share, self.intercept))
        design, level, found = path.design, path.level, path.found
        self.strengths_, self.criterion_ = path.strengths, path.criterion
        best = int(np.argmin(self.criterion_))
        self.chosen_ = strength is None
        self.strength_ = float(self.strengths_[best]) if strength is None else strength
        if self.chosen_ and len(self.columns_):
            warn_at_edge(
                f"the penalty that {self.id} chose", self.strength_, self.strengths_, NO_PENALTY, NO_COLUMN
            )
        nearest = int(np.argmin(np.abs(self.strengths_ - self.strength_)))
        w, settled = path.squares.minimum(path.penalty(self.strength_), found[nearest])
        if not settled:
            warnings.warn(f"{self.id} has not converged; {ADVICE}", MlcliWarning, stacklevel=2)
        self.path_ = design.coefficients(found / design.scale)
        self.learn_slopes(design, w / design.scale, level)

    def search_range(self, parameter: str, data: ValuedRows) -> Range | None:
        """From the least strength that leaves no column down to the end of the path."""
        if parameter not in ("l1", "strength"):
            return None
        data, share = data.counted(), float(getattr(self, "share", 1.0))
        design = Design.by_column(data, self.intercept)
        level = design.mean(data.y) if self.intercept else 0.0
        toward = design.rooted.T @ root_weighted(data.y - level, design.weight)
        highest = float(np.abs(toward).max(initial=0.0)) / share
        if highest == 0:
            return None
        strengths = SolvedPath.of(data, share, self.intercept).strengths
        return log_range(highest * float(strengths[-1] / strengths[0]), highest)

    def path_curve(self, over: str) -> findings.Curve:
        """The coefficients over the strength, of the columns that enter first."""
        entered = np.where((self.path_ != 0).any(axis=0), (self.path_ != 0).argmax(axis=0), len(self.path_))
        first = np.argsort(entered, kind="stable")[:DRAWN]
        series = tuple((self.columns_[j].name, tuple(map(float, self.path_[:, j]))) for j in first.tolist())
        more = f" {len(first)} of {len(entered)} columns, those that enter first." if len(entered) > DRAWN else ""
        return findings.Curve(
            "Regularisation path: coefficients by strength of the penalty",
            over, tuple(map(float, self.strengths_)), series,
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


@register("elastic-net", reference="Zou & Hastie 2005; Friedman, Hastie & Tibshirani 2010", revision=2)
class ElasticNet(PenaltyPath, Regressor):
    """Squares, absolute and squared coefficients, by coordinate descent."""

    strength: float | None = param(
        None,
        "strength of the penalty: the cost of w, in half squared errors; none: by the path",
        gt=0,
        tune=ByRows(simpler="high"),
    )
    share: float = param(
        0.5,
        "the L1 ratio: the share of the penalty that is on sizes, not on squares",
        gt=0,
        le=1,
        tune=Among((1.0, 0.5, 0.1)),
    )

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Solve for the path of strengths, then for the one that is given or chosen."""
        self.learn_path(data, self.strength, self.share)

    def explain(self) -> findings.Explanation:
        """The coefficients, and what they are at other strengths."""
        return self.coefficient_table(self.left_out()), self.path_curve("strength")


def _criterion(squares: Squares, w: Array, penalty: Penalty, total: float) -> float:
    """Akaike's criterion for normal noise, corrected for few rows; infinite where too few are left for it."""
    inside = w != 0
    if np.count_nonzero(inside) + 3 >= max(total, len(squares.y)):
        return np.inf
    free = float(np.count_nonzero(inside)) + 2
    if penalty.l2.any():
        own = penalty.l2[inside]
        free -= float(np.trace(np.linalg.solve(squares.products(inside) + np.diag(own), np.diag(own))))
    left = max(squares.left(w), ROUNDING * float(squares.y @ squares.y), TINY)
    if total - free - 1 <= 0:
        return np.inf
    return float(total * np.log(left / total) + 2 * free * total / (total - free - 1))
