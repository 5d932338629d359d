"""Multidimensional scaling: places rows so that their distances in the picture are those in the table.

Formula:
    `classical` B = −½ J D² J with J = I − 11ᵀ/n and D² the squared distances; the places are the first
    eigenvectors of B times the roots of their eigenvalues. `metric` minimises the stress Σ_{i<j} (d_ij − |z_i −
    z_j|)² by majorisation (SMACOF), from the classical places on: each step puts Z ← B(Z) Z / n and never raises
    the stress.

Assumes:
    That all distances matter alike, the large ones most. With Euclidean distances `classical` is pca.

Cost:
    All pairs of rows: their eigenvectors, or some hundred passes over them.

Choices:
    Only rows that were fitted have a place, so that the picture is judged by them (protocol `whole`): a row is
    made again as the mean of the `neighbours` rows that are nearest to its place. Directions of negative
    eigenvalues (distances that no space has) are left out. The largest entry of a direction is positive. The
    stress that is shown is Kruskal's: √(Σ (d − |z_i − z_j|)² / Σ d²); below 0.05 is good, above 0.2 poor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.engines.centres import squared_differences
from mlcli.engines.principal import with_fixed_signs
from mlcli.models.projection._picture import Picture
from mlcli.tasks.projection import Projector

ENOUGH = 1e-12
"""Distances in the picture below this are none."""


def euclidean(X: Array) -> Array:
    """The length of the difference of rows."""
    return np.sqrt(squared_differences(X, X))


def manhattan(X: Array) -> Array:
    """The sum of the differences of cells."""
    return np.asarray(sum((np.abs(np.subtract.outer(cells, cells)) for cells in X.T), np.zeros((len(X), len(X)))))


DISTANCES: dict[str, Callable[[Array], Array]] = {"euclidean": euclidean, "manhattan": manhattan}


@register("mds", reference="Torgerson 1952; Kruskal 1964; De Leeuw 1977, SMACOF")
@dataclass(kw_only=True, eq=False)
class MultidimensionalScaling(Picture, Projector):
    """Rows at their distances."""

    by: str = param("classical", "what is made small", choices=("classical", "metric"))
    components: int = param(2, "how many dimensions the picture has", ge=1, tune=(1, 5))
    distance: str = param("euclidean", "how far rows are apart", choices=DISTANCES)
    tolerance: float = param(1e-6, "`metric` ends when the stress falls by less, relatively", gt=0)
    most_steps: int = param(300, "after how many steps `metric` ends in any case", ge=1)

    def placed(self, X: Array) -> tuple[Array, str]:
        """The places, and the stress."""
        apart = DISTANCES[self.distance](X)
        places, note = classical(apart, self.components), ""
        if self.by == "metric":
            places, steps = self._majorised(apart, places)
            note = f" after {steps} steps"
        total = float((apart**2).sum()) or 1.0
        stress = np.sqrt(raw_stress(apart, places) / total)
        return places, f"stress {stress:.4g}{note}: the share of the distances that the picture gets wrong"

    def _majorised(self, apart: Array, places: Array) -> tuple[Array, int]:
        """Places of less and less stress."""
        before = raw_stress(apart, places)
        for step in range(1, self.most_steps + 1):
            shown = euclidean(places)
            ratio = np.where(shown > ENOUGH, apart / np.where(shown > ENOUGH, shown, 1.0), 0.0)
            places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / max(len(places), 1)
            stress = raw_stress(apart, places)
            if before - stress <= self.tolerance * before:
                return places, step
            before = stress
        return places, self.most_steps


def classical(apart: Array, components: int) -> Array:
    """Places whose inner products are nearest to those that the distances tell."""
    from scipy.linalg import eigh

    n = len(apart)
    squares = apart**2
    rows = squares.mean(axis=1)
    products = -0.5 * (squares - rows[:, None] - rows[None, :] + rows.mean())
    kept = min(components, n)
    values, vectors = eigh(products, subset_by_index=(n - kept, n - 1))
    values, vectors = values[::-1], with_fixed_signs(vectors[:, ::-1])
    places = np.zeros((n, components))
    real = values > ENOUGH * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
    places[:, :kept] = vectors * np.sqrt(np.where(real, values, 0.0))
    return places


def raw_stress(apart: Array, places: Array) -> float:
    """Σ (d − |z_i − z_j|)² over all pairs, each twice."""
    return float(((apart - euclidean(places)) ** 2).sum())
