"""Rows that methods learn from, made of what scikit-learn gives them, and errors as it expects them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from mlcli.core.errors import MlcliError
from mlcli.core.tables import Array, Table
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
from mlcli.tasks.table import kind_named

TARGET = "y"


@contextmanager
def value_errors(learned: Table | None = None) -> Iterator[None]:
    """What a method refuses is a ValueError to scikit-learn, with the size of what it was to learn from."""
    try:
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


def labelled(table: Table, y: Any, weight: Any = None) -> tuple[LabelledRows, Any]:
    """Rows with a class each, and what the classes are to scikit-learn."""
    check_classification_targets(y)
    classes, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    names = tuple(map(str, classes))
    rows = np.arange(len(table))
    y = np.asarray(codes, np.int32)
    return LabelledRows(table=table, rows=rows, target=TARGET, y=y, classes=names, weight=weight), classes


def valued(table: Table, y: Any, weight: Any = None) -> ValuedRows:
    """Rows with a number each."""
    values = column_or_1d(y, warn=True).astype(np.float64)
    return ValuedRows(table=table, rows=np.arange(len(table)), target=TARGET, y=values, weight=weight)


def unlabelled(table: Table, kind: str) -> Any:
    """Rows without labels."""
    labels = np.full(len(table), -1, np.int32)
    return kind_named(kind).rows(table=table, rows=np.arange(len(table)), labels=labels)


def rows_for_step(table: Table, y: Any, kinds: tuple[str, ...]) -> Any:
    """Rows that a step learns from, of a kind that it can learn from."""
    if not kinds:
        return unlabelled(table, "clustering")
    if "regression" in kinds and type_of_target(y).startswith("continuous"):
        return valued(table, y)
    return labelled(table, y)[0]
