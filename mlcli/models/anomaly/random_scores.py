"""Random scores: scores rows at random, as a detector that has found nothing would.

Formula:
    s(x) is drawn uniformly from [0, 1), by the number of the row and a seed.

Assumes:
    Nothing. Its scores are what chance gives: an AUC near ½, an average precision near the share of anomalies.

Cost:
    One draw per row.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import RandomByRow
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("random-scores", reference="Fawcett 2006, An introduction to ROC analysis, section 4", revision=2)
class RandomScores(RandomByRow, Detector):
    """The baseline of anomaly detection; rows with equal cells get different scores."""

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Draw the seed."""
        self.seed_ = int(rng.integers(2**62))

    def score_rows(self, table: Table) -> Array:
        """A draw for each row."""
        return self.draws(table)

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """No column is a reason."""
        return tuple(column.name for column in table.number_columns), np.zeros(table.numbers.shape)

    def explain(self) -> findings.Explanation:
        """That there is nothing to explain."""
        return (findings.Lines("Random scores", lines=("drawn from 0 to 1, whatever the row looks like",)),)
