"""What each column does to a score: how far it falls when the cell of a row takes its usual value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array


def occlusion(score: Callable[[Array], Array], X: Array, usual: Array) -> Array:
    """What each cell adds to the score of its row, with the sign of its deviation; 0 where it adds nothing."""
    whole, added = score(X), np.empty_like(X)
    for column, value in enumerate(usual):
        covered = X.copy()
        covered[:, column] = value
        added[:, column] = np.maximum(whole - score(covered), 0.0)
    return np.asarray(np.sign(X - usual) * added)
