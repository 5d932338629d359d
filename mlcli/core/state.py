"""Fitted models as plain JSON and arrays, and back: the declared learned fields are saved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.model import Model, Step
from mlcli.core.params import build, learned_fields, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.serialise import Json
from mlcli.core.tables import MISSING_CODE, Table

Learner = Model | Step
NamedArrays = dict[str, NDArray[np.generic]]
SAVED_KINDS = "biuf"
"""What the elements of a saved array may be: truth values and numbers."""


def packed(value: object, arrays: NamedArrays, path: str = "model") -> Any:
    """A learned value as JSON; the arrays in it go to ``arrays`` under their path. Lists come back as tuples."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):  # before float, which a NumPy number may be, too
        if value.dtype.kind not in SAVED_KINDS:
            raise TypeError(f"{path}: an array of {value.dtype} cannot be saved")
        arrays[path] = np.asarray(value)
        if isinstance(value, np.generic):
            return {"number": path}
        # the memory order is kept, since sums in another order may differ in a bit
        fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        return {"array": path, "order": "F" if fortran else "C"}
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        return {"list": [packed(item, arrays, f"{path}.{index}") for index, item in enumerate(value)]}
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"{path}: a dict whose keys are not text cannot be saved")
        return {"dict": {key: packed(item, arrays, f"{path}.{key}") for key, item in value.items()}}
    return _packed_object(value, arrays, path)


def _packed_object(value: object, arrays: NamedArrays, path: str) -> Json:
    if isinstance(value, Column):
        return {"column": asdict(value)}
    if isinstance(value, Table):
        parts = ("columns", "numbers", "codes")
        return {"table": {part: packed(getattr(value, part), arrays, f"{path}.{part}") for part in parts}}
    if not isinstance(value, Model | Step):
        raise TypeError(f"{path}: a {type(value).__name__} cannot be saved")
    learned = {name: getattr(value, name) for name in learned_fields(type(value))}
    for name, structure in _structures(value).items():
        learned[name] = {field.name: getattr(learned[name], field.name) for field in fields(structure)}
    if isinstance(value, Pipeline):
        configured = {"pipeline": packed({"steps": value.steps, "model": value.model}, arrays, path)}
    elif not hasattr(value, "id"):
        raise TypeError(f"{path}: a {type(value).__name__} is not registered and cannot be saved")
    else:
        noun, params = "model" if isinstance(value, Model) else "step", f"{path}.params"
        configured = {noun: {"id": value.id, "params": packed(settings(value), arrays, params)}}
    return {
        **configured,
        "learned": {name: packed(part, arrays, f"{path}.{name}") for name, part in learned.items()},
    }


def _structures(learner: Learner) -> dict[str, type[Any]]:
    """The learned fields that are saved as the arrays of a structure."""
    return {field.name: structure for field in fields(learner) if (structure := field.metadata.get("structure"))}


def unpacked(value: object, arrays: Mapping[str, NDArray[np.generic]]) -> Any:
    """The value that ``packed`` was given; anything else is refused with a ValueError."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"unknown structure: {type(value).__name__}")
    keys = set(value)
    if keys == {"float"}:
        return float(value["float"])
    if keys == {"array", "order"}:
        if value["order"] not in ("C", "F"):
            raise ValueError(f"unknown order {value['order']!r}")
        return np.array(_array_named(value["array"], arrays), order=value["order"])
    if keys == {"number"}:
        number = _array_named(value["number"], arrays)
        if number.shape:
            raise ValueError(f"'{value['number']}' is an array where a number belongs")
        return number[()]
    if keys == {"list"}:
        return tuple(unpacked(item, arrays) for item in value["list"])
    if keys == {"dict"}:
        return {key: unpacked(item, arrays) for key, item in value["dict"].items()}
    return _unpacked_object(value, arrays)


def _array_named(name: str, arrays: Mapping[str, NDArray[np.generic]]) -> NDArray[np.generic]:
    if name not in arrays:
        raise ValueError(f"the array '{name}' is missing")
    return arrays[name]


def _unpacked_object(value: Json, arrays: Mapping[str, NDArray[np.generic]]) -> Column | Table | Learner:
    keys = set(value)
    if keys == {"column"}:
        return _read_column(value["column"])
    if keys == {"table"}:
        return _read_table({name: unpacked(part, arrays) for name, part in value["table"].items()})
    learner: Learner
    if keys == {"pipeline", "learned"}:
        learner = Pipeline(**unpacked(value["pipeline"], arrays))
    elif keys in ({"model", "learned"}, {"step", "learned"}):
        noun, base, catalogue = ("model", Model, MODELS) if "model" in keys else ("step", Step, STEPS)
        cls = catalogue.load(value[noun]["id"])
        if not issubclass(cls, base):
            raise ValueError(f"'{value[noun]['id']}' is not a {noun}")
        learner = build(cls, unpacked(value[noun]["params"], arrays))
    else:
        raise ValueError(f"unknown structure: {sorted(value)}")
    if set(value["learned"]) != set(learned_fields(type(learner))):
        raise ValueError(f"{type(learner).__name__} does not learn {sorted(value['learned'])}")
    learned = {name: unpacked(part, arrays) for name, part in value["learned"].items()}
    for name, structure in _structures(learner).items():
        parts = learned[name] if isinstance(learned[name], dict) else {}
        complete = set(parts) == {field.name for field in fields(structure)}
        if not complete or not all(isinstance(part, np.ndarray) for part in parts.values()):
            raise ValueError(f"{name} does not have the arrays of {structure.__name__}")
        learned[name] = structure(**parts)
    for name, part in learned.items():
        setattr(learner, name, part)
    check_loaded(learner)
    return learner


def _read_column(described: Json) -> Column:
    if described["kind"] not in COLUMN_KINDS:
        raise ValueError(f"unknown kind of column {described['kind']!r}")
    return Column(
        str(described["name"]),
        str(described["kind"]),
        tuple(map(str, described["levels"])),
        bool(described["missing"]),
        often_missing=bool(described.get("often_missing")),
        sensitive=bool(described.get("sensitive")),
        context=bool(described.get("context")),
        bands=tuple(map(float, described.get("bands", ()))),
    )


def _read_table(parts: Json) -> Table:
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


def check_loaded(learner: Learner) -> None:
    """Refuse (ValueError) learned fields of other shapes than declared, or that the method could not have made.

    In a declared shape, ``columns`` and ``classes`` are those of the model, ``numbers`` its columns of numbers. A
    name of a parameter stands for its value, or for how many it lists; any other word for the length where it
    stands first. Of a list, the length counts.
    """
    lengths = _known_lengths(learner)
    for field in fields(learner):
        words, value = field.metadata.get("learned", ()), getattr(learner, field.name)
        if not words or (value is None and str(field.type).endswith("| None")):
            continue
        shape = (len(value),) if isinstance(value, tuple) else getattr(value, "shape", ())
        for word, length in zip(words, shape, strict=False):
            lengths.setdefault(word, length)
        if shape != tuple(lengths.get(word) for word in words):
            sizes = " × ".join(map(str, shape)) or "of one number"
            raise ValueError(
                f"{field.name} has the shape {sizes}, which does not fit {' × '.join(map(str, words))}"
            )
    for field in fields(learner):
        if parameter := field.metadata.get("model"):
            value, configured = getattr(learner, field.name), getattr(learner, parameter)
            if not isinstance(value, Model) or type(value.final) is not type(configured.final):
                raise ValueError(f"{field.name} is no fitted {configured.final.id}")
    learner.check_learned()


def _known_lengths(learner: Learner) -> dict[str | int, int]:
    """The lengths that are known before the learned fields are looked at; a number is its own."""
    columns = learner.columns_
    lengths: dict[str | int, int] = {
        "columns": len(columns),
        "numbers": sum(not column.coded for column in columns),
    }
    if (classes := getattr(learner, "classes_", None)) is not None:
        lengths["classes"] = len(classes)
    for field in fields(learner):
        value = getattr(learner, field.name)
        if "param" in field.metadata and isinstance(value, int | tuple):
            lengths.setdefault(field.name, len(value) if isinstance(value, tuple) else value)
        lengths |= {word: word for word in field.metadata.get("learned", ()) if isinstance(word, int)}
    return lengths
