"""Writes what was understood of a CSV file as its sidecar, to be read, corrected and read back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.files import write
from mlcli.core.schema import SchemaField
from mlcli.core.strict_yaml import CONSTANTS, NOT_FINITE
from mlcli.data.columns import sorted_levels
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import Declaration, sidecar_places, stem_of
from mlcli.data.split_text import DELIMITER_WORDS

PLAIN = re.compile(r"[A-Za-z_][\w./+-]*( [\w./+-]+)*", re.ASCII)
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
LEVELS_WRITTEN = 20
"""More levels than these are left out where the rules would find them again in the same order."""


def write_sidecar(dataset: Dataset, path: Path | None = None, *, overwrite: bool = False) -> Path:
    """Write the sidecar of a dataset, beside its CSV file if no path is given; it loads as the same dataset."""
    if dataset.in_file is not None:
        dataset = replace(dataset.in_file, path=dataset.path, name=dataset.name)
    if path is None:
        if dataset.path is None:
            raise UsageError(f"'{dataset.name}' has no file to lie beside", hint="say where the sidecar goes")
        path = sidecar_places(dataset.path)[0]
    if path.exists() and not overwrite:
        raise UsageError(f"{path} is there already", hint="correct it by hand, or replace it with --force")
    write(path, "\n".join(lines_of(dataset)) + "\n")
    return path


def lines_of(dataset: Dataset) -> Iterator[str]:
    """The lines of the sidecar."""
    file = _in_comment(dataset.path.name if dataset.path is not None else dataset.name)
    yield f"# What mlcli understood of {file}. Correct what is wrong, then look again: mlcli data {file}"
    yield from _about_the_file(dataset)
    yield "columns:"
    for described in dataset.schema:
        why = f"  # {described.source}: {_in_comment(' '.join(described.why.split()))}"
        comment = why if described.source != "declared" else ""
        yield f"  {key(described.column.name)}: {_declaration(dataset, described)}{comment}"
    for word, value in dataset.about.items():
        yield f"{word}: {json.dumps(value, ensure_ascii=False)}"


def scalar(text: str) -> str:
    """A text as a YAML value that is read back as it was written."""
    return text if NUMBER.fullmatch(text) else key(text)


def key(text: str) -> str:
    """A text as a YAML key: quoted wherever a reader of YAML might take it for something else."""
    plain = PLAIN.fullmatch(text) and text.lower() not in CONSTANTS and not NOT_FINITE.fullmatch(text)
    return text if plain else _quoted(text)


def flow(texts: Iterable[str]) -> str:
    """A list of texts on one line."""
    return f"[{', '.join(map(scalar, texts))}]"


def _about_the_file(dataset: Dataset) -> Iterator[str]:
    sidecar, target = dataset.sidecar, dataset.schema.the("target")
    if dataset.path is None or dataset.name != stem_of(dataset.path):
        yield f"name: {scalar(dataset.name)}"
    yield f"target: {'null' if target is None else scalar(target.name)}"
    tasks = dict.fromkeys([*filter(None, [dataset.task]), *sidecar.tasks])
    if tasks:
        yield f"task: {flow(tasks) if len(tasks) > 1 else next(iter(tasks))}"
    if sidecar.anomaly:
        yield f"anomaly: {flow(sidecar.anomaly)}"
    if sidecar.missing:
        yield f"missing: {flow(sidecar.missing)}"
    if sidecar.delimiter is not None:
        yield f"delimiter: {next(word for word, sign in DELIMITER_WORDS.items() if sign == sidecar.delimiter)}"
    if sidecar.encoding is not None:
        yield f"encoding: {sidecar.encoding}"
    if sidecar.header is not None:
        yield f"header: {str(sidecar.header).lower()}"


def _declaration(dataset: Dataset, described: SchemaField) -> str:
    """What is said of one column, in flow form; its kind alone where nothing else is to be said."""
    column = described.column
    declaration = dataset.sidecar.columns.get(column.name, Declaration())
    parts = {"kind": declaration.numbers or column.kind}
    if described.role not in ("feature", "target") or declaration.role == "feature":
        parts["role"] = described.role
    if described.role == "sensitive" and not column.sensitive:
        parts["feature"] = "true"
    # where anomalies are told from the rest, the levels are those that the sidecar had
    levels = declaration.levels if described.role == "target" and dataset.sidecar.anomaly else column.levels
    if levels and not _found_again(dataset, described):
        parts["levels"] = flow(levels)
    if declaration.missing:
        parts["missing"] = flow(declaration.missing)
    if declaration.empty is not None and column.coded:
        parts["empty"] = scalar(declaration.empty)
    if declaration.range is not None and not column.coded:
        parts["range"] = f"[{declaration.range[0]!r}, {declaration.range[1]!r}]"
    if len(parts) == 1:
        return parts["kind"]
    return "{" + ", ".join(f"{word}: {value}" for word, value in parts.items()) + "}"


def _found_again(dataset: Dataset, described: SchemaField) -> bool:
    """Whether the levels are many, all in use, and in the order that the rules give them."""
    column = described.column
    if column.kind != "nominal" or len(column.levels) <= LEVELS_WRITTEN:
        return False
    codes = np.unique(dataset.table.cells(column.name).astype(np.int32))
    return int((codes >= 0).sum()) == len(column.levels) and column.levels == sorted_levels(column.levels)


def _in_comment(text: str) -> str:
    """A text as a comment may hold it: YAML refuses control characters even there."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in escaped)
