"""Short ways to fit a step and apply it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Table
from tests.rows import valued


def fitted(step: Any, table: Table, weight: Any = None) -> Any:
    """The step after learning from a table, as a pipeline does it."""
    step.learn(valued(table, [0.0] * len(table), weight), np.random.default_rng(1))
    return step


def prepared(step: Any, table: Table, weight: Any = None) -> Table:
    """The training table as the step leaves it."""
    changed: Table = fitted(step, table, weight).apply(table)
    return changed


def names(table: Table) -> list[str]:
    """The column names, in order."""
    return [column.name for column in table.columns]
