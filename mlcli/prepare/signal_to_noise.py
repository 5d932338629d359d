"""Signal to noise: keeps the numeric columns whose class means differ most, relative to the spread within classes.

Formula:
    `golub` |μ₊ − μ₋| / (σ₊ + σ₋); `fisher` (μ₊ − μ₋)² / (σ₊² + σ₋²); `squared` (μ₊ − μ₋)² / (σ₊ + σ₋), as the
    notes print it. With more than two classes each is compared with all others, and the largest ratio counts.

Assumes:
    Classes that differ in their means. Each column is scored on its own: a column that helps only together with
    another gets a low score.

Cost:
    One pass for each class.

Choices:
    `squared` depends on the unit of a column (5.33 becomes 53.3 in tenths of the unit), so that it ranks columns
    in different units wrongly: standardise first. Variances divide by n − 1 unless `ddof` is 0. Missing values are
    left out column by column. A column that does not vary within the classes has an infinite ratio if their means
    differ, otherwise 0.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.moments import moments
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags
from mlcli.prepare._selecting import Filter
from mlcli.tasks.supervised import LabelledRows


@register("signal-to-noise", reference="Golub et al. 1999, Molecular classification of cancer")
class SignalToNoise(Filter):
    """Select columns by the difference of class means over the spread within classes."""

    measure: ClassVar[str] = "signal to noise"
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    form: str = param("golub", "formula of the ratio", choices=("golub", "fisher", "squared"))
    ddof: int = param(1, "delta degrees of freedom: variances are divided by n less this", ge=0, le=1)

    def scores(self, data: LabelledRows) -> Array:  # type: ignore[override]
        """The ratio of each column; with several classes the largest of each class against the others."""
        present = np.flatnonzero(data.class_totals > 0)
        if len(present) < 2:
            return np.zeros(data.table.numbers.shape[1])
        classes = present[:1] if len(present) == 2 else present
        return np.asarray(np.max([self._ratio(data, data.y == k) for k in classes], axis=0))

    def _ratio(self, data: LabelledRows, in_class: Flags) -> Array:
        """The signal-to-noise ratio of each column between the rows of a class and all others."""
        own, others = (
            moments(data.table.numbers[rows], data.weights[rows], self.ddof) for rows in (in_class, ~in_class)
        )
        difference = own.mean - others.mean
        signal = np.abs(difference) if self.form == "golub" else difference**2
        if self.form == "fisher":
            noise = np.sqrt(own.variance) ** 2 + np.sqrt(others.variance) ** 2
        else:
            noise = np.sqrt(own.variance) + np.sqrt(others.variance)
        defined = (own.weight > 0) & (others.weight > 0)
        without_noise = np.where((signal > 0) & defined, np.inf, 0.0)
        return np.where(defined & (noise > 0), signal / np.where(noise > 0, noise, 1.0), without_noise)
