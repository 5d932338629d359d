"""Stratified holdout: holdout in which every class keeps its share on both sides.

Computed:
    Of the shuffled rows, sorted by class, every (1/test_share)-th is judged, from a random start: each class gives
    its share, rounded up or down. Groups are never cut: the share is of groups, and a group counts for the class
    that most of its rows have.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import Split, Units, by_class, warn_of_rare_classes
from mlcli.protocols.holdout import Holdout


@register(
    "stratified-holdout",
    reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation",
)
class StratifiedHoldout(Holdout):
    """A holdout in which every class keeps its share; a class too small for both sides is warned of."""

    units: ClassVar[Callable[[SplitInfo], Units]] = staticmethod(by_class)

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        made = super().divided(strata, rng)
        least = math.ceil(1 / min(self.test_share, 1 - self.test_share))
        warn_of_rare_classes(by_class(strata), least, "they may be missing on one side of a split")
        return made
