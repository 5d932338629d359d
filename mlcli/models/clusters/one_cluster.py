"""One cluster: all rows in one cluster, whatever they look like.

Formula:
    c(x) = 0.

Assumes:
    Nothing. Its within-cluster sum of squares is that of the whole table; a clustering has to lower it by more
    than chance would, and its separation is not defined.

Cost:
    Nothing.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Codes, Table
from mlcli.tasks.clustering import ClusteredRows, Clusterer


@register("one-cluster", reference="Calinski & Harabasz 1974, the case of one cluster", revision=2)
class OneCluster(Clusterer):
    """The baseline of clustering."""

    size_: int = learned()

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Count the rows."""
        self.size_ = len(data)

    def cluster_of(self, table: Table) -> Codes:
        """Cluster 0, for every row."""
        return np.zeros(len(table), dtype=np.int32)

    def cluster_count(self) -> int:
        """One."""
        return 1

    def explain(self) -> findings.Explanation:
        """How many rows it has put together."""
        return (findings.Lines("One cluster", lines=(f"all {self.size_} rows",)),)
