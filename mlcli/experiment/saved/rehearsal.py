"""Whether what a model file holds is of one piece: the type of each part, and two made-up rows it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.learning import ask
from mlcli.core.pipeline import Pipeline
from mlcli.core.schema import ROLES, Column, Field, Schema
from mlcli.core.tables import MISSING_CODE, Table
from mlcli.experiment.run.captured_warnings import heard
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel


def refuse_unsound(saved: SavedModel) -> None:
    """Refuse (ValueError, or whatever it leads to) parts that do not belong together."""
    strange = [name for name, fits in PARTS.items() if not fits(getattr(saved, name))]
    if strange:
        raise ValueError(f"of these parts it holds something else: {', '.join(strange)}")
    if not isinstance(saved.pipeline.model, kind_named(saved.kind).base):
        raise ValueError(f"it holds no model for {saved.kind}")
    if saved.pipeline.columns_ != saved.features:
        raise ValueError("its parts do not fit together")
    _rehearse(saved)


def _rehearse(saved: SavedModel) -> None:
    """Ask it once and let it explain itself; a method that refuses these rows in words has not fallen apart."""
    rows = _two_rows(saved)
    with heard(), suppress(FitError):
        answers = ask(saved.pipeline, rows)
        if any(len(array) != len(rows) for array in answers.arrays().values()):
            raise ValueError("it does not answer row by row")
    saved.pipeline.explain()


def _two_rows(saved: SavedModel) -> Any:
    """A row of the first levels and smallest values of training, and one that is empty where cells may be."""
    described = [*saved.fields()]
    described += [Field(saved.target, "target")] if saved.target else []
    described += [Field(column, role) for role, column in saved.beside.items() if role != "order"]  # as they stand
    cells = [(field.column, _two_cells(field, saved.ranges)) for field in described]
    container = kind_named(saved.kind).container
    return container.from_table(Table.of(cells, 2), Schema(tuple(described)))


def _two_cells(field: Field, ranges: Mapping[str, tuple[float, float]]) -> np.ndarray[Any, Any]:
    column = field.column
    may_be_empty = column.missing and field.role == "feature"
    if column.coded:
        return np.array([0, MISSING_CODE if may_be_empty else 0], np.int32)
    low, _ = ranges.get(column.name, (0.0, 0.0))
    return np.array([low, np.nan if may_be_empty else low])


def _is_a(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types) and not isinstance(value, bool)


def _are_columns(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, Column) for one in value)


def _are_ranges(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(end, float) for end in pair)
        for pair in value.values()
    )


def _are_columns_by_role(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(column, Column) for column in value.values())


def _are_roles(value: Any) -> bool:
    return isinstance(value, dict) and all(role in ROLES for role in value.values())


def _are_names_by_role(value: Any) -> bool:
    return isinstance(value, dict) and all(role in ROLES and isinstance(name, str) for role, name in value.items())


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(texts, tuple) and all(isinstance(text, str) for text in texts) for texts in value.values()
    )


def _are_prints(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 1


PARTS: Mapping[str, Callable[[Any], bool]] = {
    "pipeline": _is_a(Pipeline),
    "kind": _is_a(str),
    "target": _is_a(Column, type(None)),
    "features": _are_columns,
    "ranges": _are_ranges,
    "beside": _are_columns_by_role,
    "roles": _are_roles,
    "missing": _are_texts,
    "long_form": _are_names_by_role,
    "seed": _is_a(int),
    "dataset": _is_a(str),
    "content": _is_a(str),
    "rows": _is_a(int),
    "version": _is_a(str),
    "prints": _are_prints,
}
"""What each part of a saved model must be."""
