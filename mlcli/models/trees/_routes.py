"""The two ways to grow a tree, which give the same: compiled loops, or NumPy where loading them costs more."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mlcli.models.trees._growing import grown_by_levels
from mlcli.models.trees._structure import Tree

COMPILED_FROM = 20_000
"""From how many cells on loading the compiled loops (0.3 s) pays within ten folds."""

WayToGrow = Callable[..., Tree]


def way_to_grow(cells: int) -> WayToGrow:
    """The faster way for a table with this many cells."""
    if cells < COMPILED_FROM and "mlcli.kernels.tree_growing" not in sys.modules:
        return grown_by_levels
    from mlcli.models.trees._compiled import grown_by_loops

    return grown_by_loops
