"""How groups are numbered: by size, so that the numbers do not depend on how the groups were found."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.tasks.groups import centres

DECIMALS = 9
"""Sizes and centres that agree to so many decimals are equal."""


def largest_first(X: Array, group: Codes, groups: int, weights: Array) -> Rows:
    """The groups from the heaviest to the lightest; of equals, by their centres, column by column."""
    totals = np.bincount(group, weights=weights, minlength=groups)
    middles = np.round(centres(X - X.mean(axis=0), group, groups, weights), DECIMALS)
    return np.lexsort((*middles.T[::-1], -np.round(totals / totals.max(), DECIMALS)))
