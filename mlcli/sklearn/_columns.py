"""Arrays and data frames as tables: what the columns are is learned in ``fit`` and kept to afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Table
from mlcli.data.columns import sorted_levels

NUMBERS = "biuf"
"""The kinds of NumPy types that are numbers."""


def learned_table(estimator: Any, X: Any, y: Any = "no_validation", **checks: Any) -> tuple[Table, Any]:
    """The table of training rows, and ``y`` where there is one."""
    cells, y = _checked(estimator, X, y, True, checks)
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{place}" for place in range(len(cells))] if names is None else names
    columns = [_column(str(name), cell) for name, cell in zip(names, cells, strict=True)]
    estimator.columns_ = tuple(columns)
    return _table(columns, cells), y


def known_table(estimator: Any, X: Any) -> Table:
    """The table of rows that a fitted estimator is asked about."""
    cells, _ = _checked(estimator, X, "no_validation", False, {})
    for column, cell in zip(estimator.columns_, cells, strict=True):
        if not column.missing and not column.coded and np.isnan(_numbers(cell)).any():
            raise ValueError(f"Input X contains NaN in column '{column.name}', which had none when it was fitted")
    return _table(estimator.columns_, cells)


def _checked(estimator: Any, X: Any, y: Any, reset: bool, checks: dict[str, Any]) -> tuple[list[Any], Any]:
    """The cells of each column, and ``y``."""
    beside = {} if isinstance(y, str) else {"y": y}
    if _has_levels(X):
        validate_data(estimator, X, **beside, reset=reset, skip_check_array=True)
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
        if beside:
            y = _checked_target(y, checks)
        return [X.iloc[:, place].to_numpy() for place in range(X.shape[1])], y
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


def _column(name: str, cells: Any) -> Column:
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
