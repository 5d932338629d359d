"""Where a solver stopped, and whether it should have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlcli.models.linear._objective import Here


@dataclass(frozen=True, eq=False)
class Minimum:
    """The coefficients a solver stopped at, and the objective there."""

    at: Here
    iterations: int
    converged: bool

    @property
    def steepness(self) -> float:
        """The largest entry of the gradient, by size."""
        return self.at.steepness


def complaint(minima: Sequence[Minimum], tolerance: float) -> str:
    """What to tell the user of solvers that did not arrive; empty when all did."""
    if all(minimum.converged for minimum in minima):
        return ""
    reached = max(minimum.steepness for minimum in minima)
    iterations = max(minimum.iterations for minimum in minima)
    return f"stopped after {iterations} steps with a gradient of {reached:.1e}, above the tolerance {tolerance:g}"
