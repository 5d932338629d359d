"""Autoencoder: a row is odd when a network that compresses and reconstructs rows reconstructs it badly.

Formula:
    z = Φ_e(x; Θ_e), x̂ = Φ_d(z; Θ_d), with fewer numbers in z than columns in x (the bottleneck).
    Θ = arg min (1/n) Σ ½ ‖x_i − Φ_d(Φ_e(x_i))‖²; s(x) = ‖x − x̂‖².

Assumes:
    Good rows lie near a surface of few dimensions, from which anomalies stand off. Anomalies among the training
    rows bend the surface towards them.

Cost:
    About 6 × parameters operations for each training row and epoch; 2 × parameters for each predicted row.

Choices:
    The error is minimised (the notes print a maximum). The decoder mirrors the encoder; tied, it has the weights
    of the encoder transposed, half as many to learn. The code and the restored row are linear, the layers between
    have the activation; without such layers, the best code are the principal components. l2 is the cost of half a
    unit of squared weight beside the summed error. Whole weights count as repeats.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.linear_scores import reconstruction
from mlcli.engines.network.training import Autoencoding
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register(
    "autoencoder", reference="Hawkins, He, Williams & Baxter 2002, Outlier detection using replicator networks"
)
class Autoencoder(Autoencoding, Detector, RowExplainer):
    """Scores by the error of reconstruction."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Learn to restore the rows."""
        if not data.table.numbers.shape[1]:
            raise FitError("an autoencoder needs a column to reconstruct")
        self.learn_to_restore(data, rng)

    def score_rows(self, table: Table) -> Array:
        """The squared distance of each row to what is restored of it."""
        return np.asarray(((table.numbers - self.restored(table)) ** 2).sum(axis=1))

    def deviations(self, table: Table) -> Array:
        """The squared error of each column, with the sign of the deviation."""
        apart = table.numbers - self.restored(table)
        return np.asarray(apart * np.abs(apart))

    def explain_answer(self, table: Table) -> Explanation:
        """What is restored of the row; its score is the sum of the squared errors."""
        return (reconstruction(table, self.restored(table)),)

    def check_learned(self) -> None:
        """Refuse layers of other widths, and a threshold that is none."""
        super().check_learned()
        Detector.check_learned(self)
