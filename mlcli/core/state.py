"""Fitted models as plain JSON and arrays, and back: what is declared as learned is what is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from mlcli.core.bases import Model, Step
from mlcli.core.params import build, learned_fields, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.core.schema import Column
from mlcli.core.tables import Table

NamedArrays = dict[str, np.ndarray[Any, Any]]
FAMILIES: dict[str, tuple[type, Catalogue]] = {"model": (Model, MODELS), "step": (Step, STEPS)}


def packed(value: Any, arrays: NamedArrays, path: str = "model") -> Any:
    """A learned value as JSON; the arrays in it go to ``arrays`` under their path."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, np.generic):
        return packed(value.item(), arrays, path)
    if isinstance(value, list | tuple):
        return {"list": [packed(item, arrays, f"{path}.{i}") for i, item in enumerate(value)]}
    if isinstance(value, dict):
        return {"dict": {key: packed(item, arrays, f"{path}.{key}") for key, item in value.items()}}
    if isinstance(value, Column):
        return {"column": asdict(value)}
    if isinstance(value, Table):
        return {"table": _packed_table(value, arrays, path)}
    if isinstance(value, Pipeline):
        parts = {"steps": value.steps, "model": value.model}
        return {"pipeline": packed(parts, arrays, path), "learned": _packed_learned(value, arrays, path)}
    for family, (base, _) in FAMILIES.items():
        if isinstance(value, base):
            named = {"id": value.id, "params": packed(settings(value), arrays, f"{path}.params")}  # type: ignore[attr-defined]
            return {family: named, "learned": _packed_learned(value, arrays, path)}
    raise TypeError(f"{path}: a {type(value).__name__} cannot be saved")


def unpacked(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """The value that ``packed`` was given; anything else is refused with a ValueError."""
    if not isinstance(value, dict):
        return value
    for word, read in READERS.items():
        if word in value:
            return read(value, arrays)
    raise ValueError(f"unknown structure with keys {sorted(value)}")


def _packed_learned(value: Any, arrays: NamedArrays, path: str) -> dict[str, Any]:
    return {name: packed(getattr(value, name), arrays, f"{path}.{name}") for name in learned_fields(type(value))}


def _packed_table(table: Table, arrays: NamedArrays, path: str) -> dict[str, Any]:
    return {
        "columns": packed(table.columns, arrays, path),
        "numbers": packed(table.numbers, arrays, f"{path}.numbers"),
        "codes": packed(table.codes, arrays, f"{path}.codes"),
    }


def _read_array(value: Any, arrays: Mapping[str, Any]) -> Any:
    if value["array"] not in arrays:
        raise ValueError(f"the array '{value['array']}' is missing")
    return arrays[value["array"]]


def _read_column(value: Any, arrays: Mapping[str, Any]) -> Column:
    described = value["column"]
    return Column(
        str(described["name"]),
        str(described["kind"]),
        tuple(map(str, described["levels"])),
        bool(described["missing"]),
    )


def _read_table(value: Any, arrays: Mapping[str, Any]) -> Table:
    parts = {name: unpacked(part, arrays) for name, part in value["table"].items()}
    table = Table(**parts)
    shapes = (len(table.codes), table.numbers.shape[1], table.codes.shape[1])
    if shapes != (len(table.numbers), len(table.number_columns), len(table.code_columns)):
        raise ValueError("a table whose blocks do not fit its columns")
    return table


def _read_learner(family: str, value: Any, arrays: Mapping[str, Any]) -> Any:
    base, catalogue = FAMILIES[family]
    cls = catalogue.load(value[family]["id"])
    if not issubclass(cls, base):
        raise ValueError(f"'{value[family]['id']}' is not a {family}")
    return _with_learned(build(cls, unpacked(value[family]["params"], arrays)), value, arrays)


def _read_pipeline(value: Any, arrays: Mapping[str, Any]) -> Pipeline:
    return _with_learned(Pipeline(**unpacked(value["pipeline"], arrays)), value, arrays)  # type: ignore[no-any-return]


def _with_learned(made: Any, value: Any, arrays: Mapping[str, Any]) -> Any:
    if set(value["learned"]) != set(learned_fields(type(made))):
        raise ValueError(f"{type(made).__name__} does not learn {sorted(value['learned'])}")
    for name, part in value["learned"].items():
        setattr(made, name, unpacked(part, arrays))
    made.check_learned()
    return made


READERS: dict[str, Any] = {
    "float": lambda value, arrays: float(value["float"]),
    "array": _read_array,
    "list": lambda value, arrays: tuple(unpacked(item, arrays) for item in value["list"]),
    "dict": lambda value, arrays: {key: unpacked(item, arrays) for key, item in value["dict"].items()},
    "column": _read_column,
    "table": _read_table,
    "pipeline": _read_pipeline,
    "model": lambda value, arrays: _read_learner("model", value, arrays),
    "step": lambda value, arrays: _read_learner("step", value, arrays),
}
