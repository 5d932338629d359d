"""Fixed radius: a row is odd when few training rows lie within a distance of it.

Formula:
    s(x) = 1 − (1/n) |{i : d(x, x_i) ≤ r}|, the share of training rows that are farther away than r; d is
    euclidean.

Assumes:
    Regions of good rows are about equally dense: one radius for all. Beyond the radius of all rows, every row is
    as odd as any other.

Cost:
    A k-d tree in n log n; per predicted row from log n up to n where many rows are near or there are many columns.

Choices:
    Without a radius it is such that half of the training rows have at least ``share`` of the others within it, as
    measured on up to 1,000 of them; where these are equal rows, the smallest distance between others. A row at
    the distance r counts as near. A model that scores exactly its training rows leaves
    each out of its own count. What a column adds is the square of how far the few nearest rows are in it. Its own
    threshold is found on the logarithm of the share of near rows, since a score cannot be above 1: a row without
    any is flagged, unless a quarter of the training rows have none.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import as_repeats
from mlcli.engines.neighbours.neighbourhoods import NeighbourDetector, same_rows
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("fixed-radius", reference="Knorr & Ng 1998, Algorithms for mining distance-based outliers", revision=2)
class FixedRadius(NeighbourDetector, Detector):
    """Counts the training rows near by."""

    radius: float | None = param(None, "how far a row may be that is near; none: by the share", gt=0)
    share: float = param(
        0.1,
        "without a radius, the share of rows that are near a middling row",
        gt=0,
        lt=1,
        tune=(0.01, 0.5),
        matters_when={"radius": None},
    )

    radius_: float = learned()

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Store the rows, and settle the radius."""
        self.store(data, min(5, max(1, len(data) - 1)))  # reasons come from the nearest rows
        if self.radius is not None:
            self.radius_ = self.radius
            return
        from scipy.spatial.distance import cdist

        X = as_repeats(data).table.numbers
        sample = X[np.linspace(0, len(X) - 1, min(len(X), 1_000)).astype(np.intp)]
        distances = np.sort(cdist(sample, sample), axis=1)[:, 1:]
        index = max(0, int(np.ceil(self.share * distances.shape[1])) - 1)
        positive = distances[distances > 0]
        self.radius_ = float(np.median(distances[:, index])) or float(positive.min(initial=np.inf))
        if np.isinf(self.radius_):  # all rows are equal
            self.radius_ = 1.0

    def score_rows(self, table: Table) -> Array:
        """The share of training rows that are not near."""
        from scipy.spatial import cKDTree

        tree = cKDTree(self.stored_)
        near = tree.query_ball_point(table.numbers, self.radius_ * (1 + ROUNDING), return_length=True)
        own = 1 if same_rows(table.numbers, self.stored_) else 0
        return np.asarray(1.0 - (near - own) / (len(self.stored_) - own))

    def far_out(self, lower: float, upper: float) -> tuple[float, str]:
        """Far out by the logarithm of the share of near rows; below 1, so that a row without any is."""
        scale = ", on the logarithm of the share of near rows"
        if upper >= 1:
            return 1.0, scale
        rarity, _ = super().far_out(-np.log1p(-lower), -np.log1p(-upper))
        return min(-np.expm1(-rarity), float(np.nextafter(1.0, 0.0))), scale

    def explain(self) -> findings.Explanation:
        """How much is stored, and what near means."""
        rows = (("training rows", len(self.stored_)), ("columns", self.stored_.shape[1]), ("radius", self.radius_))
        note = "A score of 1 says that no training row is within the radius, in the columns as it sees them."
        return (findings.Table("Stored rows", ("what", "value"), rows, note=note),)

    def check_learned(self) -> None:
        """The radius is a length."""
        super().check_learned()
        if not self.radius_ > 0:
            raise ValueError("the radius of fixed-radius is no length")
