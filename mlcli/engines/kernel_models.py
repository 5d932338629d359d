"""What methods with a kernel function have in common: its parameters, and the rows as it sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import SearchRanges, SharesWork
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.names import counted
from mlcli.core.params import learned, param
from mlcli.core.ranges import ByRows, Range, log_range
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import order_of_content, targets_of
from mlcli.engines.kernel_functions import KERNELS, KernelFunction, on_grid, one_width, scale, symmetric_matrix
from mlcli.engines.linear_scores import terms_of_points
from mlcli.tasks.classification import LabelledRows

PRECOMPUTED = "precomputed"
REACH = 30.0
"""How many times a gamma worth trying is less, or more, than what the spread of the columns suggests."""
MOST_ROWS, MOST_OUTPUTS = 10, 6
"""Of more coefficients the largest are shown, and of more outputs none."""
R = TypeVar("R", bound=RowsOfTable)


@dataclass(kw_only=True, eq=False)
class KernelModel(Model, SearchRanges, SharesWork):
    """A method that sees rows through a kernel function."""

    kernel: str = param("gaussian", "how alike two rows are", choices=KERNELS)
    gamma: float | None = param(
        None,
        "times squared distances or products; none: 1/(columns × variance)",
        gt=0,
        tune=ByRows(simpler="low"),
        matters_when={"kernel": ("gaussian", "polynomial"), "sigma": None},
    )
    sigma: float | None = param(
        None,
        "the width of the Gaussian kernel in place of gamma = 1/(2σ²)",
        gt=0,
        matters_when={"kernel": ("gaussian", "polynomial")},
    )
    degree: int = param(
        3,
        "the power of the polynomial kernel",
        ge=1,
        le=20,
        tune=Range(2, 5, simpler="low"),
        matters_when={"kernel": "polynomial"},
    )
    offset: float = param(
        1.0, "what the polynomial kernel adds to products", ge=0, matters_when={"kernel": "polynomial"}
    )
    matrix: str | None = param(
        None, "how the columns of a precomputed kernel begin: with k_ the column k_7 has the kernel to row 7"
    )

    gamma_: float = learned()
    points_: Array = learned()
    """The rows that a kernel is taken to; of a precomputed one their places in the file."""
    rows_: Rows = learned()
    """Which rows of the file these are; of equal ones the first."""

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale, but for a matrix that is a kernel already; and weights."""
        return Accepts(weights=True, prefers_scaled=self.kernel != PRECOMPUTED)

    def conflicts(self) -> list[str]:
        """One width, and a matrix exactly where it is the kernel."""
        result = one_width(self.gamma, self.sigma)
        if (self.kernel == PRECOMPUTED) != (self.matrix is not None):
            result.append("a precomputed kernel, and no other, needs `matrix`: how its columns begin, such as k_")
        return result

    @property
    def function(self) -> KernelFunction:
        """The kernel with what was learned of its width."""
        return KernelFunction(self.kernel, self.gamma_, self.degree, self.offset)

    def seen(self, table: Table) -> Array:
        """What the kernel reads of rows: their numbers, or the columns of the matrix in their order."""
        if self.matrix is None:
            return table.numbers
        names = [column.name for column in table.number_columns]
        places = {
            name.removeprefix(self.matrix): at for at, name in enumerate(names) if name.startswith(self.matrix)
        }
        order = [places.get(str(number)) for number in range(1, len(places) + 1)]
        if not order or None in order:
            missing = order.index(None) + 1 if order else 1
            text = f"there is no column of numbers '{self.matrix}{missing}'"
            raise FitError(
                text, hint=f"the columns are {self.matrix}1, {self.matrix}2, ..., one for each row of the file"
            )
        return table.numbers[:, np.array(order, np.intp)]

    def kernel_of(self, data: RowsOfTable, *, precise: bool = False) -> tuple[Array, Array]:
        """Settle the width; the points of training rows, and the kernel of every two of them."""
        seen = self.seen(data.table)
        if seen.shape[1] == 0:
            raise FitError(f"there is no column that {self.id} could compare rows by")
        if self.kernel != PRECOMPUTED:
            self.gamma_ = self._width(seen, data.weights)
            key = (self.id, self.function, precise)
            return seen, self.shared(key, lambda: self.function.matrix(seen, precise=precise))
        self.gamma_ = 1.0
        points = data.rows[:, None].astype(np.float64)
        if data.rows.max() >= seen.shape[1]:
            text = f"the matrix has {seen.shape[1]} columns, and there is a row {data.rows.max() + 1}"
            raise FitError(text, hint=f"one column for each row of the file, {self.matrix}1 for the first")
        return points, symmetric_matrix(self.function(seen, points))

    def search_range(self, parameter: str, data: Any) -> Range | None:
        """Widths around the one that the spread of the columns suggests."""
        seen = self.seen(data.table)
        if parameter != "gamma" or not seen.shape[1]:
            return None
        usual = scale(seen, data.weights)
        return log_range(usual / REACH, usual * REACH)

    def _width(self, seen: Array, weights: Array) -> float:
        if self.sigma is not None:
            return 1.0 / (2.0 * self.sigma**2)
        return scale(seen, weights) if self.gamma is None else self.gamma

    def responses(self, table: Table, coefficients: Array) -> Array:
        """Σ coefficients × kernel to the points kept (rows × outputs)."""
        return self.function.weighted(self.seen(table), self.points_, coefficients)

    def terms_of_points(
        self, table: Table, outputs: Sequence[str], coefficients: Array, levels: Array | float
    ) -> findings.Table:
        """What each point adds to the outputs about one row, those that add most first."""
        alike = self.function(self.seen(table), self.points_)[0]
        added = np.reshape(coefficients, (len(self.points_), -1)) * alike[:, None]
        names = [f"training row {row + 1}" for row in self.rows_.tolist()]
        return terms_of_points(names, alike, added, levels, outputs, "Contribution of each training row")

    def weights(self, outputs: Sequence[str], coefficients: Array, symbol: str = "α") -> findings.Explanation:
        """The coefficients of the rows that count most, and of the columns where the kernel is linear."""
        rows = (self._weights_of_rows(outputs, coefficients, symbol),) if 0 < len(outputs) <= MOST_OUTPUTS else ()
        if self.kernel != "linear" or not len(outputs):
            return rows
        slopes = zip(*(coefficients.T @ self.points_).tolist(), strict=True)
        columns = tuple((column.name, *of) for column, of in zip(self.columns_, slopes, strict=True))
        return *rows, findings.Table("Weights", ("column", *outputs), columns)

    def _weights_of_rows(self, outputs: Sequence[str], coefficients: Array, symbol: str) -> findings.Table:
        order = np.argsort(-np.abs(coefficients).max(axis=1), kind="stable")[:MOST_ROWS].tolist()
        lines = tuple((str(self.rows_[k] + 1), *coefficients[k].tolist()) for k in order)
        most = ", of which these count most" if len(coefficients) > MOST_ROWS else ""
        note = f"Σ {symbol} K(xᵢ, x) runs over {counted(len(coefficients), 'training row')}{most}."
        return findings.Table(f"Coefficients {symbol}", ("training row", *outputs), lines, note=note)

    def check_points(self, coefficients: Array) -> None:
        """Refuse learned points that do not fit columns, and coefficients that do not fit, or are no numbers."""
        width = 1 if self.kernel == PRECOMPUTED else len(self.columns_)
        if self.points_.ndim != 2 or self.points_.shape[1] != width or len(coefficients) != len(self.points_):
            raise ValueError(f"the points or coefficients of {self.id} do not fit its columns")
        if not np.isfinite(coefficients).all():
            raise ValueError(f"the coefficients of {self.id} are no numbers")
        if np.shape(self.rows_) != (len(self.points_),):
            raise ValueError(f"the points of {self.id} are other rows")
        if self.kernel == PRECOMPUTED and not (self.points_ >= 0).all():
            raise ValueError(f"the points of {self.id} are no rows")


def distinct_rows(data: R) -> R:
    """Rows that differ, in an order that follows from their content, each with the summed weight of its equals.

    So what is learned by moving from row to row until little changes depends neither on the order of the file, nor
    on whether a row has weight 2 or stands there twice, nor on the last digits of scaled columns.
    """
    data = data.counted()
    data = data.with_table(replace(data.table, numbers=on_grid(data.table.numbers)))
    data = data.take(order_of_content(data))
    targets = [target[:, None] for target in targets_of(data)]
    blocks: list[Any] = [data.table.numbers, data.table.codes, *targets]
    differs = np.any([(block[1:] != block[:-1]).any(axis=1) for block in blocks], axis=0)
    first = np.flatnonzero(np.concatenate([[True], differs]))
    if len(first) == len(data):
        return data
    return replace(data.take(first), weight=np.add.reduceat(data.weights, first))


def class_by_class(rows: LabelledRows) -> LabelledRows:
    """The rows of the class that is met first, then those of the next, whatever they are called."""
    present, first = np.unique(rows.y, return_index=True)
    return rows.take(np.argsort(first[np.searchsorted(present, rows.y)], kind="stable"))
