"""Multidimensional scaling: replaces the columns by coordinates whose distances approximate those of the rows.

Formula:
    B = −½ J D² J of the squared distances D² between landmarks; with its largest eigenvalues Λ and their vectors V
    the landmarks lie at V Λ^½, and a row whose squared distances to them are d² at z = −½ Λ^−½ Vᵀ (d² − d̄²), with
    d̄² the mean squared distances of the landmarks (Gower 1968). For a landmark both formulas agree.

Assumes:
    All distances matter, large ones most. With euclidean distances and all rows as landmarks it equals pca; with
    other distances it finds structure that pca cannot.

Cost:
    Distances of all rows to the landmarks, and the eigenvectors of those between landmarks.

Choices:
    Landmarks are training rows, drawn if there are more than `landmarks` (Landmark MDS, de Silva & Tenenbaum
    2004). Classical scaling only: the coordinates of least stress (the method `mds` with `by: metric`) have no
    formula for new rows. Columns are standardised unless `standardise` is false. Directions whose eigenvalue is
    not positive (because the distances are not euclidean) are 0 in all rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.findings import Bars, Explanation
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.distance_matrix import DISTANCES, ClassicalScaling
from mlcli.engines.principal_components import elbow_note
from mlcli.prepare._columns import Projection


@register("mds", reference="Torgerson 1952; Gower 1968; de Silva & Tenenbaum 2004, Landmark MDS")
class MultidimensionalScaling(Projection):
    """Replace the columns by coordinates."""

    scales = True

    noun: ClassVar[str] = "dimension"

    components: int = param(2, "number of new columns", ge=1, tune=(1, 10))
    distance: str = param("euclidean", "distance between rows", choices=DISTANCES)
    landmarks: int = param(500, "largest number of landmarks", ge=2)
    standardise: bool = param(True, "whether columns are divided by their standard deviation")

    points_: Array = learned("points", "columns")
    """The landmarks, centred and scaled."""
    middle_: Array = learned("columns")
    unit_: Array = learned("columns")
    vectors_: Array = learned("points", "values")
    values_: Array = learned("values")
    """The eigenvalues, largest first; the first ``components`` of them are used, the others only reported."""
    squares_: Array = learned("points")
    weights_: Array = learned("points")
    """The weight of each landmark."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Choose the landmarks, and compute their coordinates."""
        data = data.counted()
        X = data.table.numbers
        statistics = moments(X, data.weights)
        deviation = np.sqrt(statistics.variance) if self.standardise else np.ones(X.shape[1])
        self.middle_, self.unit_ = statistics.mean, np.where(deviation > 0, deviation, 1.0)
        chosen = order_of_content(data)
        if len(chosen) > self.landmarks:
            chosen = chosen[np.sort(rng.choice(len(chosen), self.landmarks, replace=False))]
        self.points_ = self._scaled(X[chosen])
        distances = DISTANCES[self.distance](self.points_, self.points_)
        self.weights_ = data.weights[chosen]
        scaling = ClassicalScaling.of(distances, max(self.components, 10), self.weights_)
        self.vectors_, self.values_, self.squares_ = scaling.vectors, scaling.values, scaling.squares

    def count(self, columns: tuple[Column, ...]) -> int:
        """The number of components."""
        return self.components

    def _scaled(self, X: Array) -> Array:
        return np.asarray((X - self.middle_) / self.unit_)

    def project(self, table: Table) -> Array:
        """The coordinates of each row, from its distances to the landmarks."""
        distances = DISTANCES[self.distance](self._scaled(table.numbers), self.points_)
        used = slice(0, self.components)
        scaling = ClassicalScaling(self.vectors_[:, used], self.values_[used], self.squares_, self.weights_)
        return scaling.placed(distances)

    def check_learned(self) -> None:
        """An eigenvalue for each component."""
        if len(self.values_) < self.components:
            raise ValueError(f"mds needs {self.components} eigenvalues, and there are {len(self.values_)}")

    def explain(self) -> Explanation:
        """The eigenvalues, and their elbow."""
        positive = self.values_[self.values_ > 0]
        note = f"{self.components} dimensions of {len(self.points_)} landmarks are kept{elbow_note(positive)}"
        labels = tuple(map(str, range(1, len(positive) + 1)))
        return (Bars("Eigenvalues", ("dimension", "eigenvalue"), labels, tuple(positive.tolist()), note=note),)
