"""The two ways to grow a tree, which give the same: NumPy, and compiled loops once loading them pays."""

from __future__ import annotations

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._growing import Rules, grown_by_levels
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._spending import spending
from mlcli.models.trees._structure import Tree

A_TREE, A_CELL = 3e-3, 2.5e-6
"""About how many seconds NumPy takes for a tree."""
TO_COME = 10
"""How many trees are expected of a table of which one is grown: as many as there are folds."""


def grown(
    cells: Array, levels: Rows, targets: Targets, rules: Rules, root: Rows | None = None, trees: int = TO_COME
) -> Tree:
    """The tree of some cells (n × F), of which ``trees`` are expected; or several as one, each row with a root."""
    if not spending.loads(A_TREE + A_CELL * cells.size, trees):
        return grown_by_levels(cells, levels, targets, rules, root)
    from mlcli.models.trees._compiled import grown_by_loops

    return grown_by_loops(cells, levels, targets, rules, root)
