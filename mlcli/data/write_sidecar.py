"""Writes what was read of a CSV file as its sidecar, for you to correct.

An existing sidecar keeps its text and its comments: only missing and changed entries are written into it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlcli.core.errors import DataError, UsageError
from mlcli.core.processes import write
from mlcli.core.schema import SchemaField
from mlcli.core.strict_yaml import parse, read
from mlcli.data.columns import sorted_levels
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import datasets_folder
from mlcli.data.sidecar import (
    DELIMITER_WORDS,
    Declaration,
    read_sidecar,
    sidecar_places,
    stem_of,
    yaml_key,
    yaml_list,
    yaml_scalar,
)

if TYPE_CHECKING:
    import yaml


def write_sidecar(dataset: Dataset, path: Path | None = None, *, overwrite: bool = False) -> Path:
    """Write the sidecar of a dataset, beside its CSV file if no path is given; it loads as the same dataset."""
    if dataset.in_file is not None:
        dataset = replace(dataset.in_file, path=dataset.path, name=dataset.name)
    path = path or _sidecar_path(dataset)
    if path.exists() and not overwrite:
        hint = "correct it by hand, or have it completed with --force"
        raise UsageError(f"{path} exists: it was left alone", hint=hint)
    own = dataset.sidecar.path
    if own is not None and path.exists() and path.samefile(own):
        write(path, _completed(dataset, path))
    else:
        write(path, "".join(_lines(dataset)))
    return path


def _lines(dataset: Dataset) -> Iterator[str]:
    """The lines of a new sidecar."""
    file = _in_comment(dataset.path.name if dataset.path is not None else dataset.name)
    yield f"# What mlcli understood of {file}. Correct what is wrong, then look again: mlcli data {file}\n"
    for entry in _entries_of_file(dataset):
        yield entry.line(0)
    yield "columns:\n"
    for field in dataset.schema:
        yield _entry_of(dataset, field).line(2)
    for word, value in dataset.about.items():
        yield f"{word}: {json.dumps(value, ensure_ascii=False)}\n"


def _sidecar_path(dataset: Dataset) -> Path:
    """The path of the sidecar, existing or new; refused for files that come with mlcli."""
    if dataset.path is None:
        raise UsageError(f"'{dataset.name}' has no file to lie beside", hint="say where the sidecar goes")
    for folder in (Path(__file__).parents[1], datasets_folder()):
        if dataset.path.resolve().is_relative_to(folder.resolve()):
            files = shlex.join(str(file) for file in (dataset.path, dataset.sidecar.path) if file is not None)
            hint = f"copy it, and write beside the copy: cp {files} ."
            raise UsageError(f"'{dataset.name}' comes with mlcli, whose files are not changed", hint=hint)
    places = sidecar_places(dataset.path)
    path = next((path for path in places if path.exists()), places[0])
    if path.exists() and dataset.sidecar.path is None:
        hint = "give the experiment another name"
        raise UsageError(f"{path} is an experiment, so it cannot be the sidecar of this file", hint=hint)
    return path


def _completed(dataset: Dataset, path: Path) -> str:
    """The text of the existing sidecar with missing entries added and changed entries replaced."""
    sidecar, document = dataset.sidecar, read(path, DataError)
    given = document.value or {}
    target = dataset.schema.the("target")
    target_name = None if target is None else target.name
    kept = given.keys() - {"target", "task"}
    kept |= {"target"} if sidecar.target == target_name and (target_name or "target" in given) else set()
    kept |= {"task"} if sidecar.task == dataset.task else set()
    new = {entry.key: entry for entry in _entries_of_file(dataset) if entry.key not in kept}
    declared, columns, roles = given.get("columns") or {}, dict[str, Entry](), dict[str, Entry]()
    for field in dataset.schema:
        name = field.column.name
        if name not in declared or (_has_other_role(dataset, field) and isinstance(declared[name], str)):
            columns[name] = _entry_of(dataset, field)
        elif _has_other_role(dataset, field):
            roles[name] = Entry("role", field.role)
    if columns and "columns" not in given:
        new["columns"] = Entry("columns", "")
    text = with_entries(document.source, (), new)
    text = with_entries(text, ("columns",), columns) if columns else text
    for name, role in roles.items():
        text = with_entries(text, ("columns", name), {"role": role})
    try:
        read_sidecar(parse(text, str(path), DataError), [field.column.name for field in dataset.schema])
    except DataError as error:
        reasons = "; ".join(problem.what for problem in error.problems)
        raise UsageError(f"{path} cannot be completed: {reasons}", hint="correct it by hand") from None
    return text


def _has_other_role(dataset: Dataset, field: SchemaField) -> bool:
    """Whether another role was requested than the sidecar gives; the target has a key of its own."""
    role = dataset.sidecar.columns.get(field.column.name, Declaration()).role or "feature"
    return field.role != role and not {field.role, role} <= {"feature", "target"}


def _entry_of(dataset: Dataset, field: SchemaField) -> Entry:
    """The entry of a column, with the reason in a comment if it was inferred or guessed."""
    why = f"{field.source}: {_in_comment(' '.join(field.why.split()))}"
    comment = why if field.source != "declared" else ""
    return Entry(yaml_key(field.column.name), _declaration(dataset, field), comment)


def _entries_of_file(dataset: Dataset) -> Iterator[Entry]:
    sidecar, target = dataset.sidecar, dataset.schema.the("target")
    if dataset.path is None or dataset.name != stem_of(dataset.path):
        yield Entry("name", yaml_scalar(dataset.name))
    yield Entry("target", "null" if target is None else yaml_scalar(target.name))
    tasks = dict.fromkeys([*filter(None, [dataset.task]), *sidecar.tasks])
    if tasks:
        yield Entry("task", yaml_list(tasks) if len(tasks) > 1 else next(iter(tasks)))
    if sidecar.anomaly:
        yield Entry("anomaly", yaml_list(sidecar.anomaly))
    if sidecar.missing:
        yield Entry("missing", yaml_list(sidecar.missing))
    if sidecar.delimiter is not None:
        word = next(word for word, sign in DELIMITER_WORDS.items() if sign == sidecar.delimiter)
        yield Entry("delimiter", word)
    if sidecar.encoding is not None:
        yield Entry("encoding", sidecar.encoding)
    if sidecar.header is not None:
        yield Entry("header", str(sidecar.header).lower())


def _declaration(dataset: Dataset, field: SchemaField) -> str:
    """The declaration of a column in flow form; only its kind if there is nothing else to declare."""
    column = field.column
    declaration = dataset.sidecar.columns.get(column.name, Declaration())
    parts = {"kind": declaration.numbers or column.kind}
    if field.role not in ("feature", "target") or declaration.role == "feature":
        parts["role"] = field.role
    if field.role == "sensitive" and not column.sensitive:
        parts["feature"] = "true"
    # in anomaly detection, the levels of the target are those that the sidecar had
    levels = declaration.levels if field.role == "target" and dataset.sidecar.anomaly else column.levels
    # many nominal levels need not be written if all are used, and inference gives them in the same order
    can_be_inferred = False
    if column.kind == "nominal" and len(column.levels) > 20:
        codes = np.unique(dataset.table.cells(column.name).astype(np.int32))
        are_used = int((codes >= 0).sum()) == len(column.levels)
        can_be_inferred = are_used and column.levels == sorted_levels(column.levels)
    if levels and not can_be_inferred:
        parts["levels"] = yaml_list(levels)
    if declaration.missing:
        parts["missing"] = yaml_list(declaration.missing)
    if declaration.empty is not None and column.coded:
        parts["empty"] = yaml_scalar(declaration.empty)
    if declaration.range is not None and not column.coded:
        parts["range"] = f"[{declaration.range[0]!r}, {declaration.range[1]!r}]"
    if len(parts) == 1:
        return parts["kind"]
    return "{" + ", ".join(f"{word}: {value}" for word, value in parts.items()) + "}"


def _in_comment(text: str) -> str:
    """A text as a comment may hold it: YAML refuses control characters even there."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


class Entry(NamedTuple):
    """A key and its value as YAML on one line, and a comment for where they are new."""

    key: str
    value: str
    comment: str = ""

    def line(self, indent: int) -> str:
        """The entry as a line of a block."""
        return f"{' ' * indent}{self.key}: {self.value}{self.comment and f'  # {self.comment}'}\n"


class Edit(NamedTuple):
    """The characters from ``start`` to ``end`` become a text."""

    start: int
    end: int
    text: str


def with_entries(text: str, path: Sequence[str], entries: Mapping[str, Entry]) -> str:
    """A YAML text with these entries, by their names, in the mapping at a path; the mapping may be empty."""
    import yaml

    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    begin = 0
    for name in path:
        assert isinstance(node, yaml.MappingNode)
        key, node = next((key, value) for key, value in node.value if key.value == name)
        begin = key.end_mark.index
    values = {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
    edits = [
        Edit(values[name].start_mark.index, _end_of(values[name]), entry.value)
        for name, entry in entries.items()
        if name in values
    ]
    new = [entry for name, entry in entries.items() if name not in values]
    if new and isinstance(node, yaml.MappingNode) and values:  # behind the last entry, in its style
        key, value = node.value[-1]
        if node.flow_style:
            end = max(key.end_mark.index, value.end_mark.index)
            edits.append(Edit(end, end, "".join(f", {entry.key}: {entry.value}" for entry in new)))
        else:
            end = max(key.end_mark.index, _end_of(value))
            edits.append(_new_lines(text, end, new, node.start_mark.column))
    elif new and node is not None:  # in the place of null or of empty braces
        end = max(begin, node.end_mark.index)
        edits += [Edit(node.start_mark.index, end, ""), _new_lines(text, end, new, 2 * len(path))]
    elif new:
        edits.append(_new_lines(text, len(text), new, 2 * len(path)))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _new_lines(text: str, end: int, entries: Sequence[Entry], indent: int) -> Edit:
    """New lines below the line in which something ends."""
    at_start = end == 0 or text[end - 1] == "\n"
    index = end if at_start else text.find("\n", end) + 1 or len(text)
    before = "" if index == 0 or text[index - 1] == "\n" else "\n"
    return Edit(index, index, before + "".join(entry.line(indent) for entry in entries))


def _end_of(node: yaml.Node) -> int:
    """Where the last value of a node ends; the end mark of a block is that of what follows it."""
    import yaml

    if not isinstance(node, yaml.CollectionNode) or not node.value or node.flow_style:
        return int(node.end_mark.index)
    last = node.value[-1]
    return max(_end_of(part) for part in (last if isinstance(last, tuple) else (last,)))
