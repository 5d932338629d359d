"""Stratified k-fold: k-fold in which every fold has its share of every class.

Computed:
    The shuffled rows, sorted by class, are dealt one after another: fold sizes differ by at most one row, and
    so do the counts of each class. Groups are never cut: the largest group goes first, each to the fold where the
    shares that folds have of each class stay most alike (their summed variance grows least).

Cost:
    folds × repeats fits, each on (folds - 1) / folds of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import Split, Units, by_class, warn_of_rare_classes
from mlcli.protocols.k_fold import KFold


@register(
    "stratified-k-fold", reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation"
)
class StratifiedKFold(KFold):
    """Folds in which every class has its share; a class too small to be in each is warned of."""

    units: ClassVar[Callable[[SplitInfo], Units]] = staticmethod(by_class)

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of every repeat."""
        made = super().divided(strata, rng)
        warn_of_rare_classes(by_class(strata), self.folds, "some folds have none to judge")
        return made
