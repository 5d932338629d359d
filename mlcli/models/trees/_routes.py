"""The two ways to grow a tree, which give the same: NumPy, and compiled loops once loading them pays."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._growing import Rules, grown_by_levels
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._structure import Tree

FIRST_OF_ALL, ONE_MORE = 0.35, 0.03
"""Seconds that loading takes, where no compiled loops are loaded yet and where others are."""
A_TREE, A_CELL = 3e-3, 2.5e-6
"""About how many seconds NumPy takes for a tree."""
TO_COME = 10
"""How many trees are expected of a table of which one is grown: as many as there are folds."""


@dataclass
class Spending:
    """What NumPy has cost so far in this process; it is not to cost more than loading would."""

    seconds: float = 0.0
    loaded: bool = False

    def loads(self, cells: int, price: float, trees: int = TO_COME) -> bool:
        """Whether compiled loops grow the next tree, on so many cells, and are loaded if they are not."""
        cost = A_TREE + A_CELL * cells
        self.loaded = self.loaded or self.seconds + trees * cost >= price
        self.seconds += cost
        return self.loaded


spending = Spending()
"""Of this process."""


def grown(
    cells: Array, levels: Rows, targets: Targets, rules: Rules, root: Rows | None = None, trees: int = TO_COME
) -> Tree:
    """The tree of some cells (n × F), of which ``trees`` are expected; or several as one, each row with a root."""
    price = ONE_MORE if "mlcli.kernels" in sys.modules else FIRST_OF_ALL
    if not spending.loads(cells.size, price, trees):
        return grown_by_levels(cells, levels, targets, rules, root)
    from mlcli.models.trees._compiled import grown_by_loops

    return grown_by_loops(cells, levels, targets, rules, root)
