"""A dataset by its name or path: the CSV file is read, typed, and given roles, a target and a task."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import listed
from mlcli.core.schema import Schema, SchemaField
from mlcli.core.strict_yaml import Document, parse
from mlcli.core.tables import Array, Table
from mlcli.data.columns import TypedColumn, declared, inferred, notes_of_columns
from mlcli.data.dataset import Dataset, Recipe, column_warnings
from mlcli.data.long_form import in_long_form, in_wide_form
from mlcli.data.read_sidecar import read_sidecar
from mlcli.data.records import DELIMITER_WORDS, FileLayout, Records, read_records
from mlcli.data.roles import AssignedRole, RequestedRoles, assigned_roles, refuse_unusable
from mlcli.data.sidecar import Sidecar, sidecar_places, stem_of
from mlcli.data.source import Source, content_of, source_of_file
from mlcli.data.target import choose_target, has_no_target, marked_task, needs_target, wanted_task
from mlcli.tasks.table import kind_named

MOST_ROWS = 20_000_000
"""More rows are not made of counts: as weights they need not be held in memory."""


def load(
    reference: str | Source,
    *,
    base: Path | None = None,
    target: str | None = None,
    task: str | None = None,
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    earlier: Sidecar | None = None,
) -> Dataset:
    """A shipped dataset by name, a CSV file by path, or rows from elsewhere.

    ``target``, ``task``, the columns that are ``sensitive`` or to ``drop``, and the ``positive`` class go before
    its sidecar; how an ``earlier`` file was read is followed where the sidecar is silent.
    """
    if task is not None:
        kind_named(task)
    source = reference if isinstance(reference, Source) else source_of_file(reference, base)
    records = read_records(source.content, source.name, layout_of(source.document, earlier))
    if not len(records):
        raise DataError("has column names but no rows", where=records.name)
    sidecar = read_sidecar(source.document, records.header)
    if earlier is not None:
        sidecar = sidecar.with_defaults(earlier, records.header)
    if positive is not None:  # the class that is looked for; among anomalies it is that one
        sidecar = replace(sidecar, positive=positive, anomaly=(positive,))
    typed = typed_columns(records, sidecar)
    requested = RequestedRoles(target, tuple(sensitive), tuple(drop))
    roles, wanted = _roles_and_task(typed, sidecar, records, requested, task)
    if positive is not None and _target_name(roles) is None:
        what = f"there is no target that '{positive}', the positive class, could be a level of"
        raise DataError(what, where=records.name, hint="leave it out, or choose a target with --target COLUMN")
    typed = {name: _marked(column, roles[name], sidecar) for name, column in typed.items()}
    dataset = _counted_out(_dataset(records, sidecar, typed, roles, wanted))
    if in_long_form(dataset):
        dataset = in_wide_form(dataset, records)
    if dataset.unlabelled == len(dataset):
        what = f"the target '{_target_name(roles)}' is empty in every row"
        raise DataError(what, where=records.name, hint="choose another target with --target COLUMN")
    name = sidecar.name or (stem_of(source.path) if source.path else source.name)
    notes = (*dataset.notes, *_notes_on_bands(typed), *column_warnings(dataset))
    recipe = None
    if source.path is not None:
        sidecar_text = source.document.source if source.document else None
        options = (target, task, tuple(sensitive), tuple(drop), positive, earlier)
        recipe = Recipe(source.path.absolute(), sidecar_text, *options)
    return replace(dataset, path=source.path, name=name, notes=notes, recipe=recipe)


def load_by_recipe(recipe: Recipe) -> Dataset:
    """A dataset read again as it was: by the options and the sidecar of that time."""
    path = recipe.path
    sidecar = None if recipe.sidecar is None else parse(recipe.sidecar, str(sidecar_places(path)[0]), DataError)
    return load(
        Source(str(path), content_of(path), sidecar, path),
        target=recipe.target,
        task=recipe.task,
        sensitive=recipe.sensitive,
        drop=recipe.drop,
        positive=recipe.positive,
        earlier=recipe.earlier,
    )


def _roles_and_task(
    typed: Mapping[str, TypedColumn],
    sidecar: Sidecar,
    records: Records,
    requested: RequestedRoles,
    task: str | None,
) -> tuple[dict[str, AssignedRole], str | None]:
    """The role of each column, and the task that is asked for, stated, or marked by roles."""
    guess_target = needs_target(task or sidecar.task or marked_task(sidecar.roles, None))
    kinds = kind_named(task).target_kinds if task is not None else ()
    roles = assigned_roles(typed, sidecar, records, requested, guess_target=guess_target, kinds=kinds)
    refuse_unusable(typed, roles, records)
    target = _target_name(roles)
    marked = marked_task((given.role for given in roles.values()), typed[target] if target else None)
    wanted = wanted_task(target, task, sidecar, records) or marked
    if target and has_no_target(wanted):
        note = f"{wanted} has no target: '{target}' is a column like the others"
        roles[target] = AssignedRole("feature", note=note if requested.target else "")
    return roles, wanted


def layout_of(document: Document | None, earlier: Sidecar | None = None) -> FileLayout:
    """What a sidecar says of the file itself; anything odd is reported when the whole sidecar is read.

    Names of an ``earlier`` file that look like numbers do so in this one.
    """
    given = document.value or {} if document is not None else {}
    delimiter, header = given.get("delimiter"), given.get("header")
    known = DELIMITER_WORDS.get(str(delimiter), delimiter)
    has_names = header is True or (header is None and earlier is not None and earlier.header is True)
    return FileLayout(known if known in DELIMITER_WORDS.values() else None, has_names, known_encoding(given))


def known_encoding(given: Mapping[str, Any]) -> str | None:
    """The encoding that a sidecar states, if there is such a one."""
    try:
        return codecs.lookup(str(given["encoding"])).name if given.get("encoding") else None
    except LookupError:
        return None


def typed_columns(records: Records, sidecar: Sidecar) -> dict[str, TypedColumn]:
    """Every column typed, as declared or by the rules; all cells that do not fit are named at once."""
    typed: dict[str, TypedColumn] = {}
    problems: list[Problem] = []
    for text in records.columns:
        declaration = sidecar.of(text.name)
        if declaration.kind is None:
            typed[text.name] = inferred(text, declaration, records)
        else:
            typed[text.name], results = declared(text, declaration, records)
            problems += results
    raise_all(DataError, problems)
    return typed


def _dataset(
    records: Records,
    sidecar: Sidecar,
    typed: dict[str, TypedColumn],
    roles: Mapping[str, AssignedRole],
    task: str | None,
) -> Dataset:
    """The columns in their roles as one table, the target as its task needs it."""
    notes = records.notes + tuple(given.note for given in roles.values() if given.note)
    guesses = {name: given.guessed for name, given in roles.items()}
    target, doubt = _target_name(roles), ""
    if target is not None:
        end = choose_target(typed[target], task, records, sidecar)
        typed, notes = {**typed, target: end.target}, notes + end.notes
        guesses[target] = "; ".join(filter(None, (guesses[target], end.guessed)))
        if roles[target].note:
            doubt = end.doubt or _doubt_of(target, roles[target])
    return Dataset(
        name=records.name,
        table=Table.of(((column.column, column.cells) for column in typed.values()), len(records)),
        schema=Schema(tuple(_field(column, roles[name].role, guesses[name]) for name, column in typed.items())),
        task=task,
        notes=(*notes, *notes_of_columns(typed.values())),
        about=sidecar.about,
        sidecar=sidecar,
        doubt=doubt,
    )


def _counted_out(dataset: Dataset) -> Dataset:
    """Each row as often as its count says, to be dealt into splits as rows would be; most datasets have no counts.

    As weights, all copies of a case would fall on one side of a split.
    """
    column = dataset.schema.the("count")
    if column is None:
        return dataset
    counts = dataset.table.cells(column.name).astype(np.int64)
    total = int(counts.sum())
    if total > MOST_ROWS:
        hint = "role: weight takes them as weights, without making rows of them"
        raise DataError(f"'{column.name}' counts {total:,} rows, more than {MOST_ROWS:,}", hint=hint)
    if not total:
        raise DataError(f"'{column.name}' is 0 in every row, so there are no rows")
    none = int((counts == 0).sum())
    parted = "and splits part them" + (f"; {none} of count 0 are left out" if none else "")
    note = f"{len(counts)} rows of the file stand for {total}, as '{column.name}' counts, {parted}"
    rows = np.repeat(np.arange(len(counts)), counts)
    return replace(dataset, table=dataset.table.take(rows), notes=(*dataset.notes, note))


def _doubt_of(target: str, given: AssignedRole) -> str:
    """That the target was guessed, and may as well be another column."""
    others = " or ".join(f"'{other}'" for other in given.others)
    return f"the target was guessed: '{target}', {given.guessed}; {others} may be meant" if others else ""


def _marked(typed: TypedColumn, given: AssignedRole, sidecar: Sidecar) -> TypedColumn:
    """What few models see is marked: columns of context, and sensitive ones that the sidecar calls no feature."""
    column = typed.column
    hidden = given.role == "sensitive" and not sidecar.of(column.name).feature
    bands = _quarters(typed.cells) if given.role == "sensitive" and not column.coded else ()
    return replace(typed, column=replace(column, sensitive=hidden, context=given.role == "context", bands=bands))


def _quarters(cells: Array) -> tuple[float, ...]:
    """Where the quarters of some numbers begin; those that begin alike are one."""
    known = cells[~np.isnan(cells)]
    if not len(known):
        return ()
    begins = np.unique(np.quantile(known, (0.25, 0.5, 0.75), method="higher"))
    return tuple(float(begin) for begin in begins if begin > known.min())


def _notes_on_bands(typed: Mapping[str, TypedColumn]) -> Iterator[str]:
    """Which groups sensitive numbers make."""
    for name, column in typed.items():
        if column.column.bands:
            groups = listed(column.column.groups)
            yield f"'{name}' holds numbers: its groups are quarters of the rows ({groups}); levels make others"


def _target_name(roles: Mapping[str, AssignedRole]) -> str | None:
    return next((name for name, given in roles.items() if given.role == "target"), None)


def _field(typed: TypedColumn, role: str, guessed: str) -> SchemaField:
    source = "guessed" if guessed else "declared" if typed.declared else "inferred"
    return SchemaField(typed.column, role, source, "; ".join(filter(None, (typed.why, guessed))))
