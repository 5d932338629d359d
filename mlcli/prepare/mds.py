"""Multidimensional scaling: replaces columns by places whose distances are nearly those of the rows.

Formula:
    B = −½ J D² J of the squared distances D² between landmarks; with its largest eigenvalues Λ and their vectors V
    the landmarks lie at V Λ^½, and a row whose squared distances to them are d² at z = −½ Λ^−½ Vᵀ (d² − d̄²), d̄²
    being the landmarks' mean squared distances (Gower 1968); for a landmark that is its own place.

Assumes:
    That all distances matter alike, the large ones most. With euclidean distances and all rows as landmarks it is
    pca; with others it shows what pca cannot.

Cost:
    Distances of all rows to the landmarks, and the eigenvectors of those between landmarks.

Choices:
    Landmarks are training rows, drawn where there are more than `landmarks` (Landmark MDS, de Silva & Tenenbaum
    2004). Classical scaling only: places of least stress (the method `mds` with `by: metric`) have no formula for
    new rows. Columns are standardised unless `standardise` is false. Directions of eigenvalues that are not above
    0 (distances that no space has) are 0 in all rows.
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
    """Places instead of columns."""

    scales = True

    noun: ClassVar[str] = "dimension"

    components: int = param(2, "how many columns there are then", ge=1, tune=(1, 10))
    distance: str = param("euclidean", "how far rows are apart", choices=DISTANCES)
    landmarks: int = param(500, "from how many training rows distances are taken at most", ge=2)
    standardise: bool = param(True, "whether every column counts alike, whatever its unit")

    points_: Array = learned("points", "columns")
    """The landmarks in their units."""
    middle_: Array = learned("columns")
    unit_: Array = learned("columns")
    vectors_: Array = learned("points", "values")
    values_: Array = learned("values")
    """All that are shown, the largest first; so many as there are components are used."""
    squares_: Array = learned("points")
    weights_: Array = learned("points")
    """What each landmark counts."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Choose landmarks, and place them."""
        data = data.counted()
        X = data.table.numbers
        found = moments(X, data.weights)
        spread = np.sqrt(found.variance) if self.standardise else np.ones(X.shape[1])
        self.middle_, self.unit_ = found.mean, np.where(spread > 0, spread, 1.0)
        chosen = order_of_content(data)
        if len(chosen) > self.landmarks:
            chosen = chosen[np.sort(rng.choice(len(chosen), self.landmarks, replace=False))]
        self.points_ = self._in_units(X[chosen])
        apart = DISTANCES[self.distance](self.points_, self.points_)
        self.weights_ = data.weights[chosen]
        scaled = ClassicalScaling.of(apart, max(self.components, 10), self.weights_)
        self.vectors_, self.values_, self.squares_ = scaled.vectors, scaled.values, scaled.squares

    def count(self, columns: tuple[Column, ...]) -> int:
        """As many as components were asked for."""
        return self.components

    def _in_units(self, X: Array) -> Array:
        return np.asarray((X - self.middle_) / self.unit_)

    def project(self, table: Table) -> Array:
        """The place of each row by its distances to the landmarks."""
        apart = DISTANCES[self.distance](self._in_units(table.numbers), self.points_)
        used = slice(0, self.components)
        scaled = ClassicalScaling(self.vectors_[:, used], self.values_[used], self.squares_, self.weights_)
        return scaled.placed(apart)

    def check_learned(self) -> None:
        """Values for each component."""
        if len(self.values_) < self.components:
            raise ValueError("there are not as many components")

    def explain(self) -> Explanation:
        """The eigenvalues, and where they bend."""
        real = self.values_[self.values_ > 0]
        note = f"{self.components} dimensions of {len(self.points_)} landmarks are kept{elbow_note(real)}"
        places = tuple(map(str, range(1, len(real) + 1)))
        return (Bars("Eigenvalues", ("dimension", "eigenvalue"), places, tuple(real.tolist()), note=note),)
