"""Loads a dataset by its name or path: reads the CSV file, types its columns, and finds roles, target and task."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import listed
from mlcli.core.schema import Schema, SchemaField
from mlcli.core.strict_yaml import Document, parse
from mlcli.core.tables import Table
from mlcli.data.columns import TypedColumn, declared, inferred, notes_of_columns
from mlcli.data.dataset import Dataset, Recipe, column_warnings
from mlcli.data.long_form import in_long_form, in_wide_form
from mlcli.data.records import FileLayout, Records, read_records
from mlcli.data.roles import AssignedRole, RequestedRoles, assigned_roles, refuse_unusable
from mlcli.data.sidecar import DELIMITER_WORDS, Sidecar, read_sidecar, sidecar_places, stem_of
from mlcli.data.source import Source, content_of, source_of_file
from mlcli.data.target import choose_target, has_no_target, marked_task, needs_target, wanted_task
from mlcli.tasks.table import kind_named


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
    """Load a shipped dataset by name, a CSV file by path, or rows from elsewhere.

    ``target``, ``task``, the columns that are ``sensitive`` or to ``drop``, and the ``positive`` class override
    the sidecar. ``earlier`` is how another file was read; it applies where the sidecar is silent.
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
    if positive is not None:  # in anomaly detection, the positive class is the anomaly
        sidecar = replace(sidecar, positive=positive, anomaly=(positive,))
    typed = _typed_columns(records, sidecar)
    requested = RequestedRoles(target, tuple(sensitive), tuple(drop))
    roles, wanted = _roles_and_task(typed, sidecar, records, requested, task)
    if positive is not None and _target_name(roles) is None:
        what = f"there is no target that '{positive}', the positive class, could be a level of"
        raise DataError(what, where=records.name, hint="leave it out, or choose a target with --target COLUMN")
    typed = {name: _marked(column, roles[name].role, sidecar) for name, column in typed.items()}
    dataset = _with_counted_rows(_dataset(records, sidecar, typed, roles, wanted))
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
    """Load a dataset again as it was, with the options and the sidecar of that time."""
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


def layout_of(document: Document | None, earlier: Sidecar | None = None) -> FileLayout:
    """What a sidecar says about the file itself; what is wrong is reported when the whole sidecar is read.

    If names of an ``earlier`` file were declared to look like numbers, they may do so in this one.
    """
    given = document.value if document is not None and isinstance(document.value, dict) else {}
    delimiter = DELIMITER_WORDS.get(str(given.get("delimiter")), given.get("delimiter"))
    header = given.get("header")
    has_names = header is True or (header is None and earlier is not None and earlier.header is True)
    try:
        encoding = codecs.lookup(str(given["encoding"])).name if given.get("encoding") else None
    except LookupError:
        encoding = None
    return FileLayout(delimiter if delimiter in DELIMITER_WORDS.values() else None, has_names, encoding)


def _typed_columns(records: Records, sidecar: Sidecar) -> dict[str, TypedColumn]:
    """Every column typed, as declared or inferred; all cells that do not fit are reported at once."""
    typed: dict[str, TypedColumn] = {}
    problems: list[Problem] = []
    for text in records.columns:
        declaration = sidecar.of(text.name)
        if declaration.kind is None:
            typed[text.name] = inferred(text, declaration, records)
        else:
            typed[text.name], misfits = declared(text, declaration, records)
            problems += misfits
    raise_all(DataError, problems)
    return typed


def _roles_and_task(
    typed: Mapping[str, TypedColumn],
    sidecar: Sidecar,
    records: Records,
    requested: RequestedRoles,
    task: str | None,
) -> tuple[dict[str, AssignedRole], str | None]:
    """The role of each column, and the task: as requested, as the sidecar states, or as the roles imply."""
    guess_target = needs_target(task or sidecar.task or marked_task(sidecar.roles, None))
    kinds = kind_named(task).target_kinds if task is not None else ()
    roles = assigned_roles(typed, sidecar, records, requested, guess_target=guess_target, kinds=kinds)
    refuse_unusable(typed, roles, records)
    target = _target_name(roles)
    implied = marked_task((given.role for given in roles.values()), typed[target] if target else None)
    wanted = wanted_task(target, task, sidecar, records) or implied
    if target and has_no_target(wanted):
        note = f"{wanted} has no target: '{target}' is a column like the others"
        roles[target] = AssignedRole("feature", note=note if requested.target else "")
    return roles, wanted


def _target_name(roles: Mapping[str, AssignedRole]) -> str | None:
    return next((name for name, given in roles.items() if given.role == "target"), None)


def _marked(typed: TypedColumn, role: str, sidecar: Sidecar) -> TypedColumn:
    """The column, marked if most models do not see it, with the groups that sensitive numbers make."""
    column = typed.column
    bands: tuple[float, ...] = ()
    is_hidden = role == "sensitive" and not sidecar.of(column.name).feature
    if role == "sensitive" and not column.coded:
        numbers = typed.cells[~np.isnan(typed.cells)]
        if len(numbers):  # the groups are quarters of the rows
            begins = np.unique(np.quantile(numbers, (0.25, 0.5, 0.75), method="higher"))
            bands = tuple(float(begin) for begin in begins if begin > numbers.min())
    return replace(typed, column=replace(column, sensitive=is_hidden, context=role == "context", bands=bands))


def _notes_on_bands(typed: Mapping[str, TypedColumn]) -> Iterator[str]:
    for name, column in typed.items():
        if column.column.bands:
            groups = listed(column.column.groups)
            yield f"'{name}' holds numbers: its groups are quarters of the rows ({groups}); levels make others"


def _dataset(
    records: Records,
    sidecar: Sidecar,
    typed: dict[str, TypedColumn],
    roles: Mapping[str, AssignedRole],
    task: str | None,
) -> Dataset:
    """The columns in their roles as one table, with the target as its task needs it."""
    notes = records.notes + tuple(given.note for given in roles.values() if given.note)
    guesses = {name: given.guessed for name, given in roles.items()}
    target, doubt = _target_name(roles), ""
    if target is not None:
        chosen = choose_target(typed[target], task, records, sidecar)
        if roles[target].note:
            doubt = chosen.doubt
            if others := " or ".join(f"'{other}'" for other in roles[target].others):
                guess = f"the target was guessed: '{target}', {guesses[target]}"
                doubt = doubt or f"{guess}; {others} may be meant"
        typed, notes = {**typed, target: chosen.target}, notes + chosen.notes
        guesses[target] = "; ".join(filter(None, (guesses[target], chosen.guessed)))
    fields = []
    for name, column in typed.items():
        source = "guessed" if guesses[name] else "declared" if column.declared else "inferred"
        why = "; ".join(filter(None, (column.why, guesses[name])))
        fields.append(SchemaField(column.column, roles[name].role, source, why))
    return Dataset(
        name=records.name,
        table=Table.of(((column.column, column.cells) for column in typed.values()), len(records)),
        schema=Schema(tuple(fields)),
        task=task,
        notes=(*notes, *notes_of_columns(typed.values())),
        about=sidecar.about,
        sidecar=sidecar,
        doubt=doubt,
    )


def _with_counted_rows(dataset: Dataset) -> Dataset:
    """Each row repeated as often as its count says.

    The copies are split as separate rows; a weight would put all of them on one side of a split.
    """
    column = dataset.schema.the("count")
    if column is None:
        return dataset
    counts = dataset.table.cells(column.name).astype(np.int64)
    total = int(counts.sum())
    most_rows = 20_000_000
    if total > most_rows:
        hint = "role: weight takes them as weights, without making rows of them"
        raise DataError(f"'{column.name}' counts {total:,} rows, more than {most_rows:,}", hint=hint)
    if not total:
        raise DataError(f"'{column.name}' is 0 in every row, so there are no rows")
    zeros = int((counts == 0).sum())
    note = f"{len(counts)} rows of the file stand for {total}, as '{column.name}' counts, and splits part them"
    note += f"; {zeros} of count 0 are left out" if zeros else ""
    rows = np.repeat(np.arange(len(counts)), counts)
    return replace(dataset, table=dataset.table.take(rows), notes=(*dataset.notes, note))
