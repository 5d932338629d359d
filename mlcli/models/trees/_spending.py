"""When compiled loops are loaded: once NumPy has cost as much as loading them would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from mlcli.core.compiling import kept_on_disk

FIRST_OF_ALL, ONE_MORE = 0.35, 0.03
"""Seconds that loading takes, where no compiled loops are loaded yet and where others are."""
COMPILING = 2.5
"""Seconds more where they are not compiled yet."""


@dataclass
class Spending:
    """What NumPy has cost so far where compiled loops would have cost little."""

    seconds: float = 0.0
    loaded: bool = False
    compiled: Callable[[], bool] = partial(kept_on_disk, "tree_growing")

    def loads(self, seconds: float, times: int = 1) -> bool:
        """Whether compiled loops do what costs NumPy so much, and is to come so many times."""
        price = ONE_MORE if "mlcli.kernels" in sys.modules else FIRST_OF_ALL
        price += 0.0 if self.compiled() else COMPILING
        self.loaded = self.loaded or self.seconds + times * seconds >= price
        self.seconds += seconds
        return self.loaded


spending = Spending()
"""On trees, in this process: they are grown by compiled loops and asked by compiled loops, or neither."""
