"""Random clusters: puts rows into clusters at random, as a clustering that has found nothing would look.

Formula:
    c(x) is drawn uniformly from 0..k−1, by the number of the row and a seed.

Assumes:
    Nothing. Its scores are what chance gives: a silhouette near 0, an adjusted Rand index near 0.

Cost:
    One draw per row.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Codes, Table
from mlcli.engines.content_seeds import RandomByRow
from mlcli.tasks.clustering import ClusteredRows, Clusterer


@register("random-clusters", reference="Hubert & Arabie 1985, Comparing partitions: the null model", revision=3)
class RandomClusters(RandomByRow, Clusterer):
    """Clusters that mean nothing."""

    clusters: int = param(3, "number of clusters", ge=1)

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Draw the seed."""
        self.seed_ = int(rng.integers(2**62))

    def cluster_of(self, table: Table) -> Codes:
        """A draw for each row."""
        return (self.draws(table) * self.clusters).astype(np.int32)

    def cluster_count(self) -> int:
        """As many as asked for."""
        return self.clusters

    def explain(self) -> findings.Explanation:
        """That there is nothing to explain."""
        return (findings.Lines("Random clusters", lines=(f"{self.clusters} clusters, drawn at random",)),)
