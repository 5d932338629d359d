"""Signal to noise: keeps the numeric columns whose class means lie far apart beside the spread within the classes.

Formula:
    `golub` |μ₊ − μ₋| / (σ₊ + σ₋); `fisher` (μ₊ − μ₋)² / (σ₊² + σ₋²); `squared` (μ₊ − μ₋)² / (σ₊ + σ₋), as the
    notes print it. Of more than two classes each stands against all others, and the largest ratio counts.

Assumes:
    Classes that differ in their means, column by column: a column that helps only beside another looks useless.

Cost:
    One pass for each class.

Choices:
    `squared` changes with the unit of a column (53.3 in tenths of a unit that has 5.33), so that it ranks columns
    of different units wrongly; standardise first where it is wanted. Variances divide by n − 1 unless `ddof` is 0.
    Rows with an empty cell do not count for that column. A column that does not vary within the classes has an
    infinite ratio where their means differ, else none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from mlcli.core.moments import moments
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags
from mlcli.prepare._selecting import Filter
from mlcli.tasks.classification import LabelledRows

Form = Callable[[Array, Array, Array], tuple[Array, Array]]
"""Signal and noise from the difference of means and both deviations."""
FORMS: dict[str, Form] = {
    "golub": lambda apart, values, other: (np.abs(apart), values + other),
    "fisher": lambda apart, values, other: (apart**2, values**2 + other**2),
    "squared": lambda apart, values, other: (apart**2, values + other),
}


@register("signal-to-noise", reference="Golub et al. 1999, Molecular classification of cancer")
class SignalToNoise(Filter):
    """Columns by the distance of class means in spreads."""

    measure: ClassVar[str] = "signal to noise"
    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    form: str = param("golub", "what is divided by what", choices=FORMS)
    ddof: int = param(1, "delta degrees of freedom: variances are divided by n less this", ge=0, le=1)

    def scores(self, data: LabelledRows) -> Array:  # type: ignore[override]
        """The ratio of each column; of several classes against the others the largest."""
        present = np.flatnonzero(data.class_totals > 0)
        against = present[:1] if len(present) == 2 else present
        ratios = [self._ratio(data, data.y == k) for k in against] if len(present) > 1 else []
        return np.max(ratios, axis=0) if ratios else np.zeros(data.table.numbers.shape[1])

    def _ratio(self, data: LabelledRows, own: Flags) -> Array:
        one, other = (moments(data.table.numbers[rows], data.weights[rows], self.ddof) for rows in (own, ~own))
        signal, noise = FORMS[self.form](one.mean - other.mean, np.sqrt(one.variance), np.sqrt(other.variance))
        known = (one.weight > 0) & (other.weight > 0)
        without_noise = np.where((signal > 0) & known, np.inf, 0.0)
        return np.where(known & (noise > 0), signal / np.where(noise > 0, noise, 1.0), without_noise)
