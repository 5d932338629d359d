"""Random clusters: puts rows into clusters at random, as a clustering that has found nothing would look.

Formula:
    c(x) is drawn uniformly from 0..k−1, by a hash of the cells of x and a seed.

Assumes:
    Nothing. Its scores are what chance gives: a silhouette near 0, an adjusted Rand index near 0.

Cost:
    One hash per row.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Codes, Table
from mlcli.engines.random_by_content import draws
from mlcli.tasks.clustering import ClusteredRows, Clusterer


@register("random-clusters", reference="Hubert & Arabie 1985, Comparing partitions: the null model", revision=2)
class RandomClusters(Clusterer):
    """Clusters that mean nothing; equal rows fall into the same one."""

    clusters: int = param(3, "how many clusters", ge=1)

    seed_: int = learned()

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Draw the seed."""
        self.seed_ = int(rng.integers(2**62))

    def cluster_of(self, table: Table) -> Codes:
        """A draw for each row, the same for the same cells."""
        return (draws(table, self.seed_) * self.clusters).astype(np.int32)

    def cluster_count(self) -> int:
        """As many as asked for."""
        return self.clusters

    def explain(self) -> findings.Explanation:
        """That there is nothing to explain."""
        return (findings.Lines("Random clusters", lines=(f"{self.clusters} clusters, drawn at random",)),)
