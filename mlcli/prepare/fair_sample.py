"""Fair sample: draws training rows so that the class does not depend on the group (uniform sampling).

Formula:
    Of group a and class y, round(#(A = a) · #(Y = y) / n) rows are kept: where there are more, some are drawn
    without replacement; where there are fewer, all are kept and more are drawn from them.

Assumes:
    The same as `fair-weights`. Repeated rows add no information: an unpruned tree may overfit them.

Cost:
    One pass, and a fit to about as many rows.

Choices:
    `by` names the columns that define the groups; by default all sensitive columns do. To give groups the same
    size whatever their classes, use `sample-rows` with `balance: up` or `down` and `by: COLUMN`. Rows keep their
    weights. A group without rows of a class stays without them. Without sensitive columns all rows are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.engines.content_seeds import order_of_content
from mlcli.prepare.fair_weights import ByGroupAndClass
from mlcli.tasks.supervised import LabelledRows


@register("fair-sample", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairSample(ByGroupAndClass):
    """Rows drawn as if group and class were independent."""

    title: ClassVar[str] = "Rows by group and class"

    def changed(self, data: LabelledRows, rng: np.random.Generator) -> LabelledRows:  # type: ignore[override]
        """The rows that are drawn."""
        data = data.take(order_of_content(data))
        weights = self.counted(replace(data, weight=None))
        drawn = [np.empty(0, np.intp)]
        for (group, code), expected in np.ndenumerate(weights.expected):
            rows, size = np.flatnonzero((weights.groups.codes == group) & (data.y == code)), round(float(expected))
            if size <= len(rows) or not len(rows):
                drawn.append(rng.choice(rows, min(size, len(rows)), replace=False))
            else:  # all rows, and some of them once more
                drawn += [rows, rng.choice(rows, size - len(rows))]
        return data.take(np.sort(np.concatenate(drawn)))
