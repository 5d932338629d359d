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

from typing import ClassVar, cast

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.moments import spreads
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._selecting import Filter
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.supervised import SupervisedRows


@register("anova", reference="Fisher 1925, Statistical Methods for Research Workers")
class Anova(Filter):
    """Columns by the F value of their class means."""

    measure: ClassVar[str] = "F value"
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    chances_: Array = learned("columns")

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Keep the columns of the highest F, and how probable these are by chance."""
        from scipy.special import fdtrc

        super().fit(data, rng)
        rows = cast(LabelledRows, data.counted())
        ratio, freedom, left = f_tests(rows.table.numbers, rows.weights, rows.y)
        self.chances_ = np.where((freedom > 0) & (left > 0), fdtrc(freedom, left, ratio), 1.0)

    def explain(self) -> Explanation:
        """The F values with their p, highest first."""
        return (self.bars("Columns by F value", self.measure, self.scores_, p=self.chances_),)

    def scores(self, data: LabelledRows) -> Array:  # type: ignore[override]
        """The F value of each column."""
        return f_values(data.table.numbers, data.weights, data.y)


def f_values(numbers: Array, weights: Array, group: Codes) -> Array:
    """How far the means of groups lie apart in each column, beside the spread within them."""
    return f_tests(numbers, weights, group)[0]


def f_tests(numbers: Array, weights: Array, group: Codes) -> tuple[Array, Array, Array]:
    """F of each column, with the degrees of freedom between groups and within them."""
    by_group = spreads(numbers, weights, group, int(group.max(initial=0)) + 1)
    overall, present = by_group.together(), (by_group.weight > 0).sum(axis=0)
    within = by_group.squares.sum(axis=0)
    between = np.maximum(overall.squares - within, 0.0)
    freedom, left = present - 1, overall.weight - present
    defined = (freedom > 0) & (left > 0)
    noise = within / np.where(defined, left, 1.0)
    ratio = between / np.maximum(freedom, 1) / np.where(noise > 0, noise, 1.0)
    without_noise = np.where(between > 0, np.inf, 0.0)
    return np.where(defined, np.where(noise > 0, ratio, without_noise), 0.0), freedom, left
