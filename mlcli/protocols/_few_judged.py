"""What is said of splits whose judged rows are too few to tell one model from another."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.rows import Strata
from mlcli.core.tables import Codes, Rows
from mlcli.protocols._base import Parts, Split

FEW_ROWS, FEW_OF_A_CLASS, FEW_IN_A_PART = 30, 20, 5
"""Below these, one answer moves a score by 3 points, that of a class by 5, that of a part by 20."""


def warn_of_few_judged(splits: Sequence[Split], strata: Strata, *, pooled: bool) -> None:
    """Say so where few rows are judged in all, few of a class, or few in a part that has a score of its own."""
    sizes, rows = _judged(splits)
    if 0 < len(rows) < FEW_ROWS:
        _warn(f"only {len(rows)} rows are judged: one answer more or less is {100 / len(rows):.0f} % of them")
    elif (least := _rarest(strata, rows)) < FEW_OF_A_CLASS:
        _warn(f"of the rarest class that is judged there are only {least} rows: its scores say little")
    if len(sizes) > 1 and not pooled and sizes.min() < FEW_IN_A_PART:
        _warn(f"the smallest of the {len(sizes)} test parts holds {sizes.min()} of the rows: larger ones say more")


def _judged(splits: Sequence[Split]) -> tuple[Codes, Rows]:
    """The size of every test part, and the distinct rows in them; of parts without making each split."""
    if not isinstance(splits, Parts):
        tests = [split.test for split in splits]
        return np.array([len(test) for test in tests], np.int32), np.unique(np.concatenate(tests))
    parts = len(splits.labels) // len(splits.rounds)
    sizes = [np.bincount(one[(one >= 0) & (one < parts)], minlength=parts) for one in splits.rounds]
    judged = np.logical_or.reduce([(one >= 0) & (one < parts) for one in splits.rounds])
    return np.concatenate(sizes).astype(np.int32), np.flatnonzero(judged)


def _rarest(strata: Strata, rows: Rows) -> int:
    """How many judged rows the rarest class has; as many as there are rows, where there are no classes."""
    if strata.strata is None or not len(rows):
        return len(rows) or FEW_OF_A_CLASS
    classes = strata.strata[rows]
    return int(np.unique(classes, return_counts=True)[1].min())


def _warn(text: str) -> None:
    warnings.warn(text, MlcliWarning, stacklevel=3)
