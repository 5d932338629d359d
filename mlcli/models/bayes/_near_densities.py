"""The log-density of rows whose bells differ: fast where they differ by next to nothing, exact where by more."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Flags

NEXT_TO_NOTHING = 1e-6
"""Changes of a variance by such a share, squared, do not matter."""


def log_density(cells: Array, mean: Array, variance: Array, added: Array, kept: Flags) -> Array:
    """Of each row, over the columns kept; means, variances and what is added to them are b or 1 × m."""
    if len(mean) == len(variance) == 1 and kept.all() and not np.isnan(cells).any():
        spread = variance[0] + added[0]
        change = added - added[0]
        if (np.abs(change).max(axis=0, initial=0.0) <= NEXT_TO_NOTHING * spread).all():
            return _near(cells, mean[0], spread, change)
    spread = np.where(kept, variance + added, 1.0)
    terms = (cells - mean) ** 2 / spread + np.log(2 * np.pi * spread)
    return np.asarray(-0.5 * np.where(kept & ~np.isnan(cells), terms, 0.0).sum(axis=1))


def _near(cells: Array, mean: Array, spread: Array, change: Array) -> Array:
    """To first order in what is added to the variances: log (v + δ) + d² / (v + δ)."""
    away = cells - mean
    away *= away
    found = away @ (1 / spread) + np.log(2 * np.pi * spread).sum()
    if len(change) > 1:
        found += change @ (1 / spread)
        away *= change
        found -= away @ (1 / spread**2)
    return np.asarray(-0.5 * found)
