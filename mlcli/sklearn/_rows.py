"""Tables and rows made of the arrays and frames that scikit-learn gives, and errors as it expects them.

What the columns are is learned in ``fit`` and kept to afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d, validate_data

from mlcli.core.errors import MlcliError
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Table
from mlcli.core.threads import one_blas_thread
from mlcli.data.columns import sorted_levels
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
from mlcli.tasks.table import kind_named

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


def as_numbers(cells: Any, *, coded: bool) -> Array:
    """Codes as numbers, missing ones as no number."""
    return np.where(cells < 0, np.nan, cells) if coded else np.asarray(cells)


def weights_of(sample_weight: Any, table: Table) -> Any:
    """The weight of each row, where some are given."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, np.empty((len(table), 1)))


def labelled_rows(table: Table, y: Any, weight: Any = None) -> tuple[LabelledRows, Any]:
    """Rows with a class each, and what the classes are to scikit-learn."""
    check_classification_targets(y)
    classes, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    names = tuple(map(str, classes))
    rows = np.arange(len(table))
    y = np.asarray(codes, np.int32)
    return LabelledRows(table=table, rows=rows, target=TARGET, y=y, classes=names, weight=weight), classes


def valued_rows(table: Table, y: Any, weight: Any = None) -> ValuedRows:
    """Rows with a number each."""
    values = column_or_1d(y, warn=True).astype(np.float64)
    return ValuedRows(table=table, rows=np.arange(len(table)), target=TARGET, y=values, weight=weight)


def unlabelled_rows(table: Table, kind: str) -> Any:
    """Rows without labels."""
    labels = np.full(len(table), -1, np.int32)
    return kind_named(kind).rows(table=table, rows=np.arange(len(table)), labels=labels)


def rows_for_step(table: Table, y: Any, kinds: tuple[str, ...]) -> Any:
    """Rows that a step learns from, of a kind that it can learn from."""
    if not kinds:
        return unlabelled_rows(table, "clustering")
    if "regression" in kinds and type_of_target(y).startswith("continuous"):
        return valued_rows(table, y)
    return labelled_rows(table, y)[0]


def learned_table(estimator: Any, X: Any, y: Any = "no_validation", **checks: Any) -> tuple[Table, Any]:
    """The table of training rows, and ``y`` where there is one."""
    cells, y = _checked_columns(estimator, X, y, True, checks)
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{index}" for index in range(len(cells))] if names is None else names
    columns = [_column(str(name), cell) for name, cell in zip(names, cells, strict=True)]
    estimator.columns_ = tuple(columns)
    return _table(columns, cells), y


def known_table(estimator: Any, X: Any) -> Table:
    """The table of rows that a fitted estimator is asked about."""
    cells, _ = _checked_columns(estimator, X, "no_validation", False, {})
    for column, cell in zip(estimator.columns_, cells, strict=True):
        if not column.missing and not column.coded and np.isnan(_numbers(cell)).any():
            raise ValueError(f"Input X contains NaN in column '{column.name}', which had none when it was fitted")
    return _table(estimator.columns_, cells)


def _checked_columns(estimator: Any, X: Any, y: Any, reset: bool, checks: dict[str, Any]) -> tuple[list[Any], Any]:
    """The cells of each column, and ``y``."""
    beside = {} if isinstance(y, str) else {"y": y}
    if _has_levels(X):
        validate_data(estimator, X, **beside, reset=reset, skip_check_array=True)
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
        if beside:
            y = _checked_target(y, checks)
        columns = [X.iloc[:, index] for index in range(X.shape[1])]
        return [column if _categories(column) is not None else column.to_numpy() for column in columns], y
    found = validate_data(
        estimator, X, **beside, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", **checks
    )
    numbers, y = found if beside and y is not None else (found, y)
    return list(numbers.T), y


def _checked_target(y: Any, checks: dict[str, Any]) -> Any:
    numeric = bool(checks.get("y_numeric"))
    return check_array(y, ensure_2d=False, dtype=np.float64 if numeric else None, input_name="y")


def _has_levels(X: Any) -> bool:
    """Whether it is a data frame with columns that are no numbers."""
    dtypes = getattr(X, "dtypes", None)
    return hasattr(X, "iloc") and dtypes is not None and any(dtype.kind not in NUMBERS for dtype in dtypes)


def _categories(cells: Any) -> Any:
    """The categories of a column of pandas that has some."""
    return getattr(cells.dtype, "categories", None)


def _column(name: str, cells: Any) -> Column:
    if (categories := _categories(cells)) is not None:
        kind = "ordinal" if cells.dtype.ordered else "nominal"
        return Column(name, kind, tuple(map(str, categories)), missing=bool(cells.isna().any()))
    if cells.dtype.kind in NUMBERS:
        return Column(name, missing=bool(np.isnan(_numbers(cells)).any()))
    texts = list(_texts(cells))
    levels = sorted_levels(sorted({text for text in texts if text is not None}))
    return Column(name, "nominal", levels, missing=None in texts)


def _table(columns: Sequence[Column], cells: Sequence[Any]) -> Table:
    rows = len(cells[0]) if cells else 0
    parts = ((column, _cells_of(column, cell)) for column, cell in zip(columns, cells, strict=True))
    return Table.of(parts, rows)


def _cells_of(column: Column, cells: Any) -> Any:
    """Numbers as they are; text as the codes of levels, what is none of them as missing."""
    if not column.coded:
        return _numbers(cells)
    code_of: dict[str | None, int] = {level: code for code, level in enumerate(column.levels)}
    return np.array([code_of.get(text, MISSING_CODE) for text in _texts(cells)], np.int32)


def _numbers(cells: Any) -> Any:
    return np.asarray(cells, np.float64)


def _texts(cells: Any) -> Iterator[str | None]:
    """Cells as text; none where they are missing."""
    return (None if cell is None or cell != cell else str(cell) for cell in cells.tolist())
