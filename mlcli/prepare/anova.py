"""ANOVA: keeps the numeric columns whose means differ most between classes, by the F value of one-way analysis.

Formula:
    F = [Σ_k n_k (μ_k − μ)² / (K − 1)] / [Σ_k Σ_{i ∈ k} (x_i − μ_k)² / (n − K)].

Assumes:
    Classes that differ in their means, about normal and of one spread; columns are looked at one by one.

Cost:
    One pass.

Choices:
    Weights count as numbers of rows. Rows with an empty cell do not count for that column. Classes without
    training rows are none. A column that does not vary within the classes has an infinite F where their means
    differ.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.moments import spreads
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._filtering import Filter
from mlcli.tasks.classification import LabelledRows


@register("anova", reference="Fisher 1925, Statistical Methods for Research Workers")
class Anova(Filter):
    """Columns by the F value of their class means."""

    measure: ClassVar[str] = "F value"
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    def scores(self, data: LabelledRows) -> Array:  # type: ignore[override]
        """The F value of each column."""
        return f_values(data.table.numbers, data.weights, data.y)


def f_values(numbers: Array, weights: Array, group: Codes) -> Array:
    """How far the means of groups lie apart in each column, beside the spread within them."""
    by_group = spreads(numbers, weights, group, int(group.max(initial=0)) + 1)
    overall, present = by_group.together(), (by_group.weight > 0).sum(axis=0)
    within = by_group.squares.sum(axis=0)
    between = np.maximum(overall.squares - within, 0.0)
    freedom, left = present - 1, overall.weight - present
    defined = (freedom > 0) & (left > 0)
    noise = within / np.where(defined, left, 1.0)
    ratio = between / np.maximum(freedom, 1) / np.where(noise > 0, noise, 1.0)
    without_noise = np.where(between > 0, np.inf, 0.0)
    return np.where(defined, np.where(noise > 0, ratio, without_noise), 0.0)
