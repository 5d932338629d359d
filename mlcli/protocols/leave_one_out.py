"""Leave-one-out: every row is judged by a model that has learned from all others.

Computed:
    One split for each row; metrics are pooled over all answers, since one row has no spread, no class
    balance and no variance of its own. Where rows are grouped, a whole group is left out at a time.

Cost:
    As many fits as there are rows, or groups; nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import DealtSplits, Protocol, Split, all_alike, split_labels


@register(
    "leave-one-out", reference="Lachenbruch & Mickey 1968, Estimation of error rates in discriminant analysis"
)
class LeaveOneOut(Protocol):
    """As many splits as there are rows, or groups."""

    pooled: ClassVar[bool] = True

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each row, or group, in order."""
        units = all_alike(strata)
        return DealtSplits([units.of_row], split_labels(units.noun.removesuffix("s"), len(units), 1))
