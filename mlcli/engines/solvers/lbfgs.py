"""L-BFGS: Newton's method with a curvature that is guessed from the last few steps (Liu & Nocedal 1989)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import ROUNDING, SHORTEST_STEP, Iterate, Minimum, Smooth

MEMORY = 10
"""How many steps are remembered."""
FALL = 1e-4
"""A step must lower the objective by this share of what the slope promises."""
FLATTER = 0.9
"""Where the fall is lost in rounding, the slope along the step must be this much flatter."""


Memory = deque[tuple[Array, Array]]
"""Steps, and by how much the gradient changed along them."""


def lbfgs(
    objective: Smooth, start: Array, tolerance: float, max_iterations: int, remembered: int = MEMORY
) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``."""
    own = objective.own_curvatures()

    def step(here: Iterate, memory: Memory) -> Iterate | None:
        return _stepped(objective, here, direction(here.gradient, own, memory))

    return descent(objective.at(start), step, tolerance, max_iterations, remembered)


def descent(
    here: Iterate,
    step: Callable[[Iterate, Memory], Iterate | None],
    tolerance: float,
    max_iterations: int,
    remembered: int,
) -> Minimum:
    """Step by what the gradient changed along the last steps; where that leads nowhere, forget them."""
    memory = Memory(maxlen=remembered)
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        there = step(here, memory)
        if there is None and not memory:
            return Minimum(here, iteration, converged=False)
        if there is None:
            memory.clear()
            continue
        moved, changed = there.w - here.w, there.gradient - here.gradient
        if np.vdot(moved, changed) > ROUNDING * np.vdot(changed, changed):
            memory.append((moved, changed))
        here = there
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def direction(slope: Array, own: Array, memory: Memory) -> Array:
    """The two loops of Nocedal 1980: minus the guessed inverse of the curvature times the slope.

    The guess starts with the curvature of each column by itself.
    """
    way, shares = -slope, list[float]()
    for moved, changed in reversed(memory):
        shares.append(float(np.vdot(moved, way) / np.vdot(moved, changed)))
        way = way - shares[-1] * changed
    way = way / own
    if memory:
        moved, changed = memory[-1]
        way = way * float(np.vdot(moved, changed) / np.vdot(changed, changed / own))
    for moved, changed in memory:
        way = way + (shares.pop() - float(np.vdot(changed, way) / np.vdot(moved, changed))) * moved
    return way


def _stepped(objective: Smooth, here: Iterate, way: Array) -> Iterate | None:
    """The longest of the step, its half, its quarter, ... that lowers the objective enough."""
    promised, length = float(np.vdot(here.gradient, way)), 1.0
    while promised < 0 and length >= SHORTEST_STEP:
        there = objective.at(here.w + length * way)
        rounded = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        flatter = abs(float(np.vdot(there.gradient, way))) <= FLATTER * -promised
        if there.value <= here.value + FALL * length * promised or (rounded and flatter):
            return there
        length /= 2
    return None
