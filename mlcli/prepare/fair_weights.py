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

from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.step import RowStep
from mlcli.core.tables import Array
from mlcli.prepare._strata import Cells, cells_as_finding


@register("fair-weights", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairWeights(RowStep):
    """Rows count as if group and class were independent."""

    gives_weights: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    by: tuple[str, ...] | None = param(
        None, "the columns that make groups together; none: all sensitive ones", if_given=True
    )

    labels_: tuple[str, ...] = learned()
    classes_: tuple[str, ...] = learned()
    factors_: Array = learned()
    """What weights are multiplied by (groups × classes)."""

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The same rows with other weights."""
        cells = Cells.of(data, self.by)
        self.labels_, self.classes_, self.factors_ = cells.groups.labels, data.classes, cells.factors
        return replace(data, weight=data.weights * self.factors_[cells.groups.codes, data.y])

    def explain(self) -> Explanation:
        """The factor of each group in each class."""
        if self.factors_ is None:
            return ()
        return (cells_as_finding(self.labels_, self.classes_, self.factors_, "Weights by group and class"),)
