"""Where a solver stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlcli.core.tables import Array
from mlcli.models.ranking._margins import Margins


@dataclass(frozen=True, eq=False)
class Minimum:
    """The weights, the objective there, and how far it may be above the least one."""

    w: Array
    objective: float
    gap: float
    """The duality gap: the objective is at most so much too large, and ‖w − w*‖² at most twice as much."""
    iterations: int


Solver = Callable[[Margins, float, float, int], Minimum]
"""From the rows, the cost of a pair, a tolerance and a limit of iterations."""
