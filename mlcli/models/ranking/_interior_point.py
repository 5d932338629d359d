"""An interior point method for the hinge: ½‖w‖² + Σ c_k max(0, 1 − d_k·w) + a line, by primal and dual at once.

Each pair has a share 0 < α < c in w = Dᵀα − slope and a slack: d·w − 1 = ahead − behind. At the minimum
α·ahead = 0 and (c − α)·behind = 0. The steps are Newton's towards equations with a small number in place of 0,
which Mehrotra 1992 predicts and corrects; the pairs enter one p × p system only (Ferris & Munson 2003). All
equations but these stay exact from the start, so that the sum of the products is the duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.ranking._gaps import Gaps
from mlcli.models.ranking._minimum import Minimum

SHORT_OF_THE_WALL = 0.995
"""No share or slack may use up more of itself in one step."""


@dataclass(frozen=True, eq=False)
class Line:
    """offset + slope·w: pairs that are not listed."""

    slope: Array
    offset: float


@dataclass(frozen=True, eq=False)
class Point:
    """A point inside: ``alpha`` and ``beta`` = c − α are the shares, ``ahead`` and ``behind`` the slacks."""

    w: Array
    alpha: Array
    beta: Array
    ahead: Array
    behind: Array

    @classmethod
    def start(cls, gaps: Gaps, cost: Array, line: Line) -> Self:
        """Every pair with half of its cost, and slacks that fit."""
        alpha = cost / 2
        w = gaps.back(alpha) - line.slope
        margin = gaps.times(w) - 1
        return cls(w, alpha, cost - alpha, np.maximum(margin, 0) + 1, np.maximum(-margin, 0) + 1)

    @property
    def gap(self) -> float:
        """The duality gap."""
        return float(self.alpha @ self.ahead + self.beta @ self.behind)

    def moved(self, step: Point, length: float) -> Point:
        """The point so far along a step."""
        return Point(*(here + length * along for here, along in self._beside(step)))

    def room(self, step: Point) -> float:
        """The longest part of a step, up to all of it, that stays inside."""
        walls = self._beside(step)[1:]
        shrinking = (float(np.min(-here[along < 0] / along[along < 0], initial=np.inf)) for here, along in walls)
        return min(1.0, SHORT_OF_THE_WALL * min(shrinking))

    def _beside(self, step: Point) -> list[tuple[Array, Array]]:
        names = ("w", "alpha", "beta", "ahead", "behind")
        return [(getattr(self, name), getattr(step, name)) for name in names]


@dataclass(frozen=True, eq=False)
class Directions:
    """Newton's equations at a point, ready to be solved for several right sides."""

    gaps: Gaps
    at: Point
    stiffness: Array
    curvature: Array

    @classmethod
    def of(cls, gaps: Gaps, at: Point) -> Self:
        """The equations with all but w eliminated: I + Dᵀ·diag(stiffness)·D."""
        stiffness = 1 / (at.ahead / at.alpha + at.behind / at.beta)
        return cls(gaps, at, stiffness, np.eye(len(at.w)) + gaps.gram(stiffness))

    def towards(self, ahead: Array | float, behind: Array | float) -> Point:
        """The step to where the products α·ahead and β·behind have these values, to first order."""
        at = self.at
        pull = ahead / at.alpha - behind / at.beta - (at.ahead - at.behind)
        w = np.asarray(np.linalg.solve(self.curvature, self.gaps.back(self.stiffness * pull)), np.float64)
        alpha = self.stiffness * (pull - self.gaps.times(w))
        return Point(
            w=w,
            alpha=alpha,
            beta=-alpha,
            ahead=(ahead - at.ahead * alpha) / at.alpha - at.ahead,
            behind=(behind + at.behind * alpha) / at.beta - at.behind,
        )


def interior_point(gaps: Gaps, cost: Array, line: Line, tolerance: float, max_iterations: int) -> Minimum:
    """Follow the path to the minimum until the gap is small beside the objective."""
    at = Point.start(gaps, cost, line)
    for iteration in range(max_iterations + 1):
        lack = cost @ np.maximum(0.0, 1 - gaps.times(at.w))
        objective = float(at.w @ at.w / 2 + lack + line.slope @ at.w) + line.offset
        if at.gap <= tolerance * max(abs(objective), float(at.w @ at.w) / 2) or iteration == max_iterations:
            break
        directions = Directions.of(gaps, at)
        predicted = directions.towards(0.0, 0.0)
        ideal = at.moved(predicted, at.room(predicted)).gap
        aim = at.gap / (2 * len(cost)) * (ideal / at.gap) ** 3
        step = directions.towards(aim - predicted.alpha * predicted.ahead, aim - predicted.beta * predicted.behind)
        at = at.moved(step, at.room(step))
    return Minimum(at.w, objective, at.gap, iteration)
