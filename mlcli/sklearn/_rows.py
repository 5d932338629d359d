"""Tables and rows made of the arrays and frames that scikit-learn gives, and errors as it expects them.

What the columns are is learned in ``fit`` and kept to afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d, validate_data

from mlcli.core.errors import MlcliError
from mlcli.core.processes import one_blas_thread
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Table
from mlcli.data.columns import sorted_levels
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from mlcli.tasks.table import kind_named

AnyArray = np.ndarray[Any, np.dtype[Any]]
"""An array of scikit-learn's: numbers, texts or objects."""
if TYPE_CHECKING:
    import pandas as pd

    MatrixLike = AnyArray | pd.DataFrame | Sequence[Sequence[object]]
    """What scikit-learn takes as X."""
    Cells = AnyArray | pd.Series[Any]
    """The cells of a column; those of pandas may have categories."""

TARGET = "y"
NUMBERS = "biuf"
"""The kinds of NumPy types that are numbers."""


@contextmanager
def method_at_work(learned: Table | None = None) -> Iterator[None]:
    """One BLAS thread; what a method refuses is a ValueError, with the size of what it was to learn from."""
    try:
        with one_blas_thread():
            yield
    except (MlcliError, ValueError) as error:
        size = "" if learned is None else f" (n_samples = {len(learned)}, n_features = {len(learned.columns)})"
        raise ValueError(f"{error}{size}") from error


def weights_of(sample_weight: ArrayLike | None, table: Table) -> Array | None:
    """The weight of each row, if any are given."""
    if sample_weight is None:
        return None
    weights: Array = _check_sample_weight(sample_weight, np.empty((len(table), 1)))
    return weights


def labelled_rows(table: Table, y: ArrayLike | None, weight: Array | None = None) -> tuple[LabelledRows, AnyArray]:
    """Rows with a class each, and the classes as scikit-learn knows them."""
    check_classification_targets(y)
    classes, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    rows = LabelledRows(
        table=table,
        rows=np.arange(len(table)),
        target=TARGET,
        y=np.asarray(codes, np.int32),
        classes=tuple(map(str, classes)),
        weight=weight,
    )
    return rows, classes


def valued_rows(table: Table, y: ArrayLike | None, weight: Array | None = None) -> ValuedRows:
    """Rows with a number each."""
    values = column_or_1d(y, warn=True).astype(np.float64)
    return ValuedRows(table=table, rows=np.arange(len(table)), target=TARGET, y=values, weight=weight)


def unlabelled_rows(table: Table, kind: str) -> RowsOfTable:
    """Rows without labels."""
    labels = np.full(len(table), -1, np.int32)
    rows: RowsOfTable = kind_named(kind).rows(table=table, rows=np.arange(len(table)), labels=labels)
    return rows


def rows_for_step(table: Table, y: AnyArray | None, kinds: tuple[str, ...]) -> RowsOfTable:
    """Rows that a step learns from, of a kind that it can learn from."""
    if not kinds:
        return unlabelled_rows(table, "clustering")
    if "regression" in kinds and type_of_target(y).startswith("continuous"):
        return valued_rows(table, y)
    return labelled_rows(table, y)[0]


def learned_table(estimator: BaseEstimator, X: MatrixLike, **target: object) -> tuple[Table, AnyArray | None]:
    """The table of training rows, and ``y`` as scikit-learn checks it, if ``y`` is given.

    ``target`` holds ``y`` and ``y_numeric`` of ``validate_data``. The estimator keeps what the columns are.
    """
    cells, y = _checked_columns(estimator, X, target, reset=True)
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{index}" for index in range(len(cells))] if names is None else names
    columns = tuple(_column(str(name), column_cells) for name, column_cells in zip(names, cells, strict=True))
    estimator.columns_ = columns
    return _table(columns, cells), y


def known_table(estimator: BaseEstimator, X: MatrixLike) -> Table:
    """The table of new rows for a fitted estimator."""
    cells, _ = _checked_columns(estimator, X, {}, reset=False)
    for column, column_cells in zip(estimator.columns_, cells, strict=True):
        if not column.missing and not column.coded and np.isnan(_numbers(column_cells)).any():
            raise ValueError(f"Input X contains NaN in column '{column.name}', which had none when it was fitted")
    return _table(estimator.columns_, cells)


def _checked_columns(
    estimator: BaseEstimator, X: MatrixLike, target: dict[str, object], *, reset: bool
) -> tuple[list[Cells], AnyArray | None]:
    """The cells of each column, and ``y``."""
    if _has_levels(X):
        y_alone = {name: value for name, value in target.items() if name == "y"}
        validate_data(estimator, X, **y_alone, reset=reset, skip_check_array=True)
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
        y = None
        if target:
            numeric = np.float64 if target.get("y_numeric") else None
            y = check_array(target["y"], ensure_2d=False, dtype=numeric, input_name="y")
        series = [X.iloc[:, index] for index in range(X.shape[1])]
        return [column if hasattr(column.dtype, "categories") else column.to_numpy() for column in series], y
    checked = validate_data(estimator, X, **target, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
    numbers, y = checked if target.get("y") is not None else (checked, None)
    return list(numbers.T), y


def _has_levels(X: MatrixLike) -> TypeGuard[pd.DataFrame]:
    """Whether it is a data frame with columns that are no numbers."""
    dtypes = getattr(X, "dtypes", None)
    return hasattr(X, "iloc") and dtypes is not None and any(dtype.kind not in NUMBERS for dtype in dtypes)


def _column(name: str, cells: Cells) -> Column:
    """What a column is, going by its cells."""
    dtype: Any = cells.dtype
    if hasattr(dtype, "categories"):
        import pandas as pd

        kind = "ordinal" if dtype.ordered else "nominal"
        return Column(name, kind, tuple(map(str, dtype.categories)), missing=bool(pd.isna(cells).any()))
    if cells.dtype.kind in NUMBERS:
        return Column(name, missing=bool(np.isnan(_numbers(cells)).any()))
    texts = list(_texts(cells))
    levels = sorted_levels(sorted({text for text in texts if text is not None}))
    return Column(name, "nominal", levels, missing=None in texts)


def _table(columns: Sequence[Column], cells: Sequence[Cells]) -> Table:
    rows = len(cells[0]) if cells else 0
    return Table.of(
        ((column, _cells_of(column, values)) for column, values in zip(columns, cells, strict=True)), rows
    )


def _cells_of(column: Column, cells: Cells) -> Array | Codes:
    """Numbers as they are; texts as the codes of levels, other texts as missing."""
    if not column.coded:
        return _numbers(cells)
    code_of: dict[str | None, int] = {level: code for code, level in enumerate(column.levels)}
    return np.array([code_of.get(text, MISSING_CODE) for text in _texts(cells)], np.int32)


def _numbers(cells: Cells) -> Array:
    return np.asarray(cells, np.float64)


def _texts(cells: Cells) -> Iterator[str | None]:
    """Cells as text; None where they are missing."""
    return (None if cell is None or cell != cell else str(cell) for cell in cells.tolist())
