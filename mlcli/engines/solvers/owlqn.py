"""OWL-QN: L-BFGS for a smooth objective plus absolute sizes of weights, by orthants (Andrew & Gao 2007).

Within an orthant, where no weight changes its sign, the absolute sizes are linear. A step follows the guessed
curvature of the smooth part down the least subgradient of the whole; a weight that would change its sign is 0.
Other than there, weights that stay at 0 have no part in the guess, and only those at 0 are kept from going uphill:
on tags of words that takes a sixth of the steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import ROUNDING, SHORTEST_STEP, Iterate, Minimum, Smooth
from mlcli.engines.solvers.lbfgs import FALL, Memory, descent, direction


def owlqn(
    objective: Smooth, l1: float, start: Array, tolerance: float, max_iterations: int, remembered: int
) -> Minimum:
    """Step until no entry of the least subgradient of ``objective`` + ``l1`` Σ |w| is above ``tolerance``."""
    own = objective.own_curvatures()

    def step(here: Iterate, memory: Memory) -> Iterate | None:
        return _stepped_in_orthant(objective, here, _direction_of_free(here, own, memory, l1), l1)

    return descent(_cornered(objective.at(start), l1), step, tolerance, max_iterations, remembered)


def _cornered(here: Iterate, l1: float) -> Iterate:
    """With the absolute sizes in the value and the steepness; the slope stays that of the smooth part."""
    steepness = float(np.abs(_least(here, l1)).max(initial=0.0))
    return replace(here, value=here.value + l1 * float(np.abs(here.w).sum()), steepness=steepness)


def _least(here: Iterate, l1: float) -> Array:
    """The subgradient of least size: where a weight is 0, what is left of the slope beyond ``l1``."""
    at_corner = np.sign(here.gradient) * np.maximum(np.abs(here.gradient) - l1, 0.0)
    return np.where(here.w == 0, at_corner, here.gradient + l1 * np.sign(here.w))


def _direction_of_free(here: Iterate, own: Array, memory: Memory, l1: float) -> Array:
    """That of L-BFGS among the weights that can move; what others bend by would mislead."""
    downhill = _least(here, l1)
    free = (here.w != 0) | (downhill != 0)
    among = ((moved * free, bent * free) for moved, bent in memory)
    return direction(downhill, own, Memory(pair for pair in among if np.vdot(*pair) > 0))


def _stepped_in_orthant(objective: Smooth, here: Iterate, way: Array, l1: float) -> Iterate | None:
    """The longest of the step, its half, its quarter, ... within the orthant that lowers the objective enough."""
    downhill = -_least(here, l1)
    way = np.where((here.w != 0) | (way * downhill > 0), way, 0.0)
    orthant = np.where(here.w == 0, np.sign(downhill), np.sign(here.w))
    length = 1.0
    while length >= SHORTEST_STEP:
        ahead = here.w + length * way
        w = np.where(ahead * orthant > 0, ahead, 0.0)
        promised = min(0.0, -float(np.vdot(downhill, w - here.w)))
        there = _cornered(objective.at(w), l1)
        rounded = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        if there.value <= here.value + FALL * promised or (rounded and there.steepness < here.steepness):
            return there
        length /= 2
    return None
