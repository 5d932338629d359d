"""Class weights: weighs training rows so that every class counts alike, however many rows it has.

Formula:
    w_i ← w_i · W / (K · W_{k(i)}), with W_k the summed weight of the rows of class k and W that of all: every
    class then sums to W / K.

Assumes:
    That an error in a rare class costs more than one in a frequent class, in proportion. Probabilities are then
    those of a world in which classes are equally frequent.

Cost:
    One pass.

Choices:
    Only the rows that are learned from are weighed, never those that are judged. `by` balances groups, or the
    levels of a column (a sensitive one, say), instead of classes. A model that takes every row alike is refused:
    `sample-rows` can repeat rows for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.findings import Explanation, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.step import RowStep
from mlcli.core.tables import Array
from mlcli.prepare._strata import strata_of


@register("class-weights", reference="King & Zeng 2001, Logistic regression in rare events data")
class ClassWeights(RowStep):
    """Rows of rare classes count more."""

    gives_weights: ClassVar[bool] = True

    by: str = param("class", "what is balanced: class, group, or the name of a column of levels")

    factors_: Array = learned()
    """What the weights of each class, group or level are multiplied by."""

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The same rows with other weights."""
        strata = strata_of(data, self.by)
        totals = np.bincount(strata, data.weights)
        self.factors_ = totals.sum() / (len(totals) * totals)
        return replace(data, weight=data.weights * self.factors_[strata])

    def explain(self) -> Explanation:
        """The smallest and the largest factor."""
        if self.factors_ is None:
            return ()
        row = (len(self.factors_), float(self.factors_.min()), float(self.factors_.max()))
        header = ("balanced", "smallest factor", "largest factor")
        return (Table(f"Weights by {self.by}", header, (row,), note="of training rows only"),)
