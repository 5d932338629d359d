"""The solvers by name, and what each needs of a loss and a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import LinearObjective
from mlcli.engines.losses import Loss
from mlcli.engines.solvers.lbfgs import lbfgs
from mlcli.engines.solvers.minimum import Minimum
from mlcli.engines.solvers.newton import newton, newton_from_few_rows
from mlcli.engines.solvers.proximal import gradient_descent

Minimise = Callable[[LinearObjective, Array, float, int], Minimum]
"""From an objective, a start, the gradient at which to stop, and the most steps."""
CHEAP = 5e6
"""Rows × coefficients² up to which Newton's steps take no longer than the more steps of others."""
MOST_FOR_NEWTON = 1000
"""A curvature of more coefficients is never formed where there is a choice."""
SOON = 150
"""Where L-BFGS takes more steps, the columns are too nearly dependent for it."""


@dataclass(frozen=True)
class Solver:
    """A way to the minimum, and what it needs."""

    minimise: Minimise
    needs: Callable[[type[Loss]], bool]
    """Whether a loss has what it needs."""
    needed: str
    """The same in words."""
    takes_corners: bool
    """Whether it can minimise an absolute penalty."""
    advice: str
    """What helps where it has not arrived."""

    def mismatch(self, name: str, loss: type[Loss], corners: bool) -> str:
        """Why it cannot minimise such an objective, and which solvers can; empty when it can."""
        if self.needs(loss) and (self.takes_corners or not corners):
            return ""
        lacking = self.needed if not self.needs(loss) else "a penalty without corners (l1 = 0)"
        able = [other for other, one in SOLVERS.items() if one.needs(loss) and (one.takes_corners or not corners)]
        return f"the solver {name} needs {lacking}; {' or '.join(able)} would do"


def _fitting(objective: LinearObjective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Newton where a curvature costs next to nothing; else L-BFGS, and Newton once that has not arrived soon."""
    corners = objective.penalty.has_corners
    if corners or len(objective.X) * start.size**2 <= CHEAP:
        affordable = objective.loss.twice and start.size <= MOST_FOR_NEWTON
        name = "newton" if affordable else "gradient-descent" if corners else "l-bfgs"
        return SOLVERS[name].minimise(objective, start, tolerance, max_iterations)
    first = lbfgs(objective, start, tolerance, min(SOON, max_iterations))
    if first.converged or max_iterations <= SOON:
        return first
    second = newton if objective.loss.twice and start.size <= MOST_FOR_NEWTON else lbfgs
    found = second(objective, first.at.w, tolerance, max_iterations - SOON)
    return replace(found, iterations=first.iterations + found.iterations)


MORE = "a larger max_iterations or l2 would help"
SOLVERS = {
    "auto": Solver(_fitting, lambda loss: loss.differentiable, "a loss with a gradient", True, MORE),
    "newton": Solver(newton_from_few_rows, lambda loss: loss.twice, "a loss with a curvature", True, MORE),
    "l-bfgs": Solver(lbfgs, lambda loss: loss.differentiable, "a loss with a gradient", False, MORE),
    "gradient-descent": Solver(
        gradient_descent,
        lambda loss: bool(np.isfinite(loss.bound)),
        "a loss whose curvature is bounded",
        True,
        "the solver newton, or a larger max_iterations or l2, would help",
    ),
}
