"""Whether the parts of a model file belong together: their types, and two made-up rows that the model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from mlcli.core.errors import FitError, ImpossibleAnswerError
from mlcli.core.pipeline import predict_rows
from mlcli.core.schema import Schema, SchemaField
from mlcli.core.tables import MISSING_CODE, Table
from mlcli.experiment.run.learner import captured_warnings
from mlcli.tasks.table import ROLES, kind_named

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel


def check_integrity(saved: SavedModel) -> None:
    """Refuse (ValueError, or whatever it leads to) parts that do not belong together."""
    hints = get_type_hints(type(saved)).items()
    wrong = [name for name, hint in hints if not _is_of_type(getattr(saved, name), hint)]
    if wrong:
        raise ValueError(f"of these parts it holds something else: {', '.join(wrong)}")
    if not {*saved.beside, *saved.roles.values(), *saved.long_form}.issubset(ROLES):
        raise ValueError("it holds a role that no column can have")
    if not isinstance(saved.pipeline.final, kind_named(saved.kind).base):
        raise ValueError(f"it holds no model for {saved.kind}")
    classes = saved.target.levels if saved.target is not None else ()
    if getattr(saved.pipeline.final, "classes_", None) not in (None, classes):
        raise ValueError("its classes are not the levels of the column that it predicts")
    if saved.pipeline.columns_ != saved.features or saved.usual.columns != saved.features:
        raise ValueError("its parts do not fit together")
    _ask_about_two_rows(saved)


def _is_of_type(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, and what it holds as well."""
    container, inner = get_origin(hint) or hint, get_args(hint)
    if container is UnionType:
        return any(_is_of_type(value, option) for option in inner)
    if container is Mapping:
        return isinstance(value, dict) and all(all(map(_is_of_type, pair, inner)) for pair in value.items())
    if container is tuple:
        inner = inner[:1] * len(value) if inner[-1] is Ellipsis and isinstance(value, tuple) else inner
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_is_of_type, value, inner))
    if container is np.ndarray:
        return isinstance(value, np.ndarray) and (value.ndim, value.dtype) == (1, get_args(inner[1])[0])
    return isinstance(value, container) and not (isinstance(value, bool) and container is not bool)


def _ask_about_two_rows(saved: SavedModel) -> None:
    """Let it answer and explain itself; a method that refuses these rows in words has not fallen apart."""
    rows = _two_rows(saved)
    with captured_warnings(), suppress(FitError):
        try:
            answers = predict_rows(saved.pipeline, rows)
        except ImpossibleAnswerError as problem:
            raise ValueError(str(problem)) from None
        if any(len(array) != len(rows) for array in answers.arrays().values()):
            raise ValueError("it does not answer row by row")
    saved.pipeline.explain()


def _two_rows(saved: SavedModel) -> Any:
    """A row of the first levels and smallest values of training, and one that is empty where cells may be."""
    described = [*saved.fields()]
    described += [SchemaField(saved.target, "target")] if saved.target else []
    beside = ((role, column) for role, column in saved.beside.items() if role != "order")  # rows are as they stand
    described += [SchemaField(column, role) for role, column in beside]
    cells = [(field.column, _two_cells(field, saved.ranges)) for field in described]
    container = kind_named(saved.kind).rows
    return container.from_table(Table.of(cells, 2), Schema(tuple(described)))


def _two_cells(field: SchemaField, ranges: Mapping[str, tuple[float, float]]) -> np.ndarray[Any, Any]:
    column = field.column
    may_be_empty = column.missing and field.role == "feature"
    if column.coded:
        return np.array([0, MISSING_CODE if may_be_empty else 0], np.int32)
    low, _ = ranges.get(column.name, (0.0, 0.0))
    return np.array([low, np.nan if may_be_empty else low])
