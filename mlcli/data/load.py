"""Loads a dataset by its name or path: reads the CSV file, types its columns, and finds roles, target and task.

In long form each row names a transaction and one item of it; it becomes a row per transaction, a column per item.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import listed
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.strict_yaml import Document, parse
from mlcli.core.tables import Codes, Table
from mlcli.data.columns import TypedColumn, declared, inferred, notes_of_columns
from mlcli.data.dataset import (
    AssignedRole,
    Dataset,
    Recipe,
    RequestedRoles,
    assigned_roles,
    column_warnings,
    refuse_unusable,
)
from mlcli.data.records import FileLayout, Records, TextColumn, read_records
from mlcli.data.sidecar import DELIMITER_WORDS, Sidecar, read_sidecar, sidecar_places, stem_of
from mlcli.data.source import Source, content_of, source_of_file
from mlcli.data.target import choose_target, has_no_target, marked_task, needs_target, requested_or_stated_task
from mlcli.tasks.table import kind_named


def in_long_form(dataset: Dataset) -> bool:
    """Whether the roles of the columns say so, for a kind of task whose rows may come like that."""
    roles = _roles_of_form(dataset)
    if not roles or dataset.schema.the(roles[1]) is None:
        return False
    if dataset.schema.the(roles[0]) is None:
        what = f"a column has the role {roles[1]}, and none says which rows belong to one transaction"
        raise DataError(what, where=dataset.name, hint=f"give the column that says so the role {roles[0]}")
    if dataset.schema.the("weight") is not None:
        what = "rows of single items have a weight, and rules count transactions"
        raise DataError(what, where=dataset.name, hint="give the column of weights the role ignore")
    return True


def in_wide_form(dataset: Dataset, records: Records) -> Dataset:
    """The transactions of a file in long form, in the order of their first rows, with a 0/1 column per item."""
    unit, item = (column for role in _roles_of_form(dataset) if (column := dataset.schema.the(role)) is not None)
    transaction_of_row = records.column(unit.name).which
    transactions, items = int(transaction_of_row.max()) + 1, len(item.levels)
    most_cells = 50_000_000  # each cell takes four bytes
    if transactions * items > most_cells:
        what = f"{transactions:,} transactions of {items:,} items are {transactions * items:,} cells"
        hint = f"at most {most_cells:,} are held: leave out rare items, or name groups of items instead"
        raise DataError(what, where=dataset.name, hint=hint)
    codes = np.zeros((transactions, items), np.int32)
    codes[transaction_of_row, dataset.table.cells(item.name).astype(np.int32)] = 1
    columns = tuple(Column(name, "boolean", ("0", "1")) for name in item.levels)
    return replace(
        dataset,
        table=Table(columns, np.empty((transactions, 0)), codes),
        schema=Schema(tuple(SchemaField(column, why=f"an item of '{item.name}'") for column in columns)),
        notes=(*dataset.notes, *_long_form_notes(dataset, unit, item, codes)),
        in_file=dataset,
    )


def names_of_form(dataset: Dataset) -> dict[str, str]:
    """By role, the columns of transactions and items of the file that a dataset was read from, if it was long."""
    in_file = dataset.in_file
    if in_file is None:
        return {}
    return {
        role: column.name for role in _roles_of_form(in_file) if (column := in_file.schema.the(role)) is not None
    }


def wide_records(
    records: Records, unit: str, item: str, columns: Sequence[Column]
) -> tuple[Records, dict[str, int]]:
    """New rows in long form as a model knows their items, and how often each unknown item stands there."""
    problems = []
    for name in (unit, item):
        text = records.column(name)
        if "" in text.values:
            where = records.place(text.first_row(text.values.index("")), name)
            problems.append(Problem("the cell is empty", where, "each row names a transaction and one item of it"))
    raise_all(DataError, problems)
    units, items = records.column(unit), records.column(item)
    first_rows = np.unique(units.which, return_index=True)[1]
    index_of = {name: index for index, name in enumerate(items.values)}
    wide = []
    for column in columns:
        codes = np.zeros(len(units.values), np.int32)
        codes[units.which[items.which == index_of.get(column.name, -1)]] = 1
        wide.append(TextColumn.of(column.name, list(column.levels), codes))
    wide.append(TextColumn.of(unit, units.values, np.arange(len(units.values), dtype=np.int32)))
    names = {column.name for column in columns}
    unknown = {name: count for name, count in items.count_of.items() if name not in names}
    return replace(records, columns=tuple(wide), lines=records.lines[first_rows]), unknown


def _roles_of_form(dataset: Dataset) -> tuple[str, ...]:
    """The roles of the columns of transactions and items, for a kind of task that has them."""
    return kind_named(dataset.task).long_form if dataset.task else ()


def _long_form_notes(dataset: Dataset, unit: Column, item: Column, codes: Codes) -> Iterator[str]:
    """How many rows became how many transactions, repeated items, and ignored columns."""
    yield (
        f"long form: {len(dataset):,} rows were read as {len(codes):,} transactions ('{unit.name}') "
        f"of {len(item.levels):,} items ('{item.name}')"
    )
    repeated = len(dataset) - int(codes.sum())
    if repeated:
        yield f"rows that name an item of their transaction again, which counts once: {repeated:,}"
    others = [field.column.name for field in dataset.schema if field.role in ("feature", "sensitive")]
    if others:
        yield f"columns that are not looked at, since they tell of single rows: {listed(others)}"


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
    roles, task_to_do = _roles_and_task(typed, sidecar, records, requested, task)
    if positive is not None and _target_name(roles) is None:
        what = f"there is no target that '{positive}', the positive class, could be a level of"
        raise DataError(what, where=records.name, hint="leave it out, or choose a target with --target COLUMN")
    typed = {name: _with_role(column, roles[name].role, sidecar) for name, column in typed.items()}
    dataset = _with_counted_rows(_dataset(records, sidecar, typed, roles, task_to_do))
    if in_long_form(dataset):
        dataset = in_wide_form(dataset, records)
    if dataset.unlabelled == len(dataset):
        what = f"the target '{_target_name(roles)}' is empty in every row"
        raise DataError(what, where=records.name, hint="choose another target with --target COLUMN")
    name = sidecar.name or (stem_of(source.path) if source.path else source.name)
    band_notes = [
        f"'{name}' holds numbers: its groups are quarters of the rows ({listed(column.column.groups)}); "
        "levels make others"
        for name, column in typed.items()
        if column.column.bands
    ]
    notes = (*dataset.notes, *band_notes, *column_warnings(dataset))
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
    """The layout of the file as its sidecar declares it; errors are reported when the whole sidecar is read.

    If the names of an ``earlier`` file were allowed to look like numbers, so are those of this one.
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
    chosen_task = requested_or_stated_task(target, task, sidecar, records) or implied
    if target and has_no_target(chosen_task):
        note = f"{chosen_task} has no target: '{target}' is a column like the others"
        roles[target] = AssignedRole("feature", note=note if requested.target else "")
    return roles, chosen_task


def _target_name(roles: Mapping[str, AssignedRole]) -> str | None:
    return next((name for name, given in roles.items() if given.role == "target"), None)


def _with_role(typed: TypedColumn, role: str, sidecar: Sidecar) -> TypedColumn:
    """The column with what its role implies: whether models see it, and groups (bands) of sensitive numbers."""
    column = typed.column
    bands: tuple[float, ...] = ()
    is_hidden = role == "sensitive" and not sidecar.of(column.name).feature
    if role == "sensitive" and not column.coded:
        numbers = typed.cells[~np.isnan(typed.cells)]
        if len(numbers):  # the groups are quarters of the rows
            begins = np.unique(np.quantile(numbers, (0.25, 0.5, 0.75), method="higher"))
            bands = tuple(float(begin) for begin in begins if begin > numbers.min())
    return replace(typed, column=replace(column, sensitive=is_hidden, context=role == "context", bands=bands))


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
    """Repeat each row by its count.

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
