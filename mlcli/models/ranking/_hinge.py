"""The hinge, ½‖w‖² + c Σ max(0, 1 − d·w), with no more pairs listed at once than fit a window.

Far from its margin a pair costs nothing, or a straight line that needs only sums. So the pairs near their margin
are listed, the others are taken as they stand, and the interior point method solves what is left. Its objective is
nowhere above the true one: its minimum is a proven lower bound, and a step towards it goes down. Where all pairs
fit, the window holds all, and one round is the whole method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.pairs import near_rows, pairs_near
from mlcli.models.ranking._gaps import Gaps
from mlcli.models.ranking._interior_point import Line, interior_point
from mlcli.models.ranking._margins import Margins
from mlcli.models.ranking._minimum import Minimum
from mlcli.models.ranking._newton import newton

WINDOW = 1 << 19
"""Rows that lie near to each other, of which at most half are pairs, as many as are listed at once."""
ROUNDS = 200
NARROWEST = SHORTEST_STEP = 2.0**-20
CHANGE, TOO_LONG = 10.0, 2.0**-10
"""How many times as much a way is held back, of which less than so large a part was gone."""
MOST_HELD, ROUNDED = 1e15, 1e-9
"""Held back more, or so near to the bound without a way down, only roundings are left to win."""
ROUGH, NEAR = 1e-4, 0.05
"""How precisely a window is solved whose solution lies farther away than so large a share of the objective."""


@dataclass(frozen=True, eq=False)
class Window:
    """The pairs near their margin, and the straight line that those lacking more come to: offset + slope·w."""

    gaps: Gaps
    slope: Array
    offset: float
    whole: bool
    """Whether it holds all pairs."""

    @classmethod
    def around(cls, rows: Margins, score: Array) -> Self:
        """As wide as it may be."""
        reach = np.inf
        near = near_rows(rows.group, score, -reach, reach)
        while near.size > WINDOW and reach > NARROWEST:
            reach = min(reach, 2.0) / 2
            near = near_rows(rows.group, score, 1 - reach, 1 + reach)
        gaps = Gaps(rows.X, pairs_near(rows.relevance, rows.weights, near))
        return cls(gaps, *rows.line_of_lack(score, 1 - reach), whole=bool(np.isinf(reach)))


def hinge(rows: Margins, c: float, tolerance: float, max_iterations: int) -> Minimum:
    """Minimise what the window shows, go there, and open it anew, until the gap is small beside the objective.

    Where the way there turns out too long, the next one is held back by ½ hold ‖w − here‖² (a proximal term), and
    a window that is solved so proves no bound.
    """
    w, least, hold, iterations = _start(rows, c, max_iterations), 0.0, 0.0, 0
    objective = _objective(rows, c, w)
    for _ in range(ROUNDS):
        window = Window.around(rows, rows.X @ w)
        near = window.whole or objective - least <= NEAR * objective
        found = _solved(window, c, w, hold, tolerance if near else ROUGH, max_iterations)
        iterations += found.iterations
        if window.whole:
            return replace(found, iterations=iterations)
        if hold == 0:
            least = max(least, found.objective - found.gap)
        length, objective = _length(rows, c, w, found.w, objective)
        w = w + length * (found.w - w)
        enough = tolerance if length else max(tolerance, ROUNDED)
        if (hold == 0 and objective - least <= enough * objective) or hold > MOST_HELD:
            break
        hold = _held(hold, length)
    return Minimum(w, objective, max(objective - least, 0.0), iterations)


def _solved(window: Window, c: float, here: Array, hold: float, tolerance: float, max_iterations: int) -> Minimum:
    """The minimum of what the window shows, held back: all parts divided by 1 + hold."""
    share = c / (1 + hold)
    line = Line(share * window.slope - hold / (1 + hold) * here, share * window.offset)
    return interior_point(window.gaps, share * window.gaps.pairs.weight, line, tolerance, max_iterations)


def _held(hold: float, length: float) -> float:
    """More after a way that was too long, less after one that was not, and nothing rather than little."""
    if length < TOO_LONG:
        return max(hold, 1.0) * CHANGE
    return hold / CHANGE if hold > CHANGE else 0.0


def _start(rows: Margins, c: float, max_iterations: int) -> Array:
    """The minimum of the squared hinge, which needs no pairs; anything, where the first window holds them all."""
    nowhere = np.zeros(rows.X.shape[1])
    everything = near_rows(rows.group, rows.X @ nowhere, -np.inf, np.inf).size <= WINDOW
    return nowhere if everything else newton(rows, c, ROUGH, max_iterations).w


def _length(rows: Margins, c: float, here: Array, there: Array, objective: float) -> tuple[float, float]:
    """The whole way, its half, its quarter, ...: the first that lowers the objective, and to what."""
    length = 1.0
    while length > SHORTEST_STEP:
        if (reached := _objective(rows, c, here + length * (there - here))) < objective:
            return length, reached
        length /= 2
    return 0.0, objective


def _objective(rows: Margins, c: float, w: Array) -> float:
    return float(w @ w / 2 + c * rows.lack(rows.X @ w))
