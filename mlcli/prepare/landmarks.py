"""Landmarks: replaces the columns by how similar a row is to each of a few training rows, by a kernel.

Formula:
    z_l = K(u) with u = γ |x − x_l|² for the landmarks x_1, ..., x_L, rows of training. Without `gamma`
    γ = 1 / (p · s²), s² the mean variance of the columns (so that γ of standardised columns is 1 / p). The kernel
    is gaussian e^(−u), laplacian e^(−√u), cauchy 1/(1 + u), or epanechnikov 1 − u and triangular 1 − √u, which are
    0 from u = 1 on.

Assumes:
    Columns on one scale, and that what is near a landmark is alike.

Cost:
    Rows × landmarks × columns.

Choices:
    Landmarks are drawn as k-means++ draws its first centres, each likelier the farther it is from those before; of
    rows that are equal one is enough, and where fewer rows differ the last columns are 0. The draw follows from
    what is in the rows, not from their order. `gamma` is 1 / (2σ²). `landmark_rows` names rows of the file
    instead, numbered from 1; the columns of those that a split holds out are 0.
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
    """Similarity to landmarks instead of columns."""

    noun: ClassVar[str] = "landmark"

    landmarks: int = param(10, "how many training rows are landmarks", ge=1, tune=(5, 50))
    landmark_rows: tuple[int, ...] | None = param(
        None,
        "the rows of the file that are landmarks, numbered from 1: [1, 5, 9]; none: drawn",
        ge=1,
        if_given=True,
    )
    kernel: str = param("gaussian", "how similarity falls with the distance", choices=LOG_KERNELS, if_given=True)
    gamma: float | None = param(None, "how fast similarity falls; none: from the spread of the columns", gt=0)

    rows_: Array = learned("rows", "columns")
    gamma_: float = learned()

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Draw the landmarks."""
        data = data.counted()
        found = moments(data.table.numbers, data.weights)
        if self.landmark_rows is not None:
            self.rows_ = self._named_rows(data)
        else:
            cloud = centred_rows(data.table.numbers - found.mean, data.weights)
            drawn = k_means_plus_plus(cloud, self.landmarks, rng)
            self.rows_ = drawn.reshape(len(drawn), len(self.columns_)) + found.mean
        self.gamma_ = self.gamma or 1.0 / (float(found.variance.sum()) or 1.0)

    def count(self, columns: tuple[Column, ...]) -> int:
        """As many as are drawn, or named."""
        return self.landmarks if self.landmark_rows is None else len(self.landmark_rows)

    def _named_rows(self, data: RowsOfTable) -> Array:
        """The landmarks in the order in which they are named; NaN for one that is held out."""
        assert self.landmark_rows is not None
        rows = np.full((len(self.landmark_rows), len(self.columns_)), np.nan)
        for place in named_landmarks(data.rows, self.landmark_rows).tolist():
            rows[[number - 1 == data.rows[place] for number in self.landmark_rows]] = data.table.numbers[place]
        return rows

    def places(self, table: Table) -> Array:
        """How similar each row is to each landmark."""
        apart = np.zeros((len(self.rows_), len(table)))
        for cells, at in zip(table.numbers.T, self.rows_.T, strict=True):
            apart += np.subtract.outer(at, cells) ** 2
        numbers = np.zeros((len(table), self.count(self.columns_)))
        numbers[:, : len(self.rows_)] = np.nan_to_num(np.exp(LOG_KERNELS[self.kernel](self.gamma_ * apart))).T
        return numbers

    def check_learned(self) -> None:
        """No more landmarks than were asked for."""
        if len(self.rows_) > self.count(self.columns_):
            raise ValueError("there are not as many landmarks")

    def explain(self) -> findings.Explanation:
        """The landmarks."""
        header = ("landmark", *(column.name for column in self.columns_))
        named = self.landmark_rows or range(1, len(self.rows_) + 1)
        rows = tuple(
            (place, *(None if math.isnan(number) else number for number in row))
            for place, row in zip(named, self.rows_.tolist(), strict=True)
        )
        return (findings.Table("Landmarks", header, rows, note=f"gamma {self.gamma_:.4g}"),)
