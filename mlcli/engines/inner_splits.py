"""Splits of training rows: a method learns from some and checks on the others, before it is judged itself.

Classes have their share in every part, and groups are never cut.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Codes, Flags
from mlcli.protocols._base import by_class_if_any
from mlcli.protocols.holdout import held_out
from mlcli.protocols.k_fold import dealt
from mlcli.tasks.supervised import SupervisedRows


def inner_folds(data: SupervisedRows, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each row; as many folds as there are rows, or groups, where these are fewer."""
    units = by_class_if_any(data.split_info())
    return dealt(units, min(folds, len(units)), rng)[units.of_row]


def inner_holdout(data: SupervisedRows, share: float, rng: np.random.Generator) -> Flags:
    """Which rows are held out; none where there is a single row, or group."""
    units = by_class_if_any(data.split_info())
    if len(units) < 2:
        return np.zeros(len(data), bool)
    return np.asarray(held_out(units, share, rng)[units.of_row] == 0)
