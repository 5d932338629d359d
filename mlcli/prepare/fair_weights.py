"""Fair weights: weighs training rows so that the class does not depend on the group (reweighing).

Formula:
    w_i ← w_i · P(A = a_i) · P(Y = y_i) / P(A = a_i, Y = y_i), all by summed weights: what was to be expected if
    group and class were independent, over what was observed.

Assumes:
    That the classes of the training rows are unfair to groups, and that rows differ in nothing else that would
    justify it. A model that learns by weights from columns that tell the group may still be unlike.

Cost:
    One pass.

Choices:
    `by` names the columns that make groups together; without it all sensitive columns do. Each group keeps its
    weight, and so does each class. Rows that are judged keep theirs. A model that takes every row alike is
    refused: `fair-sample` draws rows for it. Where no column is sensitive, every factor is 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.prepare._strata import ByCells


@register("fair-weights", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairWeights(ByCells):
    """Rows count as if group and class were independent."""

    gives_weights: ClassVar[bool] = True
    title: ClassVar[str] = "Weights by group and class"

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The same rows with other weights."""
        cells = self.cells_of(data)
        return replace(data, weight=data.weights * self.factors_[cells.groups.codes, data.y])
