"""Groups of rows to begin a mixture with: each row goes to the nearest of those that k-means would begin with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Flags
from mlcli.engines.centres import STARTS as STARTS_OF_CENTRES
from mlcli.engines.centres import Cloud, cloud_of, nearest, squared_lengths

STARTS = {name: STARTS_OF_CENTRES[name] for name in ("k-means-plus-plus", "random-points")}
"""Those whose centres are rows: each of these has itself in its group."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Rows in standard deviations, and what seeds are drawn from."""

    Z: Array
    cloud: Cloud

    def groups(self, count: int, start: str, rng: np.random.Generator) -> Flags:
        """Which rows (n × count) are nearest to which seed."""
        seeds = STARTS[start](self.cloud, count, rng)
        if len(seeds) < count:
            what = f"{count} components need as many different rows, and there are {len(seeds)}"
            raise FitError(what, hint="fewer components")
        group = nearest(self.Z, seeds, squared_lengths(self.Z)).group
        return np.asarray(group[:, None] == np.arange(count))


def ground_of(X: Array, mean: Array, deviation: Array, weights: Array) -> Ground:
    """Rows of numbers, in the units of their columns."""
    Z = (X - mean) / deviation
    return Ground(Z, cloud_of(Z, weights))
