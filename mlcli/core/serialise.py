"""One serialiser: a dataclass as plain JSON values, and the JSON Schema of these values, from the same fields.

A field is written under its own name unless ``shown`` says otherwise. A class may add computed values:
``JSON_PROPERTIES`` names properties that are written, too. Classes with ``JSON_KIND`` are distinguished by a key
``kind``, the name of the class in small letters.

Plain values also have a digest, and seed random numbers: the same content gives the same numbers in any order, on
any worker.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCALARS: dict[object, Json] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    NoneType: {"type": "null"},
}
"""A float is null where it is not finite."""


def shown(name: str = "", *, optional: bool = False, merged: bool = False) -> Json:
    """Metadata of a field that is written under another name, or whose fields are merged into those of its parent.

    An optional field is left out where it is empty; one with the default None only where it is None.
    """
    return {"name": name, "optional": optional, "merged": merged}


HIDDEN: Mapping[str, bool] = MappingProxyType({"hidden": True})
"""Metadata of a field that is not written."""


def plain(value: object) -> Any:
    """The value as JSON knows it: dataclasses as objects, tuples and arrays as lists, infinity and NaN as null."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array or a number of NumPy, which need not be imported here
        return plain(value.tolist())
    return str(value)


def _plain_fields(value: object) -> Json:
    cls = type(value)
    written: Json = {"kind": cls.__name__.lower()} if _has_kind(cls) else {}
    for written_field in _written_fields(cls):
        item = getattr(value, written_field.attribute)
        empty = item is False or (hasattr(item, "__len__") and len(item) == 0)
        if written_field.optional and (item is None or (empty and not written_field.may_be_empty)):
            continue
        if written_field.merged:
            written |= plain(item)
        else:
            written[written_field.name] = plain(item)
    return written


class _Written(NamedTuple):
    """A field or property as it is written."""

    attribute: str
    name: str
    optional: bool = False
    merged: bool = False
    may_be_empty: bool = False


def _written_fields(cls: type) -> Iterator[_Written]:
    for field in fields(cls):
        meta = field.metadata
        if not meta.get("hidden"):
            name = meta.get("name") or field.name
            yield _Written(
                field.name, name, meta.get("optional", False), meta.get("merged", False), field.default is None
            )
    for name in getattr(cls, "JSON_PROPERTIES", ()):
        yield _Written(name, name)


def _has_kind(cls: type) -> bool:
    return getattr(cls, "JSON_KIND", False)


def schema_of(documents: Mapping[str, object], title: str) -> Json:
    """The JSON Schema (draft 2020-12) of documents by name, each the type of what is written: any one of them."""
    definitions: Json = {}
    branches = [{**_schema(kind, definitions), "title": name} for name, kind in documents.items()]
    return {"$schema": DIALECT, "title": title, "anyOf": branches, "$defs": dict(sorted(definitions.items()))}


def _schema(kind: object, definitions: Json) -> Json:
    if kind in SCALARS:
        return dict(SCALARS[kind])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        branches: list[Json] = []
        for argument in arguments:
            branch = _schema(argument, definitions)
            if branch not in branches:
                branches.append(branch)
        return branches[0] if len(branches) == 1 else {"anyOf": branches}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if origin is tuple and (not arguments or arguments[-1] is not Ellipsis):
        items = [_schema(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if isinstance(origin, type) and issubclass(origin, Sequence | frozenset | set):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if isinstance(kind, type) and is_dataclass(kind):
        return _schema_of_dataclass(kind, definitions)
    if kind is Path:
        return {"type": "string"}
    return {"type": "array"} if getattr(origin, "__name__", "") == "ndarray" else {}


def _schema_of_dataclass(cls: type, definitions: Json) -> Json:
    subclasses: list[type] = cls.__subclasses__() if _has_kind(cls) else []
    if subclasses:
        return {"anyOf": [_schema_of_dataclass(subclass, definitions) for subclass in subclasses]}
    name = cls.__name__
    if name not in definitions:
        definitions[name] = {}  # a class may hold others of its own
        definitions[name] = _object(cls, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _merged_object(kind: object, definitions: Json) -> Json:
    """The keys of a dataclass, or of the dataclasses of a union."""
    classes = [part for part in (kind, *get_args(kind)) if isinstance(part, type) and is_dataclass(part)]
    objects = [_object(cls, definitions) for cls in classes]
    return {
        "properties": {key: value for one in objects for key, value in one["properties"].items()},
        "required": [key for key in objects[0]["required"] if all(key in one["required"] for one in objects)],
    }


def _object(cls: type, definitions: Json) -> Json:
    properties: Json = {"kind": {"const": cls.__name__.lower()}} if _has_kind(cls) else {}
    required = list(properties)
    hints = get_type_hints(cls)
    for written_field in _written_fields(cls):
        kind = hints.get(written_field.attribute)
        if kind is None:
            kind = get_type_hints(getattr(cls, written_field.attribute).fget)["return"]
        if written_field.merged:
            inner = _merged_object(kind, definitions)
            properties |= inner["properties"]
            required += () if written_field.optional else inner["required"]
            continue
        properties[written_field.name] = _schema(kind, definitions)
        if not written_field.optional:
            required.append(written_field.name)
    doc = (cls.__doc__ or "").partition("\n")[0]
    described = {"description": doc} if doc else {}
    return {
        "type": "object",
        **described,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


MAX_SEED = 2**63 - 1
"""What a store can hold."""


def digest(*parts: object) -> str:
    """A stable hash of plain JSON values; in a path there may be bytes that are no text."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rng_for(*parts: object) -> np.random.Generator:
    """A generator whose stream depends only on the content of ``parts``."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(int(digest(*parts)[:32], 16)))
