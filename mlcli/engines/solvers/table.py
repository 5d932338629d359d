"""The solvers by name, and what each needs of a loss and a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import LinearObjective, Minimum
from mlcli.engines.losses import Loss
from mlcli.engines.solvers.gradient_descent import gradient_descent, stochastic_gradient_descent
from mlcli.engines.solvers.lbfgs import lbfgs
from mlcli.engines.solvers.newton import newton, newton_from_few_rows

Minimise = Callable[[LinearObjective, Array, float, int], Minimum]
"""From an objective, a start, the gradient at which to stop, and the most steps."""
CHEAP = 8e5
"""Rows × coefficients² up to which Newton's steps take no longer than the more steps of others."""
MOST_FOR_NEWTON = 1000
"""A curvature of more coefficients is never formed where there is a choice."""
SOON = 150
"""Where L-BFGS takes more steps, the columns are too nearly dependent for it."""


@dataclass(frozen=True)
class Solver:
    """A way to the minimum, and what it needs of a loss and a penalty."""

    minimise: Minimise
    advice: str = "a larger max_iterations or l2 would help"
    """What helps where it has not arrived."""
    takes_corners: bool = True
    """Whether it can minimise an absolute penalty."""
    needs_bound: bool = False
    """Whether the curvature of the loss must be bounded, since its steps have no other measure."""

    def mismatch(self, name: str, loss: type[Loss], corners: bool) -> str:
        """Why it cannot minimise such an objective, and which solvers can; empty when it can."""
        if self.takes(loss, corners):
            return ""
        unbounded = self.needs_bound and not np.isfinite(loss.bound)
        missing = "a loss whose curvature is bounded" if unbounded else "a penalty without corners (l1 = 0)"
        able = [other for other, solver in SOLVERS.items() if solver.takes(loss, corners)]
        return f"the solver {name} needs {missing}; {' or '.join(able)} would do"

    def takes(self, loss: type[Loss], corners: bool) -> bool:
        """Whether it has what it needs."""
        return (self.takes_corners or not corners) and (not self.needs_bound or bool(np.isfinite(loss.bound)))


def _fitting(objective: LinearObjective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Newton where a curvature costs next to nothing; else L-BFGS, and Newton once that has not arrived soon."""
    affordable = start.size <= MOST_FOR_NEWTON
    if objective.penalty.has_corners or len(objective.X) * start.size**2 <= CHEAP:
        name = "newton" if affordable else "gradient-descent" if objective.penalty.has_corners else "l-bfgs"
        return SOLVERS[name].minimise(objective, start, tolerance, max_iterations)
    first = lbfgs(objective, start, tolerance, min(SOON, max_iterations))
    if first.converged or max_iterations <= SOON:
        return first
    minimum = (newton if affordable else lbfgs)(objective, first.at.w, tolerance, max_iterations - SOON)
    return replace(minimum, iterations=first.iterations + minimum.iterations)


OTHERS = "another solver, or a larger max_iterations or l2, would help"
SOLVERS = {
    "auto": Solver(_fitting),
    "newton": Solver(newton_from_few_rows),
    "l-bfgs": Solver(lbfgs, takes_corners=False),
    "gradient-descent": Solver(gradient_descent, OTHERS, needs_bound=True),
    "sgd": Solver(stochastic_gradient_descent, OTHERS, needs_bound=True),
}
