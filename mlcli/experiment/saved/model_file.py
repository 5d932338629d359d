"""Saved models as files: safetensors with JSON beside the arrays, checksums over both, and no code inside."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from mlcli.core.configuration import parts_of
from mlcli.core.errors import (
    FitError,
    ImpossibleAnswerError,
    MlcliError,
    ModelFileError,
    UsageError,
    captured_warnings,
)
from mlcli.core.pipeline import predict_rows
from mlcli.core.processes import write
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.state import NamedArrays, packed, unpacked
from mlcli.core.tables import MISSING_CODE, Array, Codes, Table
from mlcli.experiment.saved.saved_model import SavedModel
from mlcli.tasks.table import ROLES, kind_named

FORMAT = "mlcli model"
FORMAT_VERSION = 1
"""Raised when the parts of a file, or what methods learn, change."""
LENGTH_BYTES = 8
TYPES = {"BOOL": "?"} | {
    f"{numpy_type[0].upper()}{8 * int(numpy_type[1])}": f"<{numpy_type}"
    for numpy_type in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
}
"""The names of safetensors for the types of NumPy."""
FOREIGN = {
    b"\x80": "it is a pickle, which could run any code",
    b"PK\x03\x04": "it is an archive, as PyTorch and NumPy write them",
    b"\x89HDF": "it is an HDF5 file",
}


def save_model(path: Path, saved: SavedModel) -> None:
    """Write a model; the file is complete or not there."""
    from safetensors.numpy import save

    refuse_code(parts_of(saved.pipeline))
    arrays: NamedArrays = {}
    structure = json.dumps(packed(parts_of_file(saved), arrays, "saved"), allow_nan=False, separators=(",", ":"))
    about = {"format": FORMAT, "version": str(FORMAT_VERSION), "structure": structure}
    # Arrays in Fortran order are written row by row; the structure remembers the order.
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    content = save(plain, about | {"sha256": _digest(structure, arrays)})
    # safetensors writes some keys of its head in any order; sorted, equal models are equal files.
    end = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")
    head = json.dumps(json.loads(content[LENGTH_BYTES:end]), sort_keys=True, separators=(",", ":")).encode()
    head += b" " * (-len(head) % LENGTH_BYTES)
    content = len(head).to_bytes(LENGTH_BYTES, "little") + head + content[end:]
    write(path, content, hint="check the folder and the space left, or write elsewhere with -o FILE")


def parts_of_file(saved: SavedModel) -> dict[str, object]:
    """Everything that is written of a model, by name."""
    return {field.name: getattr(saved, field.name) for field in fields(saved) if field.name != "digest"}


def load_model(path: Path) -> SavedModel:
    """Read a model; a damaged, foreign or forged file is refused. Only registered classes are made."""
    content = _content(path)
    about = _about(path, content)
    version = int(about["version"])
    if version != FORMAT_VERSION:
        what = f"was written by another version of mlcli (format {version}, this one reads {FORMAT_VERSION})"
        raise _refusal(path, what, f"train it again: mlcli train DATA -m MODEL -o {path}")
    arrays = _arrays(path, content)
    try:
        structure, digest = about["structure"], about["sha256"]
        if _digest(structure, arrays) != digest:
            raise ValueError("its checksum is wrong")
        saved = SavedModel(**unpacked(json.loads(structure), arrays))
        check_integrity(saved)
        return replace(saved, digest=digest)
    except MlcliError as error:
        raise _refusal(path, f"cannot be loaded: {error}") from error
    except Exception as error:  # a forged structure may lead to any error
        what = f"is damaged, or was not written by this version of mlcli: {error}"
        raise _refusal(path, what) from error


@contextmanager
def asking(path: Path) -> Iterator[None]:
    """Predict with a loaded model in the body; unexpected errors there are the fault of its file."""
    try:
        yield
    except ImpossibleAnswerError as error:
        what = f"{error}: numbers are too far from those of training, or it is damaged"
        raise _refusal(path, what, "correct such rows, or leave them out; else train the model again") from error
    except (MlcliError, OSError):
        raise
    except Exception as error:
        what = f"cannot answer: it ends in {type(error).__name__}: {error}"
        hint = "if mlcli wrote this file and nobody changed it, report this as a bug; else train the model again"
        raise _refusal(path, what, hint) from error


def refuse_code(parts: Iterable[tuple[str, type]]) -> None:
    """Refuse models and steps of which only code could be saved; worth asking before a long training."""
    for name, cls in parts:
        if getattr(cls, "saved_as_code", False):
            what = f"{name} cannot be saved: what it learns is code, and mlcli loads none"
            raise UsageError(what, hint="evaluate it with mlcli eval, or save a method of mlcli")


def _refusal(path: Path, what: str, hint: str = "") -> ModelFileError:
    hint = hint or "make one with: mlcli train DATA -m MODEL -o FILE"
    return ModelFileError(what, where=str(path), hint=hint)


def _content(path: Path) -> bytes:
    """The whole file, or only its start if it is not as long as its head says."""
    try:
        with path.open("rb") as file:
            start = file.read(LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            if length > 100_000_000:  # the longest head of a safetensors file
                return start + file.read(1)
            start += file.read(length)
            return start + file.read() if _declared_length(start) == os.fstat(file.fileno()).st_size else start
    except (OSError, ValueError) as error:  # the latter for a null byte in the path
        raise _refusal(path, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    except MemoryError:
        raise _refusal(path, "is larger than the memory that there is") from None


def _declared_length(start: bytes) -> int | None:
    """The length of a file with this start, by what its head says of its arrays; None if there is no head."""
    try:
        head: dict[str, Any] = json.loads(start[LENGTH_BYTES:])
        ends = [entry["data_offsets"][1] for name, entry in head.items() if name != "__metadata__"]
        return len(start) + max(ends, default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None


def _about(path: Path, content: bytes) -> dict[str, str]:
    """The text beside the arrays, if it says that the file is a model of mlcli."""
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    try:
        try:
            if length > len(content):
                raise ValueError("it does not begin as a safetensors file")
            about: dict[str, str] = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])["__metadata__"]
        except (ValueError, KeyError, TypeError):
            # A length may look like the start of a pickle, so this is checked last.
            foreign = next((what for start, what in FOREIGN.items() if content.startswith(start)), None)
            if foreign is None:
                raise
            raise ValueError(foreign) from None
        if about["format"] != FORMAT:
            raise ValueError(f"it says that it is '{about['format']}'")
        int(about["version"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _refusal(path, f"is not a model of mlcli: {error}") from None
    return about


def _arrays(path: Path, content: bytes) -> NamedArrays:
    """Every array; safetensors checks sizes, shapes and offsets against the length of the file first."""
    from safetensors import SafetensorError, deserialize

    arrays: NamedArrays = {}
    try:
        for name, tensor in deserialize(content):  # type: ignore[no-untyped-call]
            dtype = np.dtype(TYPES[tensor["dtype"]])
            array = np.frombuffer(tensor["data"], dtype).reshape(tensor["shape"])
            arrays[name] = array.astype(dtype.newbyteorder("="), copy=True)  # aligned and writable
    except (SafetensorError, KeyError, ValueError) as error:
        raise _refusal(path, f"is damaged: {error}") from None
    return arrays


def _digest(structure: str, arrays: NamedArrays) -> str:
    seen = hashlib.sha256(structure.encode())
    for name in sorted(arrays):
        array = arrays[name]
        seen.update(f"|{name}|{array.dtype.name}|{array.shape}|".encode())
        seen.update(array.tobytes())
    return seen.hexdigest()


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
    rows = _two_rows(saved)
    with captured_warnings(), suppress(FitError):  # a method may refuse these rows in words
        try:
            answers = predict_rows(saved.pipeline, rows)
        except ImpossibleAnswerError as error:
            raise ValueError(str(error)) from None
        if any(len(array) != len(rows) for array in answers.arrays().values()):
            raise ValueError("it does not answer row by row")
    saved.pipeline.explain()


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


def _two_rows(saved: SavedModel) -> RowsOfTable:
    """A row of the first levels and smallest values of training, and one that is empty where cells may be."""
    schema = [*saved.fields()]
    schema += [SchemaField(saved.target, "target")] if saved.target else []
    # without an order, so that the rows are in the order of the table
    schema += [SchemaField(column, role) for role, column in saved.beside.items() if role != "order"]
    parts: list[tuple[Column, Codes | Array]] = []
    for field in schema:
        column = field.column
        may_be_empty = column.missing and field.role == "feature"
        if column.coded:
            parts.append((column, np.array([0, MISSING_CODE if may_be_empty else 0], np.int32)))
        else:
            low, _ = saved.ranges.get(column.name, (0.0, 0.0))
            parts.append((column, np.array([low, np.nan if may_be_empty else low])))
    rows: RowsOfTable = kind_named(saved.kind).rows.from_table(Table.of(parts, 2), Schema(tuple(schema)))
    return rows
