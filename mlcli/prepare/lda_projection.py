"""LDA projection: replaces the columns by the few directions along which classes lie farthest apart (Fisher).

Formula:
    The directions b that maximise bᵀ B b / bᵀ W b, with W the covariance within the classes (over N − K) and B
    that between their means: z = (x − μ) b_1, (x − μ) b_2, ..., each with variance 1 within the classes.

Assumes:
    Classes of one covariance that differ in their means. There are K − 1 directions for K classes at most.

Cost:
    One pass, and the eigenvectors of a matrix as wide as the table.

Choices:
    Columns that do not vary within the classes, and directions that others make up, are left out (they get 0).
    Where there are fewer directions than `components`, the last columns are 0. The largest entry of a direction is
    positive. Learned from training rows only, classes included: applied to those same rows it flatters.
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
from mlcli.tasks.classification import LabelledRows

NEGLIGIBLE = 1e-10
"""A direction with less than this share of the largest variance is made of roundings."""


@register("lda-projection", reference="Fisher 1936; Rao 1948; Hastie, Tibshirani & Friedman 2009, 4.3.3")
class DiscriminantProjection(Projection):
    """Discriminant directions instead of columns."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    components: int = param(2, "how many directions are kept", ge=1, tune=(1, 10))

    middle_: Array = learned("columns")
    directions_: Array = learned("columns", "components")
    ratios_: Array = learned()
    """The variance between the classes along each direction, in that within."""

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the directions."""
        data = data.counted()
        X, w = data.table.numbers, data.weights
        present = np.flatnonzero(data.class_totals > 0)
        centres = np.array([means(X[data.y == k], w[data.y == k]) for k in present]).reshape(len(present), -1)
        self.middle_ = means(X, w)
        own = np.searchsorted(present, data.y)
        freedom = max(float(w.sum()) - len(present), 1.0)
        inside = (X - centres[own]) * np.sqrt(w / freedom)[:, None]
        white = _whitening(inside)
        counted = np.sqrt(data.class_totals[present] / max(len(present) - 1, 1))
        between = (centres - self.middle_) * counted[:, None]
        _, singular, axes = np.linalg.svd(between @ white, full_matrices=False)
        real = singular > np.sqrt(NEGLIGIBLE) * singular.max(initial=0.0)
        real[max(len(present) - 1, 0) :] = False
        directions = with_fixed_signs(white @ axes.T[:, real])[:, : self.components]
        self.directions_ = np.zeros((X.shape[1], self.components))
        self.directions_[:, : directions.shape[1]] = directions
        self.ratios_ = singular[real] ** 2

    def places(self, table: Table) -> Array:
        """The table along the directions."""
        return column_by_column(table.numbers - self.middle_, self.directions_)

    def explain(self) -> findings.Explanation:
        """How far classes are apart along each direction, and what the columns have to do with it."""
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
            (column.name, *weights)
            for column, weights in zip(self.columns_, self.directions_.tolist(), strict=True)
        )
        return bars, findings.Table("Directions", ("column", *component_names(self.components)), rows)


def _whitening(inside: Array) -> Array:
    """What gives rows variance 1 in all directions in which they vary (p × m)."""
    spread = np.sqrt((inside**2).sum(axis=0))
    unit = np.where(spread > 0, spread, 1.0)
    _, singular, axes = np.linalg.svd(inside / unit, full_matrices=False)
    real = singular > np.sqrt(NEGLIGIBLE) * singular.max(initial=0.0)
    return np.asarray(axes[real].T / singular[real] / unit[:, None])
