"""What methods with a kernel function share: its parameters, and the rows as the kernel sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import SearchRanges, SharesWork
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.names import counted
from mlcli.core.params import learned, param
from mlcli.core.ranges import ByRows, Range, log_range
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import order_of_content, targets_of
from mlcli.engines.kernel_functions import KERNELS, KernelFunction, on_grid, one_width, scale, symmetric_matrix
from mlcli.engines.linear_scores import terms_of_points
from mlcli.tasks.supervised import LabelledRows

PRECOMPUTED = "precomputed"
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
    """The rows that the kernel compares with; for a precomputed one their indices in the file."""
    rows_: Rows = learned()
    """Their indices in the file; of equal rows the first."""

    @property
    def accepts(self) -> Accepts:
        """Weights, and numbers on one scale unless they are a kernel already."""
        return Accepts(weights=True, prefers_scaled=self.kernel != PRECOMPUTED)

    def conflicts(self) -> list[str]:
        """Two widths, or a matrix that does not fit the kernel."""
        result = one_width(self.gamma, self.sigma)
        if (self.kernel == PRECOMPUTED) != (self.matrix is not None):
            result.append("a precomputed kernel, and no other, needs `matrix`: how its columns begin, such as k_")
        return result

    @property
    def function(self) -> KernelFunction:
        """The kernel with its learned width."""
        return KernelFunction(self.kernel, self.gamma_, self.degree, self.offset)

    def seen(self, table: Table) -> Array:
        """The numbers that the kernel reads: those of the rows, or the columns of the matrix in order."""
        if self.matrix is None:
            return table.numbers
        indices = {column.name: index for index, column in enumerate(table.number_columns)}
        count, order = sum(name.startswith(self.matrix) for name in indices), []
        for number in range(1, max(count, 1) + 1):
            name = f"{self.matrix}{number}"
            if name not in indices:
                hint = f"the columns are {self.matrix}1, {self.matrix}2, ..., one for each row of the file"
                raise FitError(f"there is no column of numbers '{name}'", hint=hint)
            order.append(indices[name])
        return table.numbers[:, np.array(order, np.intp)]

    def kernel_of(self, data: RowsOfTable, *, precise: bool = False) -> tuple[Array, Array]:
        """Set the width; return the points of the training rows, and the kernel of all pairs."""
        seen = self.seen(data.table)
        if seen.shape[1] == 0:
            raise FitError(f"there is no column that {self.id} could compare rows by")
        if self.kernel != PRECOMPUTED:
            if self.sigma is not None:
                self.gamma_ = 1.0 / (2.0 * self.sigma**2)
            else:
                self.gamma_ = scale(seen, data.weights) if self.gamma is None else self.gamma
            key = (self.id, self.function, precise)
            return seen, self.shared(key, lambda: self.function.matrix(seen, precise=precise))
        self.gamma_ = 1.0
        points = data.rows[:, None].astype(np.float64)
        if data.rows.max() >= seen.shape[1]:
            text = f"the matrix has {seen.shape[1]} columns, and there is a row {data.rows.max() + 1}"
            raise FitError(text, hint=f"one column for each row of the file, {self.matrix}1 for the first")
        return points, symmetric_matrix(self.function(seen, points))

    def search_range(self, parameter: str, data: RowsOfTable) -> Range | None:
        """Widths up to 30 times smaller or larger than the one that the spread of the columns suggests."""
        seen = self.seen(data.table)
        if parameter != "gamma" or not seen.shape[1]:
            return None
        usual = scale(seen, data.weights)
        return log_range(usual / 30.0, usual * 30.0)

    def responses(self, table: Table, coefficients: Array) -> Array:
        """Σ coefficients × kernel with the points (rows × outputs)."""
        return self.function.weighted(self.seen(table), self.points_, coefficients)

    def terms_of_points(
        self, table: Table, outputs: Sequence[str], coefficients: Array, levels: Array | float
    ) -> findings.Table:
        """The contribution of each point to the outputs of one row, the largest first."""
        kernel = self.function(self.seen(table), self.points_)[0]
        added = np.reshape(coefficients, (len(self.points_), -1)) * kernel[:, None]
        names = [f"training row {row + 1}" for row in self.rows_.tolist()]
        return terms_of_points(names, kernel, added, levels, outputs, "Contribution of each training row")

    def weights(self, outputs: Sequence[str], coefficients: Array, symbol: str = "α") -> findings.Explanation:
        """The ten largest coefficients of rows unless outputs are many; of columns if the kernel is linear."""
        sections, most_rows, most_outputs = list[findings.Finding](), 10, 6
        if 0 < len(outputs) <= most_outputs:
            order = np.argsort(-np.abs(coefficients).max(axis=1), kind="stable")[:most_rows].tolist()
            lines = tuple((str(self.rows_[k] + 1), *coefficients[k].tolist()) for k in order)
            most = ", of which these count most" if len(coefficients) > most_rows else ""
            note = f"Σ {symbol} K(xᵢ, x) runs over {counted(len(coefficients), 'training row')}{most}."
            title, header = f"Coefficients {symbol}", ("training row", *outputs)
            sections.append(findings.Table(title, header, lines, note=note))
        if self.kernel == "linear" and len(outputs):
            slopes = zip(*(coefficients.T @ self.points_).tolist(), strict=True)
            columns = tuple((column.name, *line) for column, line in zip(self.columns_, slopes, strict=True))
            sections.append(findings.Table("Weights", ("column", *outputs), columns))
        return tuple(sections)

    def check_points(self, coefficients: Array) -> None:
        """Refuse saved points or coefficients that do not fit, or are not finite."""
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
    """The distinct rows in an order that depends on their content, each with the summed weight of its equals.

    A search that goes from row to row then depends neither on the order of the file, nor on whether a row has
    weight 2 or appears twice, nor on the last digits of scaled columns.
    """
    data = data.counted()
    data = data.with_table(replace(data.table, numbers=on_grid(data.table.numbers)))
    data = data.take(order_of_content(data))
    targets = [target[:, None] for target in targets_of(data)]
    blocks: list[NDArray[np.generic]] = [data.table.numbers, data.table.codes, *targets]
    differs = np.any([(block[1:] != block[:-1]).any(axis=1) for block in blocks], axis=0)
    first = np.flatnonzero(np.concatenate([[True], differs]))
    if len(first) == len(data):
        return data
    return replace(data.take(first), weight=np.add.reduceat(data.weights, first))


def class_by_class(rows: LabelledRows) -> LabelledRows:
    """The rows of the class that comes first, then those of the next, whatever their names."""
    present, first = np.unique(rows.y, return_index=True)
    return rows.take(np.argsort(first[np.searchsorted(present, rows.y)], kind="stable"))
