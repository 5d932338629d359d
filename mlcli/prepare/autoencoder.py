"""Autoencoder: replaces the columns by the code from which a network can restore them (the bottleneck).

Formula:
    z = Φ_e(x; Θ_e), x̂ = Φ_d(z; Θ_d), with fewer numbers in z than columns in x. Θ = arg min
    (1/n) Σ ½ ‖x_i − Φ_d(Φ_e(x_i))‖²; the new columns are z. Without hidden layers, they span the space of the
    principal components.

Assumes:
    Rows lie near a surface of few dimensions. Columns on one scale: put `standardise` before it.

Cost:
    About 6 × parameters operations for each training row and epoch; 1 × parameters for each row transformed.

Choices:
    The network is that of the method `autoencoder`, whose page says more. It sees no target, so that it may leave
    out what a classifier needs. A detector behind it knows rows by their codes alone (notes, 9.2).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.network.training import Autoencoding
from mlcli.prepare._columns import Projection


@register("autoencoder", reference="Hinton & Salakhutdinov 2006, Reducing the dimensionality of data")
class AutoencoderCode(Autoencoding, Projection):
    """Codes instead of columns."""

    noun: ClassVar[str] = "code"

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Learn to restore the rows."""
        self.learn_to_restore(data, rng)

    def count(self, columns: tuple[Column, ...]) -> int:
        """As many as the code has numbers."""
        return self.code_length(columns)

    def project(self, table: Table) -> Array:
        """The code of each row."""
        return self.codes(table)
