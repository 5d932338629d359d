"""ANOVA: keeps the numeric columns whose class means differ most, by the F statistic of a one-way ANOVA.

Formula:
    F = [Σ_k n_k (μ_k − μ)² / (K − 1)] / [Σ_k Σ_{i ∈ k} (x_i − μ_k)² / (n − K)].

Assumes:
    Classes that differ in their means, with roughly normal values and equal variances. Each column is scored on
    its own.

Cost:
    One pass over the numbers.

Choices:
    Weights count as numbers of rows. Missing values are left out column by column. Classes without training rows
    are not counted. A column that does not vary within the classes has an infinite F if the class means differ.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, cast

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.moments import spreads
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._selecting import Filter
from mlcli.tasks.supervised import LabelledRows, SupervisedRows


@register("anova", reference="Fisher 1925, Statistical Methods for Research Workers")
class Anova(Filter):
    """Select columns by the F statistic of their class means."""

    measure: ClassVar[str] = "F value"
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    chances_: Array = learned("columns")

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Keep the columns with the highest F, and compute the p-value of each column."""
        from scipy.special import fdtrc

        super().fit(data, rng)
        rows = cast(LabelledRows, data.counted())
        tests = f_tests(rows.table.numbers, rows.weights, rows.y)
        defined = (tests.df_between > 0) & (tests.df_within > 0)
        self.chances_ = np.where(defined, fdtrc(tests.df_between, tests.df_within, tests.f), 1.0)

    def explain(self) -> Explanation:
        """The F values with their p-values, highest first."""
        return (self.bars("Columns by F value", self.measure, self.scores_, p=self.chances_),)

    def scores(self, data: LabelledRows) -> Array:  # type: ignore[override]
        """The F value of each column."""
        return f_tests(data.table.numbers, data.weights, data.y).f


class FTests(NamedTuple):
    """The F statistic of each column, with its degrees of freedom."""

    f: Array
    df_between: Array
    df_within: Array


def f_tests(numbers: Array, weights: Array, group: Codes) -> FTests:
    """Test in each column whether the means of the groups are equal; F is 0 where the test is undefined."""
    by_group = spreads(numbers, weights, group, int(group.max(initial=0)) + 1)
    overall, groups_present = by_group.together(), (by_group.weight > 0).sum(axis=0)
    within = by_group.squares.sum(axis=0)
    between = np.maximum(overall.squares - within, 0.0)
    df_between, df_within = groups_present - 1, overall.weight - groups_present
    defined = (df_between > 0) & (df_within > 0)
    noise = within / np.where(defined, df_within, 1.0)
    ratio = between / np.maximum(df_between, 1) / np.where(noise > 0, noise, 1.0)
    without_noise = np.where(between > 0, np.inf, 0.0)
    f = np.where(defined, np.where(noise > 0, ratio, without_noise), 0.0)
    return FTests(f, df_between, df_within)
