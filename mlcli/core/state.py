"""Fitted models as plain JSON and arrays, and back: what is declared as learned is what is kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from mlcli.core.model import Model
from mlcli.core.params import build, learned_fields, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.step import Step
from mlcli.core.tables import MISSING_CODE, Table

NamedArrays = dict[str, np.ndarray[Any, Any]]
SAVED_KINDS = "biuf"
"""What the elements of a saved array may be: truth values and numbers."""
FAMILIES: dict[str, tuple[type, Catalogue]] = {"model": (Model, MODELS), "step": (Step, STEPS)}


def packed(value: Any, arrays: NamedArrays, path: str = "model") -> Any:
    """A learned value as JSON; the arrays in it go to ``arrays`` under their path. Lists come back as tuples."""
    write = next((write for types, write in WRITERS if isinstance(value, types)), None)
    if write is None:
        raise TypeError(f"{path}: a {type(value).__name__} cannot be saved")
    return write(value, arrays, path)


def unpacked(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """The value that ``packed`` was given; anything else is refused with a ValueError."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for words, read in READERS.items():
        if isinstance(value, dict) and set(value) == set(words):
            return read(value, arrays)
    raise ValueError(f"unknown structure: {sorted(value) if isinstance(value, dict) else type(value).__name__}")


def _packed_array(value: Any, arrays: NamedArrays, path: str) -> dict[str, Any]:
    """An array or NumPy number; its memory order is kept, since sums in another one may differ in a bit."""
    if value.dtype.kind not in SAVED_KINDS:
        raise TypeError(f"{path}: an array of {value.dtype} cannot be saved")
    arrays[path] = np.asarray(value)
    if isinstance(value, np.generic):
        return {"number": path}
    return {"array": path, "order": "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"}


def _packed_list(value: Sequence[Any], arrays: NamedArrays, path: str) -> dict[str, Any]:
    return {"list": [packed(item, arrays, f"{path}.{i}") for i, item in enumerate(value)]}


def _packed_dict(value: Mapping[Any, Any], arrays: NamedArrays, path: str) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in value):
        raise TypeError(f"{path}: a dict whose keys are not text cannot be saved")
    return {"dict": {key: packed(item, arrays, f"{path}.{key}") for key, item in value.items()}}


def _packed_pipeline(value: Pipeline, arrays: NamedArrays, path: str) -> dict[str, Any]:
    parts = {"steps": value.steps, "model": value.model}
    return {"pipeline": packed(parts, arrays, path), "learned": _packed_learned(value, arrays, path)}


def _packed_learner(value: Model | Step, arrays: NamedArrays, path: str) -> dict[str, Any]:
    family = next(name for name, (base, _) in FAMILIES.items() if isinstance(value, base))
    if not hasattr(value, "id"):
        raise TypeError(f"{path}: a {type(value).__name__} is not registered and cannot be saved")
    named = {"id": value.id, "params": packed(settings(value), arrays, f"{path}.params")}
    return {family: named, "learned": _packed_learned(value, arrays, path)}


def _packed_learned(value: Any, arrays: NamedArrays, path: str) -> dict[str, Any]:
    results = {name: getattr(value, name) for name in learned_fields(type(value))}
    for name, structure in _structures(value).items():
        results[name] = {field.name: getattr(results[name], field.name) for field in fields(structure)}
    return {name: packed(one, arrays, f"{path}.{name}") for name, one in results.items()}


def _structures(made: Any) -> dict[str, type[Any]]:
    """The learned fields that are saved as the arrays of a structure."""
    return {field.name: structure for field in fields(made) if (structure := field.metadata.get("structure"))}


def _packed_table(table: Table, arrays: NamedArrays, path: str) -> dict[str, Any]:
    parts = ("columns", "numbers", "codes")
    return {"table": {part: packed(getattr(table, part), arrays, f"{path}.{part}") for part in parts}}


def _read_array(value: Any, arrays: Mapping[str, Any]) -> Any:
    if value["order"] not in ("C", "F"):
        raise ValueError(f"unknown order {value['order']!r}")
    return np.array(_found(value["array"], arrays), order=value["order"])


def _read_number(value: Any, arrays: Mapping[str, Any]) -> Any:
    number = _found(value["number"], arrays)
    if number.shape:
        raise ValueError(f"'{value['number']}' is an array where a number belongs")
    return number[()]


def _found(name: str, arrays: Mapping[str, Any]) -> Any:
    if name not in arrays:
        raise ValueError(f"the array '{name}' is missing")
    return arrays[name]


def _read_column(value: Any, arrays: Mapping[str, Any]) -> Column:
    described = value["column"]
    if described["kind"] not in COLUMN_KINDS:
        raise ValueError(f"unknown kind of column {described['kind']!r}")
    levels, bands = tuple(map(str, described["levels"])), tuple(map(float, described.get("bands", ())))
    marks: dict[str, Any] = {name: bool(described.get(name)) for name in ("often_missing", "sensitive", "context")}
    name, kind, missing = str(described["name"]), str(described["kind"]), bool(described["missing"])
    return Column(name, kind, levels, missing, bands=bands, **marks)


def _read_table(value: Any, arrays: Mapping[str, Any]) -> Table:
    parts = {name: unpacked(part, arrays) for name, part in value["table"].items()}
    table = Table(**parts)
    shapes = (len(table.codes), table.numbers.shape[1], table.codes.shape[1])
    if shapes != (len(table.numbers), len(table.number_columns), len(table.code_columns)):
        raise ValueError("a table whose blocks do not fit its columns")
    if table.numbers.dtype != np.float64 or table.codes.dtype != np.int32:
        raise ValueError("a table whose blocks have the wrong type of number")
    levels = np.array([len(column.levels) for column in table.code_columns])
    if ((table.codes < MISSING_CODE) | (table.codes >= levels)).any():
        raise ValueError("a table with a code that no level has")
    return table


def _read_learner(family: str, value: Any, arrays: Mapping[str, Any]) -> Any:
    base, catalogue = FAMILIES[family]
    cls = catalogue.load(value[family]["id"])
    if not issubclass(cls, base):
        raise ValueError(f"'{value[family]['id']}' is not a {family}")
    return _with_learned(build(cls, unpacked(value[family]["params"], arrays)), value, arrays)


def _with_learned(made: Any, value: Any, arrays: Mapping[str, Any]) -> Any:
    if set(value["learned"]) != set(learned_fields(type(made))):
        raise ValueError(f"{type(made).__name__} does not learn {sorted(value['learned'])}")
    results = {name: unpacked(part, arrays) for name, part in value["learned"].items()}
    for name, structure in _structures(made).items():
        results[name] = _structured(name, results[name], structure)
    for name, one in results.items():
        setattr(made, name, one)
    check_loaded(made)
    return made


def _structured(name: str, value: Any, structure: type[Any]) -> Any:
    """A structure of the arrays that were saved of it."""
    named = value if isinstance(value, dict) else {}
    whole = all(isinstance(one, np.ndarray) for one in named.values())
    if not whole or set(named) != {field.name for field in fields(structure)}:
        raise ValueError(f"{name} does not have the arrays of {structure.__name__}")
    return structure(**named)


def check_loaded(made: Any) -> None:
    """Refuse (ValueError) learned fields of other shapes than declared, or that the method could not have made."""
    _refuse_misfits(made)
    _refuse_other_methods(made)
    made.check_learned()


def _refuse_misfits(made: Any) -> None:
    """Refuse (ValueError) learned values as long as neither the columns, the classes, a setting nor each other.

    ``columns`` and ``classes`` are the model's, ``numbers`` its columns of numbers. A parameter's name stands for
    its value, or for how many it lists; any other word for the length where it stands first. Of a list, the length
    counts.
    """
    lengths = _known_lengths(made)
    for field in fields(made):
        words, value = field.metadata.get("learned", ()), getattr(made, field.name)
        if not words or (value is None and str(field.type).endswith("| None")):
            continue
        shape = (len(value),) if isinstance(value, tuple) else getattr(value, "shape", ())
        for word, length in zip(words, shape, strict=False):
            lengths.setdefault(word, length)
        if shape != tuple(lengths.get(word) for word in words):
            raise ValueError(f"{field.name} has the shape {_times(shape)}, which does not fit {_times(words)}")


def _refuse_other_methods(made: Any) -> None:
    """Refuse (ValueError) a learned model that is none of the method that its parameter names."""
    for field in fields(made):
        if parameter := field.metadata.get("model"):
            value, asked = getattr(made, field.name), getattr(made, parameter)
            if not isinstance(value, Model) or type(value.final) is not type(asked.final):
                raise ValueError(f"{field.name} is no fitted {asked.final.id}")


def _known_lengths(made: Any) -> dict[str | int, int]:
    """The lengths that are known before anything learned is looked at; a number is its own."""
    columns = made.columns_
    known: dict[str | int, int] = {"columns": len(columns), "numbers": sum(not column.coded for column in columns)}
    if getattr(made, "classes_", None) is not None:
        known["classes"] = len(made.classes_)
    for field in fields(made):
        value = getattr(made, field.name)
        if "param" in field.metadata and isinstance(value, int | tuple):
            known.setdefault(field.name, len(value) if isinstance(value, tuple) else value)
        known |= {word: word for word in field.metadata.get("learned", ()) if isinstance(word, int)}
    return known


def _times(lengths: Iterable[Any]) -> str:
    return " × ".join(map(str, lengths)) or "of one number"


READERS: dict[tuple[str, ...], Any] = {
    ("float",): lambda value, arrays: float(value["float"]),
    ("array", "order"): _read_array,
    ("number",): _read_number,
    ("list",): lambda value, arrays: tuple(unpacked(item, arrays) for item in value["list"]),
    ("dict",): lambda value, arrays: {key: unpacked(item, arrays) for key, item in value["dict"].items()},
    ("column",): _read_column,
    ("table",): _read_table,
    ("pipeline", "learned"): lambda value, arrays: _with_learned(
        Pipeline(**unpacked(value["pipeline"], arrays)), value, arrays
    ),
    ("model", "learned"): lambda value, arrays: _read_learner("model", value, arrays),
    ("step", "learned"): lambda value, arrays: _read_learner("step", value, arrays),
}
"""How each structure that ``packed`` makes is read, by the words in it."""

WRITERS: tuple[tuple[tuple[type, ...], Any], ...] = (
    ((str,), lambda value, arrays, path: str(value)),
    ((np.ndarray, np.generic), _packed_array),
    ((bool, int, type(None)), lambda value, arrays, path: value),
    ((float,), lambda value, arrays, path: value if math.isfinite(value) else {"float": repr(value)}),
    ((list, tuple), _packed_list),
    ((dict,), _packed_dict),
    ((Column,), lambda value, arrays, path: {"column": asdict(value)}),
    ((Table,), _packed_table),
    ((Pipeline,), _packed_pipeline),
    ((Model, Step), _packed_learner),
)
"""How each value is written; the first type that fits decides, so NumPy numbers come before Python's."""
