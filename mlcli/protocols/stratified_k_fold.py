"""Stratified k-fold: k-fold in which every fold has its share of every class.

Computed:
    The shuffled rows, sorted by class, are dealt one after another: fold sizes differ by at most one row, and
    so do the counts of each class. Groups are never cut: a group counts for the class that most of its rows
    have, and goes to the fold with the fewest rows of that class.

Cost:
    folds × repeats fits, each on (folds - 1) / folds of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.registry import register
from mlcli.protocols._folds import StratifiedFolds


@register(
    "stratified-k-fold", reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation"
)
@dataclass(kw_only=True, eq=False)
class StratifiedKFold(StratifiedFolds):
    """K-fold in which every fold has its share of every class."""
