"""Where a solver stopped, and whether it should have; how a step is kept from rising."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import Objective, Point

SHORTEST_STEP = 2.0**-30
ROUNDING = 1e-14
"""A rise by this share of the objective, or of a score of 1, is rounding."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The coefficients a solver stopped at, and the objective there."""

    at: Point
    iterations: int
    converged: bool


def complaint(minima: Sequence[Minimum], tolerance: float) -> str:
    """What to tell the user of solvers that did not arrive; empty when all did."""
    if all(minimum.converged for minimum in minima):
        return ""
    reached = max(minimum.at.steepness for minimum in minima)
    iterations = max(minimum.iterations for minimum in minima)
    return f"stopped after {iterations} steps with a gradient of {reached:.1e}, above the tolerance {tolerance:g}"


def without_rising(objective: Objective, here: Point, step: Array) -> Point | None:
    """The longest of the step, its half, its quarter, ... that does not raise the objective."""
    length = 1.0
    while length >= SHORTEST_STEP:
        there = objective.at(here.w + length * step)
        within_rounding = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        if there.value < here.value or (within_rounding and there.steepness < here.steepness):
            return there
        length /= 2
    return None
