"""Whole: a model is fitted to all rows and tested on the same rows.

Computed:
    One split, whose training and test rows are all rows. Nothing is held out: the scores say how well the model
    describes these rows, not what it would say of others. For kinds that learn without labels only.

Cost:
    One fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import Protocol, Split


@register("whole", reference="Jain & Dubes 1988, Algorithms for Clustering Data, chapter 4")
class Whole(Protocol):
    """One split that holds nothing out."""

    fewest: ClassVar[int] = 0

    def asks_only_learned_rows(self) -> bool:
        """All of them."""
        return True

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The one split."""
        rows = np.arange(strata.rows)
        return [Split(train=rows, test=rows, label="all rows")]
