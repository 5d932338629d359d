"""A dataset by its name or path: the CSV file is read, typed, and given roles, a target and a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.kinds import kind_named
from mlcli.core.schema import Field, Schema
from mlcli.core.strict_yaml import Document
from mlcli.core.tables import Table
from mlcli.data.columns import Typed, declared, inferred
from mlcli.data.dataset import Dataset
from mlcli.data.find import find
from mlcli.data.oddities import odd_columns
from mlcli.data.records import Layout, Records, read_records
from mlcli.data.roles import Given, given_roles, refuse_unusable
from mlcli.data.sidecar import DELIMITER_WORDS, Sidecar, read_sidecar, sidecar_document
from mlcli.data.task import settled


def load(
    reference: str, *, base: Path | None = None, target: str | None = None, task: str | None = None
) -> Dataset:
    """A shipped dataset by name, or a CSV file by path; ``target`` and ``task`` go before its sidecar."""
    if task is not None:
        kind_named(task)
    path = find(reference, base)
    document = sidecar_document(path)
    records = read_records(content_of(path), str(path), layout_of(document))
    if not len(records):
        raise DataError("has column names but no rows", where=records.name)
    sidecar = read_sidecar(document, records.header)
    typed = typed_columns(records, sidecar)
    roles = given_roles(typed, sidecar, records, target)
    refuse_unusable(typed, roles, records)
    return _dataset(path, records, sidecar, typed, roles, task)


def content_of(path: Path) -> bytes:
    """The bytes of a file, or a DataError that says why not."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"cannot be read: {problem.strerror}", where=str(path)) from None


def layout_of(document: Document | None) -> Layout:
    """What a sidecar says of the file itself; anything odd is reported when the whole sidecar is read."""
    said = document.value or {} if document is not None else {}
    delimiter, header = said.get("delimiter"), said.get("header")
    known = DELIMITER_WORDS.get(str(delimiter), delimiter)
    return Layout(known if known in DELIMITER_WORDS.values() else None, header is True)


def typed_columns(records: Records, sidecar: Sidecar) -> dict[str, Typed]:
    """Every column typed, as declared or by the rules; all cells that do not fit are named at once."""
    typed: dict[str, Typed] = {}
    problems: list[Problem] = []
    for text in records.columns:
        said = sidecar.of(text.name)
        if said.kind is None:
            typed[text.name] = inferred(text, said, records.delimiter)
        else:
            typed[text.name], found = declared(text, said, records)
            problems += found
    raise_all(DataError, problems)
    return typed


def _dataset(
    path: Path,
    records: Records,
    sidecar: Sidecar,
    typed: dict[str, Typed],
    roles: Mapping[str, Given],
    task: str | None,
) -> Dataset:
    target = next((name for name, given in roles.items() if given.role == "target"), None)
    if target is None and task is not None:
        hint = "name a column with --target, or in the sidecar"
        raise DataError(
            f"{task} needs a target, and the sidecar says that there is none", where=str(path), hint=hint
        )
    wanted = task if task is not None else sidecar.task
    notes = records.notes + tuple(given.note for given in roles.values() if given.note)
    why = {name: given.guessed for name, given in roles.items()}
    if target is not None:
        end = settled(typed[target], wanted, records, sidecar)
        typed[target], notes = end.target, notes + end.notes
        why[target] = "; ".join(filter(None, (why[target], end.guessed)))
    schema = Schema(tuple(_field(column, roles[name].role, why[name]) for name, column in typed.items()))
    table = Table.of(((column.column, column.cells) for column in typed.values()), len(records))
    notes += tuple(note for column in typed.values() for note in column.notes)
    dataset = Dataset(
        name=sidecar.name or path.stem,
        table=table,
        schema=schema,
        path=path,
        task=wanted if target is not None else None,
        about=sidecar.about,
        sidecar=sidecar,
    )
    return replace(dataset, notes=notes + odd_columns(dataset))


def _field(typed: Typed, role: str, guessed: str) -> Field:
    source = "guessed" if guessed else "declared" if typed.declared else "inferred"
    return Field(typed.column, role, source, "; ".join(filter(None, (typed.why, guessed))))
