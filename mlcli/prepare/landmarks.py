"""Landmarks: replaces the columns by how similar a row is to each of a few training rows, by a Gaussian kernel.

Formula:
    z_l = exp(−γ |x − x_l|²) for the landmarks x_1, ..., x_L, rows of training; without `gamma` γ = 1 / (p · s²),
    with s² the mean variance of the columns (so that γ of standardised columns is 1 / p).

Assumes:
    Columns on one scale, and that what is near a landmark is alike.

Cost:
    Rows × landmarks × columns.

Choices:
    Landmarks are drawn as k-means++ draws its first centres, each likelier the farther it is from those before; of
    rows that are equal one is enough, and where fewer rows differ the last columns are 0. The draw follows from
    what is in the rows, not from their order. `gamma` is 1 / (2σ²).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import centred_rows, k_means_plus_plus
from mlcli.prepare._columns import Projection


@register("landmarks", reference="Broomhead & Lowe 1988; Williams & Seeger 2001 (Nyström)")
class Landmarks(Projection):
    """Similarity to landmarks instead of columns."""

    noun: ClassVar[str] = "landmark"

    landmarks: int = param(10, "how many training rows are landmarks", ge=1, tune=(5, 50))
    gamma: float | None = param(None, "how fast similarity falls; none: from the spread of the columns", gt=0)

    rows_: Array = learned("rows", "columns")
    gamma_: float = learned()

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Draw the landmarks."""
        data = data.counted()
        found = moments(data.table.numbers, data.weights)
        cloud = centred_rows(data.table.numbers - found.mean, data.weights)
        drawn = k_means_plus_plus(cloud, self.landmarks, rng)
        self.rows_ = drawn.reshape(len(drawn), len(self.columns_)) + found.mean
        self.gamma_ = self.gamma or 1.0 / (float(found.variance.sum()) or 1.0)

    def places(self, table: Table) -> Array:
        """How similar each row is to each landmark."""
        apart = np.zeros((len(self.rows_), len(table)))
        for cells, at in zip(table.numbers.T, self.rows_.T, strict=True):
            apart += np.subtract.outer(at, cells) ** 2
        numbers = np.zeros((len(table), self.landmarks))
        numbers[:, : len(self.rows_)] = np.exp(-self.gamma_ * apart).T
        return numbers

    def check_learned(self) -> None:
        """No more landmarks than were asked for."""
        if len(self.rows_) > self.landmarks:
            raise ValueError("there are not as many landmarks")

    def explain(self) -> findings.Explanation:
        """The landmarks."""
        header = ("landmark", *(column.name for column in self.columns_))
        rows = tuple((place, *row) for place, row in enumerate(self.rows_.tolist(), start=1))
        return (findings.Table("Landmarks", header, rows, note=f"gamma {self.gamma_:.4g}"),)
