"""Discriminants without each row in turn, where what fills gaps depends on which row is left out: compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.held_out import HeldOut
from mlcli.core.tables import Array
from mlcli.engines.expansion import without_first_levels
from mlcli.engines.sums_before import Sums
from mlcli.models.discriminants._held_out import (
    Method,
    Scores,
    Task,
    Taught,
    log_priors_without_each,
    refusing_unsettled,
)
from mlcli.models.discriminants._left_out import CLOSEST, ROUTE

LEFT = 1e-6
"""What must be left of the scatter of a column."""
LEAST_PIVOT = 1e-4
"""What must be left of the variance of a column, as a share, when the columns before it are known."""


def filled_without_each(
    task: Task, taught: Taught, method: Method, by_class: Sequence[Sums], scatters: Array
) -> HeldOut:
    """The answer to every row by all others; ``taught`` is what all rows teach."""
    from mlcli.kernels.classes_left_out import scores_without_each

    recipe = without_first_levels(task.recipe.without(~taught.sums.varies), task.columns)
    sizes = [len(levels) for levels in recipe.sources]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    levels = np.array([level for one in recipe.sources for level in one], np.intp)
    scores = log_priors_without_each(task.data, taught.sums.weight, method)
    size, refused = np.zeros(len(scores)), np.zeros(len(scores), bool)
    scores_without_each(
        np.ascontiguousarray(task.columns), task.data.y, task.data.weights,
        taught.sums.weight, np.array([one.mean for one in by_class]), scatters,
        recipe.main, recipe.gap, recipe.has_gap, recipe.fills, begins, levels,
        float(method.ddof), np.array([LEFT, LEAST_PIVOT, CLOSEST]), scores, size, refused,
    )  # fmt: skip
    return refusing_unsettled(Scores(scores, size), np.ones(len(scores)), refused, ROUTE)
