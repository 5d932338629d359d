"""Landmarks: replaces the columns by the kernel similarity of each row to a few training rows.

Formula:
    z_l = K(u) with u = γ |x − x_l|² for the landmarks x_1, ..., x_L, which are training rows. Without `gamma`
    γ = 1 / (p · s²), s² the mean variance of the columns (so that γ of standardised columns is 1 / p). The kernel
    is gaussian e^(−u), laplacian e^(−√u), cauchy 1/(1 + u), or epanechnikov 1 − u and triangular 1 − √u, which are
    0 for u ≥ 1.

Assumes:
    Columns on one scale, and a target that changes little near a landmark.

Cost:
    Rows × landmarks × columns.

Choices:
    Landmarks are drawn like the starting centres of k-means++, with a higher probability far from those already
    drawn. Equal rows give one landmark; if there are fewer distinct rows than landmarks, the last columns are 0.
    The draw depends on the content of the rows, not on their order. `gamma` is 1 / (2σ²). `landmark_rows` chooses
    rows of the file instead, numbered from 1; the columns of rows that are not training rows are 0.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import centred_rows, k_means_plus_plus
from mlcli.engines.kernel_functions import LOG_KERNELS, named_landmarks
from mlcli.prepare._columns import Projection


@register("landmarks", reference="Broomhead & Lowe 1988; Williams & Seeger 2001 (Nyström)")
class Landmarks(Projection):
    """Replace the columns by similarities to landmarks."""

    noun: ClassVar[str] = "landmark"

    landmarks: int = param(10, "number of training rows that become landmarks", ge=1, tune=(5, 50))
    landmark_rows: tuple[int, ...] | None = param(
        None,
        "the rows of the file that become landmarks, numbered from 1: [1, 5, 9]; none: drawn",
        ge=1,
        if_given=True,
    )
    kernel: str = param("gaussian", "how similarity falls with the distance", choices=LOG_KERNELS, if_given=True)
    gamma: float | None = param(None, "how fast similarity falls; none: from the variance of the columns", gt=0)

    rows_: Array = learned("rows", "columns")
    """The landmarks; NaN for one that is not a training row."""
    gamma_: float = learned()

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Choose the landmarks."""
        data = data.counted()
        numbers = data.table.numbers
        statistics = moments(numbers, data.weights)
        if self.landmark_rows is None:
            cloud = centred_rows(numbers - statistics.mean, data.weights)
            drawn = k_means_plus_plus(cloud, self.landmarks, rng)
            self.rows_ = drawn.reshape(len(drawn), len(self.columns_)) + statistics.mean
        else:
            self.rows_ = np.full((len(self.landmark_rows), len(self.columns_)), np.nan)
            for index in named_landmarks(data.rows, self.landmark_rows).tolist():
                self.rows_[[number - 1 == data.rows[index] for number in self.landmark_rows]] = numbers[index]
        self.gamma_ = self.gamma or 1.0 / (float(statistics.variance.sum()) or 1.0)

    def count(self, columns: tuple[Column, ...]) -> int:
        """The number of landmarks that were requested."""
        return self.landmarks if self.landmark_rows is None else len(self.landmark_rows)

    def project(self, table: Table) -> Array:
        """The similarity of each row to each landmark."""
        squared = np.zeros((len(self.rows_), len(table)))
        for cells, landmark_cells in zip(table.numbers.T, self.rows_.T, strict=True):
            squared += np.subtract.outer(landmark_cells, cells) ** 2
        similarities = np.zeros((len(table), self.count(self.columns_)))
        kernel = np.exp(LOG_KERNELS[self.kernel](self.gamma_ * squared))
        similarities[:, : len(self.rows_)] = np.nan_to_num(kernel).T
        return similarities

    def check_learned(self) -> None:
        """At most as many landmarks as were requested."""
        if len(self.rows_) > (most := self.count(self.columns_)):
            raise ValueError(f"landmarks needs at most {most} landmarks, and there are {len(self.rows_)}")

    def explain(self) -> findings.Explanation:
        """The landmarks."""
        header = ("landmark", *(column.name for column in self.columns_))
        numbers = self.landmark_rows or range(1, len(self.rows_) + 1)
        rows = tuple(
            (number, *(None if math.isnan(cell) else cell for cell in landmark))
            for number, landmark in zip(numbers, self.rows_.tolist(), strict=True)
        )
        return (findings.Table("Landmarks", header, rows, note=f"gamma {self.gamma_:.4g}"),)
