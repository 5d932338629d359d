"""Single items: expects the most frequent items in every row, whatever else it has.

Formula:
    (always) → i for every item with support(i) ≥ `min_support`; its confidence is its support, its lift is 1.

Assumes:
    Items are independent of each other: what a row has says nothing of what else it has.

Cost:
    One pass over the rows.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import DECIMALS
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags
from mlcli.tasks.association import Associator, Rule


@register("single-items", reference="Brin et al. 1997, Dynamic itemset counting: independence, whose lift is 1")
class SingleItems(Associator):
    """The baseline of association."""

    min_support: float = param(0.1, "minimum share of rows that have an item", gt=0.0, le=1.0)
    most: int = param(100, "maximum number of rules", ge=1)

    def mined(self, baskets: Flags, weights: Array) -> list[Rule]:
        """The frequent items, the most frequent first."""
        support = np.round(weights @ baskets, DECIMALS)
        order = np.argsort(-support, kind="stable").tolist()
        frequent = [(item, float(support[item])) for item in order if support[item] >= self.min_support]
        return [Rule((), (item,), share, 1.0, share) for item, share in frequent[: self.most]]
