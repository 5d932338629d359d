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
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.abilities import SearchRanges, SharesWork
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import Among, ByRows, Range, log_range, warn_at_edge
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags
from mlcli.engines.linear_objective import Penalty
from mlcli.engines.solvers import PRECISION, descend_coordinates
from mlcli.models.linear._design import Design, root_weighted
from mlcli.models.linear._regression import LinearValues
from mlcli.tasks.supervised import Regressor, ValuedRows

DRAWN = 12
"""So many columns of the path are drawn or named, those that enter first."""
TINY = 1e-300
"""The least squared error whose logarithm is taken."""


@dataclass(frozen=True, eq=False)
class Squares:
    """½ ‖y − X w‖², minimised with a penalty by coordinate descent (Friedman, Hastie & Tibshirani 2010).

    Only columns that are not left out are worked on; those that the gradient says belong to them join, until none
    does. All products of columns are kept if there are no more columns than rows.
    """

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

    def gradient(self, w: Array) -> Array:
        """The gradient at some coefficients."""
        inside = w != 0
        if self.gram is not None:
            return np.asarray(w[inside] @ self.gram[inside] - self.toward)
        return np.asarray((self.X[:, inside] @ w[inside] - self.y) @ self.X)

    def sum_of_squares(self, w: Array) -> float:
        """‖y − X w‖²."""
        return float(self.y @ self.y + (self.gradient(w) - self.toward) @ w)

    def minimum(self, penalty: Penalty, start: Array, precision: float = PRECISION) -> tuple[Array, bool]:
        """Argmin of the squares + penalty, and whether the descent converged."""
        w, tolerance = start.copy(), precision * max(float(np.abs(self.toward).max(initial=0.0)), TINY)
        if len(w) <= 64 and self.gram is not None:  # so few columns are worked on at once
            return w, descend_coordinates(self.gram, self.toward, penalty, w, tolerance)
        inside = (w != 0) | (np.abs(self.gradient(w)) > penalty.l1 + tolerance)
        while inside.any():
            subset, w_inside = Penalty(penalty.l2[inside], penalty.l1[inside]), w[inside]
            converged = descend_coordinates(
                self.products(inside), self.toward[inside], subset, w_inside, tolerance
            )
            w[inside] = w_inside
            join = (np.abs(self.gradient(w)) > penalty.l1 + tolerance) & ~inside
            if not (converged and join.any()):
                return w, converged
            inside |= join
        return w, True


@dataclass(frozen=True, eq=False)
class SolvedPath:
    """The coefficients at every strength of the path, from the least one that leaves no column."""

    design: Design
    squares: Squares
    level: float
    share: float
    strengths: Array
    coefficients: Array
    """Strengths × columns of the design, in units of their scale."""
    criterion: Array

    def penalty(self, strength: float) -> Penalty:
        """What the scaled columns cost."""
        return _scaled_penalty(strength, self.share, self.design.scale)


def solve_path(data: ValuedRows, share: float, intercept: bool) -> SolvedPath:
    """Solve for falling strengths; each starts from the solution of the one before.

    The path has 100 strengths, down to a thousandth of the first. It goes on to 1e-12 of it, for as long as each
    further strength lowers the criterion by more than 0.001.
    """
    design = Design.of(data, intercept, in_row_space=False)
    level = design.mean(data.y) if intercept else 0.0
    squares = Squares(design.weighted / design.scale, root_weighted(data.y - level, design.weight))
    highest = float((np.abs(squares.toward) * design.scale).max(initial=0.0)) / share
    points = 100
    strengths = highest * 1e-3 ** np.append(np.linspace(0, 1, points), np.linspace(1, 4, points)[1:])
    path, criterion, w = list[Array](), [np.inf], np.zeros(len(design.scale))
    for strength in strengths:
        penalty = _scaled_penalty(strength, share, design.scale)
        w, _ = squares.minimum(penalty, w, precision=1e-9)
        path.append(w)
        criterion.append(_criterion(squares, w, penalty, design.total))
        if len(path) >= points and not criterion[-1] < min(criterion[:-1]) - 1e-3:
            break
    return SolvedPath(
        design, squares, level, share, strengths[: len(path)], np.array(path), np.array(criterion[1:])
    )


def _scaled_penalty(strength: float, share: float, scale: Array) -> Penalty:
    return Penalty(strength * (1 - share) / scale**2, strength * share / scale)


def _criterion(squares: Squares, w: Array, penalty: Penalty, total: float) -> float:
    """Akaike's criterion for normal noise, corrected for few rows; infinite if too few are left for it."""
    inside = w != 0
    if np.count_nonzero(inside) + 3 >= max(total, len(squares.y)):
        return np.inf
    free = float(np.count_nonzero(inside)) + 2
    if penalty.l2.any():
        own = penalty.l2[inside]
        free -= float(np.trace(np.linalg.solve(squares.products(inside) + np.diag(own), np.diag(own))))
    residual = max(squares.sum_of_squares(w), ROUNDING * float(squares.y @ squares.y), TINY)
    if total - free - 1 <= 0:
        return np.inf
    return float(total * np.log(residual / total) + 2 * free * total / (total - free - 1))


@dataclass(kw_only=True, eq=False)
class PenaltyPath(LinearValues, SearchRanges, SharesWork):
    """A linear function whose coefficients are penalised, and what they are at other strengths."""

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
        path = self.shared(
            (self.id, share, self.intercept), lambda: solve_path(data.counted(), share, self.intercept)
        )
        self.strengths_, self.criterion_ = path.strengths, path.criterion
        self.chosen_ = strength is None
        self.strength_ = float(self.strengths_[np.argmin(self.criterion_)]) if strength is None else strength
        if self.chosen_ and len(self.columns_):
            warn_at_edge(
                f"the penalty that {self.id} chose",
                self.strength_,
                self.strengths_,
                "hardly any penalty is best, as in linear-regression",
                "no column improves Akaike's criterion",
            )
        # The path is solved to nine digits, and its end to rounding.
        nearest = int(np.argmin(np.abs(self.strengths_ - self.strength_)))
        w, settled = path.squares.minimum(path.penalty(self.strength_), path.coefficients[nearest])
        if not settled:
            text = f"{self.id} has not converged; a larger penalty, or columns of one scale, would help"
            warnings.warn(text, MlcliWarning, stacklevel=2)
        self.path_ = path.design.coefficients(path.coefficients / path.design.scale)
        self.learn_slopes(path.design, w / path.design.scale, path.level)

    def search_range(self, parameter: str, data: ValuedRows) -> Range | None:
        """From the least strength that leaves no column down to the end of the path."""
        if parameter not in ("l1", "strength"):
            return None
        share = float(getattr(self, "share", 1.0))
        strengths = solve_path(data.counted(), share, self.intercept).strengths.tolist()
        return log_range(strengths[-1], strengths[0]) if strengths[0] > 0 else None

    def path_curve(self, over: str) -> findings.Curve:
        """The coefficients over the strength, of the columns that enter first."""
        entered = np.where((self.path_ != 0).any(axis=0), (self.path_ != 0).argmax(axis=0), len(self.path_))
        first = np.argsort(entered, kind="stable")[:DRAWN]
        series = tuple((self.columns_[j].name, tuple(self.path_[:, j].tolist())) for j in first.tolist())
        more = f" {len(first)} of {len(entered)} columns, those that enter first." if len(entered) > DRAWN else ""
        return findings.Curve(
            "Regularisation path: coefficients by strength of the penalty",
            over,
            tuple(self.strengths_.tolist()),
            series,
            note=f"Fitted with {self.strength_:.6g}.{more}",
        )

    def left_out(self) -> str:
        """How the strength came about, and which columns it left out."""
        columns = [column.name for column, w in zip(self.columns_, self.coefficients_, strict=True) if w == 0]
        how = "chosen on the path by Akaike's criterion" if self.chosen_ else "as given"
        more = " ..." if len(columns) > DRAWN else ""
        names = f": {', '.join(columns[:DRAWN])}{more}" if columns else ""
        return (
            f"Strength {self.strength_:.6g}, {how}; "
            f"{len(columns)} of {len(self.columns_)} columns left out{names}."
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
