"""Columns in standard units, without a copy of them: what solvers see of a table.

Long tables are gone through in blocks that stay in the processor's cache, as they are: centring and scaling are
done to coefficients and slopes, which are few. Where columns lie far from 0 beside their spread that would cost
digits; such tables, short ones, and what needs columns left out are centred first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array
from mlcli.models.linear._design import Design
from mlcli.tasks.supervised import SupervisedRows

Real = TypeVar("Real", np.float32, np.float64)

BLOCK = 2**17
"""How many numbers a block has."""
LONG = 2**16
"""From so many numbers on, a copy is worth avoiding."""
FEW_LINES, SHORT = 4, 2**12
"""So many lines at most are multiplied one by one, where they meet so many numbers."""
ROOM_FOR_PRODUCTS = 2**20
"""How many numbers the products of columns may be."""
FAR = 1e4
"""A square of the mean beyond so many variances costs too many digits."""


@dataclass(frozen=True, eq=False)
class Standard:
    """(columns − middle) / scale, then a column of ones."""

    columns: Array
    middle: Array
    scale: Array
    intercept: bool
    """Whether the coefficient of the ones is free; else it is 0."""
    total: float
    """The summed weight of the rows."""
    design: Design | None = None
    """What the columns were made by, if they are not those of the table."""

    @classmethod
    def of(cls, data: SupervisedRows, intercept: bool) -> Standard:
        """The columns of training rows; without an intercept the origin is the middle."""
        return cls._as_they_are(data, intercept) or Scaled.by(Design.of(data, intercept), intercept)

    @classmethod
    def _as_they_are(cls, data: SupervisedRows, intercept: bool) -> Self | None:
        numbers, total = data.table.numbers, float(data.weights.sum())
        if numbers.size < LONG or len(numbers) < numbers.shape[1]:
            return None
        share, mean, square = data.weights / total, np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
        for rows, block in blocks(numbers):
            mean += share[rows] @ block
            square += np.einsum("i,ij,ij->j", share[rows], block, block)
        variance = square - mean**2
        if not (variance * FAR > square).all():
            return None
        return cls(numbers, mean * intercept, np.sqrt(variance if intercept else square), intercept, total)

    @property
    def centre(self) -> Array:
        """The middle of each column of the table."""
        return self.middle if self.design is None else self.design.centre

    def of_table(self, w: Array) -> Array:
        """Coefficients of standard columns as those of all columns of the table."""
        slopes = w[:, : len(self.scale)] / self.scale
        return slopes if self.design is None else self.design.coefficients(slopes)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns with that of ones."""
        return len(self.columns), len(self.scale) + 1

    def of_columns(self, w: Array) -> tuple[Array, Array]:
        """Coefficients of standard columns (outputs × columns) as slopes of ``columns`` and levels at their 0."""
        slopes = w[:, :-1] / self.scale
        return slopes, w[:, -1] - slopes @ self.middle

    def scores(self, w: Array) -> Array:
        """Scores (outputs × rows) of coefficients."""
        slopes, level = self.of_columns(w)
        product: Array = slopes @ self.columns.T + level[:, None]
        return product

    def slopes(self, gathered: Array) -> Array:
        """Slopes (outputs × columns and ones) in the coefficients of standard columns."""
        level = gathered[:, -1:]
        slopes = np.empty_like(gathered)
        np.subtract(gathered[:, :-1], level * self.middle, out=slopes[:, :-1])
        slopes[:, :-1] /= self.scale
        slopes[:, -1:] = level * self.intercept
        return slopes

    def both_ways(self, curved: Array) -> Array:
        """What ``slopes`` is, along both axes of a curvature (outputs × columns and ones, squared), in place."""
        curved[..., :-1] -= curved[..., -1:] * self.middle
        curved[..., :-1] /= self.scale
        curved[:, :-1] -= curved[:, -1:] * self.middle[:, None, None]
        curved[:, :-1] /= self.scale[:, None, None]
        if not self.intercept:
            curved[..., -1] = curved[:, -1] = 0.0
        return curved

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The standard columns in single precision: a copy of half the size."""
        made = np.empty(self.columns.shape, np.float32)
        for rows, block in self.blocks():
            made[rows] = (block - self.middle) / self.scale
        return made

    @cached_property
    def products(self) -> Array | None:
        """For each row the products of two columns, with that of ones, if there is room for them."""
        return None

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """The rows, a few at a time."""
        return blocks(self.columns)


class Scaled(Standard):
    """The same, made once: ``columns`` are what the others stand for, so that nothing is done to coefficients."""

    @classmethod
    def by(cls, design: Design, intercept: bool) -> Self:
        """The columns of a design."""
        columns, middle = design.columns / design.scale, np.zeros(design.columns.shape[1])
        return cls(columns, middle, design.scale, intercept, design.total, design)

    def of_columns(self, w: Array) -> tuple[Array, Array]:
        """Coefficients as slopes and levels."""
        return w[:, :-1], w[:, -1]

    def slopes(self, gathered: Array) -> Array:
        """Slopes in the coefficients, in place."""
        gathered[:, -1] *= self.intercept
        return gathered

    def both_ways(self, curved: Array) -> Array:
        """A curvature in the coefficients, in place."""
        if not self.intercept:
            curved[..., -1] = curved[:, -1] = 0.0
        return curved

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The columns in single precision."""
        return self.columns.astype(np.float32)

    @cached_property
    def products(self) -> Array | None:
        """As an upper triangle, line by line."""
        rows, width = self.shape
        if rows * width * (width + 1) // 2 > ROOM_FOR_PRODUCTS:
            return None
        lines = np.concatenate([self.columns.T, np.ones((1, rows))])
        first, second = np.triu_indices(width)
        return np.ascontiguousarray((lines[first] * lines[second]).T)


def times_columns(lines: NDArray[Real], block: NDArray[Real]) -> NDArray[Real]:
    """Lines (outputs × columns) times rows of columns; a few long ones are faster one by one."""
    if len(lines) > FEW_LINES or block.size < SHORT:
        return np.asarray(lines @ block.T)
    product = np.empty((len(lines), len(block)), lines.dtype)
    for line, target in zip(lines, product, strict=True):
        np.dot(block, line, out=target)
    return product


def times_rows(lines: NDArray[Real], block: NDArray[Real]) -> NDArray[Real]:
    """Lines (outputs × rows) times rows of columns; a few long ones are faster one by one."""
    if len(lines) > FEW_LINES or block.size < SHORT:
        return np.asarray(lines @ block)
    product = np.empty((len(lines), block.shape[1]), lines.dtype)
    for line, target in zip(lines, product, strict=True):
        np.dot(line, block, out=target)
    return product


def blocks(columns: NDArray[Real]) -> Iterator[tuple[slice, NDArray[Real]]]:
    """The rows, so many at a time that they stay in the cache."""
    size = max(256, BLOCK // max(columns.shape[1], 1))
    for first in range(0, len(columns), size):
        rows = slice(first, first + size)
        yield rows, columns[rows]
