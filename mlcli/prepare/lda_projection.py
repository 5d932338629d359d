"""LDA projection: replaces the columns by the few directions that separate the classes best (Fisher).

Formula:
    The directions b that maximise bᵀ B b / bᵀ W b, with W the covariance within the classes (over N − K) and B
    the covariance of their means: z = (x − μ) b_1, (x − μ) b_2, ..., each with variance 1 within the classes.

Assumes:
    Classes with equal covariance and different means. For K classes there are at most K − 1 directions.

Cost:
    One pass over the rows, and a singular value decomposition of the rows.

Choices:
    Columns that do not vary within the classes, and directions that depend linearly on others, get coefficients of
    0. If there are fewer directions than `components`, the last columns are 0. The largest entry of a direction is
    positive. The directions use the classes of the training rows, so that scores on these rows are optimistic.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import means
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.principal_components import column_by_column, component_names, with_fixed_signs
from mlcli.prepare._columns import Projection
from mlcli.tasks.supervised import LabelledRows

NEGLIGIBLE = 1e-10
"""A direction with less than this share of the largest variance is due to rounding."""


@register("lda-projection", reference="Fisher 1936; Rao 1948; Hastie, Tibshirani & Friedman 2009, 4.3.3")
class DiscriminantProjection(Projection):
    """Replace the columns by discriminant directions."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    components: int = param(2, "number of directions", ge=1, tune=(1, 10))

    middle_: Array = learned("columns")
    directions_: Array = learned("columns", "components")
    ratios_: Array = learned()
    """The variance between the classes over the variance within them, along each direction."""

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the directions."""
        data = data.counted()
        X, weights = data.table.numbers, data.weights
        present = np.flatnonzero(data.class_totals > 0)
        centres = [means(X[data.y == k], weights[data.y == k]) for k in present]
        class_means = np.array(centres).reshape(len(present), -1)
        self.middle_ = means(X, weights)
        freedom = max(float(weights.sum()) - len(present), 1.0)
        residuals = X - class_means[np.searchsorted(present, data.y)]
        whitening = _whitening(residuals * np.sqrt(weights / freedom)[:, None])
        scale = np.sqrt(data.class_totals[present] / max(len(present) - 1, 1))
        between = (class_means - self.middle_) * scale[:, None]
        _, singular, axes = np.linalg.svd(between @ whitening, full_matrices=False)
        significant = singular > np.sqrt(NEGLIGIBLE) * singular.max(initial=0.0)
        significant[max(len(present) - 1, 0) :] = False
        directions = with_fixed_signs(whitening @ axes.T[:, significant])[:, : self.components]
        self.directions_ = np.zeros((X.shape[1], self.components))
        self.directions_[:, : directions.shape[1]] = directions
        self.ratios_ = singular[significant] ** 2

    def project(self, table: Table) -> Array:
        """The coordinates of the rows along the directions."""
        return column_by_column(table.numbers - self.middle_, self.directions_)

    def explain(self) -> findings.Explanation:
        """How well each direction separates the classes, and its coefficients."""
        labels = tuple(map(str, range(1, len(self.ratios_) + 1)))
        total = self.ratios_.sum() or 1.0
        bars = findings.Bars(
            "Discriminant directions",
            ("direction", "between / within", "share"),
            labels,
            tuple(self.ratios_.tolist()),
            (tuple((self.ratios_ / total).tolist()),),
        )
        rows = tuple(
            (column.name, *coefficients)
            for column, coefficients in zip(self.columns_, self.directions_.tolist(), strict=True)
        )
        return bars, findings.Table("Directions", ("column", *component_names(self.components)), rows)


def _whitening(residuals: Array) -> Array:
    """A matrix that gives the rows variance 1 in all directions in which they vary (p × m)."""
    spread = np.sqrt((residuals**2).sum(axis=0))
    unit = np.where(spread > 0, spread, 1.0)
    _, singular, axes = np.linalg.svd(residuals / unit, full_matrices=False)
    significant = singular > np.sqrt(NEGLIGIBLE) * singular.max(initial=0.0)
    return np.asarray(axes[significant].T / singular[significant] / unit[:, None])
