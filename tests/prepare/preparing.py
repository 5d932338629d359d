"""Short ways to fit a step and apply it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Table
from tests.support.rows import labelled, valued


def fitted(step: Any, table: Table, weight: Any = None) -> Any:
    """The step after learning from a table, as a pipeline does it."""
    data, rng = rows_for(step, table, weight), np.random.default_rng(1)
    step.learn(data, rng)
    step.training_rows(data.transformed(step.apply), rng)
    return step


def rows_for(step: Any, table: Table, weight: Any = None) -> Any:
    """Rows of a kind that the step learns from: classes or values that follow from the last numeric column."""
    last = np.nan_to_num(table.numbers[:, -1]) if table.numbers.shape[1] else np.zeros(len(table))
    if step.changes_rows or step.kinds == ("classification",):
        return labelled(table, np.where(last > 5, "yes", "no").tolist(), ("no", "yes"), weight)
    return valued(table, last.tolist(), weight)


def prepared(step: Any, table: Table, weight: Any = None) -> Table:
    """The training table as the step leaves it."""
    changed: Table = fitted(step, table, weight).apply(table)
    return changed


def names(table: Table) -> list[str]:
    """The column names, in order."""
    return [column.name for column in table.columns]
