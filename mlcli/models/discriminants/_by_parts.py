"""Discriminants for every part of a round: from the sums of each class over the rows outside it."""

from __future__ import annotations

import numpy as np

from mlcli.core.held_out import HeldOut, Round
from mlcli.engines.sums_before import Sums, outside
from mlcli.models.bayes._posterior import posterior
from mlcli.models.discriminants._held_out import Method, Task, log_priors, taught

LARGEST_SUMS = 2e7
"""How many numbers the sums of all parts may be."""


def by_parts(task: Task, method: Method, round_: Round) -> HeldOut | None:
    """The answer to every part by rows outside it; None where that takes too much room."""
    data, columns = task.data, task.columns
    classes = len(data.classes)
    if 3 * round_.parts * classes * (columns.shape[1] + 1) ** 2 > LARGEST_SUMS:
        return None
    by_class = [_outside(task, round_, k) for k in range(classes)]
    answers, refused = np.zeros((len(data), classes)), np.ones(round_.parts, bool)
    for part, rows in enumerate(round_.rows_of):
        found = taught(task, [sums[part] for sums in by_class], method.ddof)
        if found is None:
            continue
        made = found.made(columns[rows])
        scores = method.scores(found, log_priors(method, found.sums.weight), made)
        if scores is not None:
            answers[rows] = posterior(scores.values)
            refused[part] = scores.unsettled(found.whitening.least).any()
    return HeldOut(answers, refused, "merged sums of each class")


def _outside(task: Task, round_: Round, k: int) -> list[Sums]:
    """The sums of the rows of a class outside each part."""
    rows = np.flatnonzero(task.data.y == k)
    weight = None if task.data.weight is None else task.data.weight[rows]
    return outside(task.columns[rows], weight, Round(round_.part[rows], round_.parts))
