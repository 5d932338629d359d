"""Fair sample: draws training rows so that the class does not depend on the group (uniform sampling).

Formula:
    Of group a and class y, round(#(A = a) · #(Y = y) / n) rows are kept: where there are more, some are drawn
    without replacement; where there are fewer, all are kept and more are drawn from them.

Assumes:
    What `fair-weights` assumes. Repeats add nothing new: an unpruned tree may learn them by heart.

Cost:
    One pass, and a fit to about as many rows.

Choices:
    `by` names the columns that make groups together; without it all sensitive columns do. To bring groups to one
    size whatever their classes, use `sample-rows` with `balance: up` or `down` and `by: COLUMN`. Weights stay with
    their rows. A group without a row of a class stays without. Where no column is sensitive, all rows are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.tables import Rows
from mlcli.engines.content_seeds import order_of_content
from mlcli.prepare.fair_weights import ByGroupAndClass


@register("fair-sample", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairSample(ByGroupAndClass):
    """Rows drawn as if group and class were independent."""

    title: ClassVar[str] = "Rows by group and class"

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The rows that are drawn."""
        data = data.take(order_of_content(data))
        weights = self.counted(replace(data, weight=None))
        drawn = [np.empty(0, np.intp)]
        for group, line in enumerate(weights.expected):
            for code, wanted in enumerate(line):
                rows = np.flatnonzero((weights.groups.codes == group) & (data.y == code))
                drawn.append(_brought_to(rows, round(float(wanted)), rng))
        return data.take(np.sort(np.concatenate(drawn)))


def _brought_to(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Some of the rows, or all of them and some once more; none of none."""
    if size <= len(rows) or not len(rows):
        return rng.choice(rows, min(size, len(rows)), replace=False)
    return np.concatenate([rows, rng.choice(rows, size - len(rows))])
