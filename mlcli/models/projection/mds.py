"""Multidimensional scaling: places rows in few dimensions so that their distances are nearly those in the table.

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
    Only rows that were fitted have a place (the step `mds` has classical places for new rows; there is no formula
    for those of least stress), so that the picture is judged by them (protocol `whole`): a row is made again as
    the mean of the `neighbours` rows that are nearest to its place. Directions of negative eigenvalues (distances
    that no space has) are left out. The largest entry of a direction is positive. The stress shown is Kruskal's:
    √(Σ (d − |z_i − z_j|)² / Σ d²); below 0.05 is good, above 0.2 poor.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.abilities import ComparesPairs
from mlcli.core.findings import Bars, Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.engines.classical_scaling import DISTANCES, ClassicalScaling, euclidean
from mlcli.engines.principal_components import elbow_note
from mlcli.models.projection._transductive import TransductiveProjector
from mlcli.tasks.projection import Projector

ENOUGH = 1e-12
"""Distances in the picture below this are none."""
MOST_COMPONENTS = 6
"""Of how many components the stress is told, to choose by."""


@register("mds", reference="Torgerson 1952; Kruskal 1964; De Leeuw 1977, SMACOF")
class MultidimensionalScaling(TransductiveProjector, Projector, ComparesPairs):
    """Rows at their distances."""

    bytes_per_pair = 33.0

    for_new_rows: ClassVar[str] = "the step mds places new rows at classical places, and pca does"

    by: str = param("classical", "what is minimised", choices=("classical", "metric"))
    components: int = param(2, "how many dimensions the places have", ge=1, tune=(1, 5))
    distance: str = param("euclidean", "how far rows are apart", choices=DISTANCES)
    tolerance: float = param(
        1e-6, "`metric` ends when the stress falls by less, relatively", gt=0, matters_when={"by": "metric"}
    )
    most_steps: int = param(
        300, "after how many steps `metric` ends in any case", ge=1, matters_when={"by": "metric"}
    )

    stresses_: Array = learned()
    """Of classical places in one dimension, in two, and so on."""

    def placed(self, X: Array) -> tuple[Array, str]:
        """The places, and the stress."""
        apart = DISTANCES[self.distance](X, X)
        self.stresses_ = self._stresses(apart)
        places, note = ClassicalScaling.of(apart, self.components).places(), ""
        if self.by == "metric":
            places, steps = self._majorised(apart, places)
            note = f" after {steps} steps"
        stress = share_of_stress(apart, places)
        return places, f"Kruskal's stress {stress:.4g}{note}: the share of the distances that the places get wrong"

    def _stresses(self, apart: Array) -> Array:
        """What classical places of some components get wrong."""
        most = min(MOST_COMPONENTS, max(len(apart) - 1, 1))
        places = ClassicalScaling.of(apart, most).places()
        return np.array([share_of_stress(apart, places[:, :count]) for count in range(1, most + 1)])

    def explain(self) -> Explanation:
        """How well it went, and how well it would with other numbers of components."""
        counts = tuple(map(str, range(1, len(self.stresses_) + 1)))
        note = f"of classical scaling{elbow_note(self.stresses_)}"
        stress = Bars("Stress", ("components", "stress"), counts, tuple(self.stresses_.tolist()), note=note)
        return (*super().explain(), stress)

    def _majorised(self, apart: Array, places: Array) -> tuple[Array, int]:
        """Places of less and less stress."""
        before = raw_stress(apart, places)
        for step in range(1, self.most_steps + 1):
            shown = euclidean(places, places)
            ratio = np.where(shown > ENOUGH, apart / np.where(shown > ENOUGH, shown, 1.0), 0.0)
            places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / max(len(places), 1)
            stress = raw_stress(apart, places)
            if before - stress <= self.tolerance * before:
                return places, step
            before = stress
        return places, self.most_steps


def raw_stress(apart: Array, places: Array) -> float:
    """Σ (d − |z_i − z_j|)² over all pairs, each twice."""
    return float(((apart - euclidean(places, places)) ** 2).sum())


def share_of_stress(apart: Array, places: Array) -> float:
    """Kruskal's stress."""
    return float(np.sqrt(raw_stress(apart, places) / (float((apart**2).sum()) or 1.0)))
