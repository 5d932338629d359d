"""What users and items add to the mean of all ratings, as explanations show it."""

from __future__ import annotations

import numpy as np

from mlcli.core.explanation import Section
from mlcli.core.schema import Column
from mlcli.core.tables import Array

SHOWN = 5
"""How many of the highest, and of the lowest, are shown."""


def extremes(column: Column, biases: Array, ratings: Array) -> Section:
    """The users, or items, that are rated highest and lowest, with how many training ratings they have."""
    known = np.flatnonzero(ratings[:-1] > 0)
    order = known[np.argsort(-biases[known], kind="stable")]
    shown = order if len(order) <= 2 * SHOWN else np.concatenate([order[:SHOWN], order[-SHOWN:]])
    rows = tuple((column.levels[code], float(biases[code]), float(ratings[code])) for code in shown)
    title = f"What '{column.name}' adds to the mean: the highest and the lowest of {len(order)}"
    return Section(title, header=(column.name, "bias", "ratings"), rows=rows)
