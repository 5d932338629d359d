"""Multidimensional scaling: places rows in few dimensions so that their distances are nearly those in the table.

Formula:
    `classical` B = −½ J D² J with J = I − 11ᵀ/n and D² the squared distances; the places are the first
    eigenvectors of B times the roots of their eigenvalues. `metric` minimises the stress Σ_{i<j} (d_ij − |z_i −
    z_j|)² by majorisation (SMACOF), from the classical places on: each step puts Z ← B(Z) Z / n and never raises
    the stress.

Assumes:
    All distances matter alike, the large ones most. With Euclidean distances `classical` is pca.

Cost:
    All pairs of rows: their eigenvectors, or some hundred passes over them.

Choices:
    Only fitted rows have a place (the step `mds` has classical places for new rows; there is no formula for
    those of least stress), so that the picture is scored on them (protocol `whole`): a row is reconstructed as
    the mean of the `neighbours` rows that are nearest to its place. Directions with negative eigenvalues
    (distances that are not Euclidean) are left out. The largest entry of a direction is positive. The stress
    shown is Kruskal's: √(Σ (d − |z_i − z_j|)² / Σ d²); below 0.05 is good, above 0.2 poor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core import CLOSE_DECIMALS
from mlcli.core.abilities import ComparesPairs
from mlcli.core.findings import Bars, Explanation, Lines
from mlcli.core.moments import means
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import squared_differences
from mlcli.engines.content_seeds import marks_of, places_of
from mlcli.engines.distance_matrix import DISTANCES, ClassicalScaling, euclidean
from mlcli.engines.principal_components import elbow_note
from mlcli.tasks.projection import Projector
from mlcli.tasks.unsupervised import UnlabelledRows


@dataclass(kw_only=True, eq=False)
class TransductiveProjector(Projector):
    """Each fitted row has a place; it is reconstructed as the mean of the rows that are nearest to its place.

    What is near stays near; new rows have no place.
    """

    transductive: ClassVar[bool] = True
    for_new_rows: ClassVar[str] = "pca places new rows"

    neighbours: int = param(
        5, "number of nearest rows from which a row is reconstructed, to score the places", ge=1
    )

    places_: Array = learned("rows", "dimensions")
    rows_: Array = learned("rows", "numbers")
    """The training rows, in an order that follows from their cells."""
    marks_: Array = learned("rows", 2)
    """The mark by which each row is found again."""
    goodness_of_fit_: str = learned()

    accepts = Accepts(prefers_scaled=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Place every row."""
        X = data.table.numbers
        order = np.lexsort(in_decimals(X).T) if X.shape[1] else np.arange(len(X))
        self.marks_, self.rows_ = marks_of(data.table)[order], X[order]
        self.places_, self.goodness_of_fit_ = self.placed(self.rows_)

    def placed(self, X: Array) -> tuple[Array, str]:
        """The place of each row, and a sentence on the goodness of fit."""
        raise NotImplementedError

    def project(self, table: Table) -> Array:
        """The places of rows, which must be among those that were fitted."""
        return np.asarray(self.places_[places_of(table, self.marks_, self.id, self.for_new_rows)])

    def reconstruct(self, table: Table) -> Array:
        """The mean of the other rows that are nearest to its place."""
        index = places_of(table, self.marks_, self.id, self.for_new_rows)
        count = min(self.neighbours, len(self.rows_) - 1)
        if count < 1:
            return np.asarray(self.rows_[index])
        result = np.empty((len(index), self.rows_.shape[1]))
        step = max(1, 2**22 // len(self.rows_))  # distances at once
        for start in range(0, len(index), step):
            block = index[start : start + step]
            distances = squared_differences(self.places_[block], self.places_)
            distances[np.arange(len(block)), block] = np.inf
            nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
            result[start : start + step] = self.rows_[nearest].mean(axis=1)
        return result

    def middle(self) -> Array:
        """The mean row."""
        return means(self.rows_, np.ones(len(self.rows_)))

    def explain(self) -> Explanation:
        """The goodness of fit."""
        return (Lines("Goodness of fit", (self.goodness_of_fit_,)),)


def in_decimals(X: Array) -> Array:
    """Rows in units of their spread, rounded so that differences in the last digits vanish."""
    unit = float(X.std()) if X.size else 0.0
    return np.asarray(np.round(X / (unit or 1.0), CLOSE_DECIMALS) + 0.0)


@register("mds", reference="Torgerson 1952; Kruskal 1964; De Leeuw 1977, SMACOF")
class MultidimensionalScaling(TransductiveProjector, Projector, ComparesPairs):
    """Rows at their distances."""

    bytes_per_pair = 33.0

    for_new_rows: ClassVar[str] = "the step mds places new rows at classical places, and pca does"

    by: str = param("classical", "classical scaling, or the stress of distances", choices=("classical", "metric"))
    components: int = param(2, "number of dimensions", ge=1, tune=(1, 5))
    distance: str = param("euclidean", "distance between rows", choices=DISTANCES)
    tolerance: float = param(
        1e-6, "`metric` ends when the stress falls by less, relatively", gt=0, matters_when={"by": "metric"}
    )
    most_steps: int = param(300, "maximum number of steps of `metric`", ge=1, matters_when={"by": "metric"})

    stresses_: Array = learned()
    """The stress of classical places in one dimension, in two, and so on up to six."""

    def placed(self, X: Array) -> tuple[Array, str]:
        """The places, and the stress."""
        distances = DISTANCES[self.distance](X, X)
        most = min(6, max(len(distances) - 1, 1))
        classical = ClassicalScaling.of(distances, most).places()
        self.stresses_ = np.array([kruskal_stress(distances, classical[:, :k]) for k in range(1, most + 1)])
        places, note = ClassicalScaling.of(distances, self.components).places(), ""
        if self.by == "metric":
            places, steps = self._majorise(distances, places)
            note = f" after {steps} steps"
        stress = kruskal_stress(distances, places)
        return places, f"Kruskal's stress {stress:.4g}{note}: the share of the distances that the places get wrong"

    def _majorise(self, distances: Array, places: Array) -> tuple[Array, int]:
        """SMACOF: places of less and less stress, and the number of steps."""
        before = raw_stress(distances, places)
        for step in range(1, self.most_steps + 1):
            shown = euclidean(places, places)
            apart = shown > 1e-12
            ratio = np.where(apart, distances / np.where(apart, shown, 1.0), 0.0)
            places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / max(len(places), 1)
            stress = raw_stress(distances, places)
            if before - stress <= self.tolerance * before:
                return places, step
            before = stress
        return places, self.most_steps

    def explain(self) -> Explanation:
        """The goodness of fit, and the stress with other numbers of components."""
        counts = tuple(map(str, range(1, len(self.stresses_) + 1)))
        note = f"of classical scaling{elbow_note(self.stresses_)}"
        stress = Bars("Stress", ("components", "stress"), counts, tuple(self.stresses_.tolist()), note=note)
        return (*super().explain(), stress)


def raw_stress(distances: Array, places: Array) -> float:
    """Σ (d − |z_i − z_j|)² over all pairs, each twice."""
    return float(((distances - euclidean(places, places)) ** 2).sum())


def kruskal_stress(distances: Array, places: Array) -> float:
    """Kruskal's stress."""
    return float(np.sqrt(raw_stress(distances, places) / (float((distances**2).sum()) or 1.0)))
