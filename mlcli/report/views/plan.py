"""The dataset and the protocol, shown above each table, and the plan of an experiment before it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from mlcli.core.names import counted, duration, listed, size
from mlcli.core.registry import MODELS, STEPS
from mlcli.experiment.run.preparation import with_nested_steps
from mlcli.experiment.spec.cells import (
    AS_SAVED,
    POOLED,
    Cell,
    as_typed,
    distinct_labels,
    nested_models,
    settings_of,
)
from mlcli.report.document import Content, Document, Element, GridCell, Heading, Sentence, grid, notes
from mlcli.scoring.model_results import table_key
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.run.estimates import CellEstimate
    from mlcli.experiment.spec.cells import StepSpec

ARROW = " → "


def opening(cells: Sequence[Cell]) -> Iterator[Element]:
    """What a table is about: dataset, task, protocols, and what was guessed."""
    first = cells[0]
    schema = first.dataset.schema
    roles = {"group": "rows kept together by", "weight": "rows weighted by", "part": "parts in"}
    special = ((words, schema.the(role)) for role, words in roles.items())
    roles_text = "".join(f"; {words} '{column.name}'" for words, column in special if column is not None)
    protocols = "; ".join(dict.fromkeys(map(protocol_words, cells)))
    # Some kinds of task count the levels of a column, such as users, instead of features.
    counted_columns = ((role, schema.the(role)) for role in kind_named(first.kind).counts)
    columns_text = ", ".join(counted(len(column.levels), role) for role, column in counted_columns if column)
    if not columns_text:
        sensitive = sum(column.sensitive for column in schema.features())
        columns_text = counted(len(schema.features()) - sensitive, "feature")
        columns_text += f" and {counted(sensitive, 'sensitive column')}" if sensitive else ""
    yield Heading(subject_of(first), 1)
    yield Sentence(f"{_rows_text(cells)}, {columns_text}{roles_text}; {protocols}; random seed {first.seed}")
    # Of several protocols, a note on how one of them splits the dataset names it.
    protocols_of_note: dict[str, dict[str, None]] = {}
    for cell in cells:
        for note in cell.dataset.notes:
            protocols_of_note.setdefault(note, {})[cell.protocol.use] = None
    count = len({cell.protocol.use for cell in cells})
    remarks = [
        note if len(uses) == count else f"{', '.join(uses)}: {note}" for note, uses in protocols_of_note.items()
    ]
    if remarks:
        yield notes(*remarks, mark="-")


def subject_of(cell: Cell) -> str:
    """A dataset with what is done with it."""
    target = cell.dataset.schema.the("target")
    kind = kind_named(cell.kind)
    about = f" of {target.name}" if target and kind.uses_target and target.kind in kind.target_kinds else ""
    return f"{cell.dataset.name}: {cell.kind}{about}"


def protocol_words(cell: Cell) -> str:
    """The protocol with its settings."""
    if cell.protocol.use == AS_SAVED:
        return "saved models predict all rows"
    settings = ", ".join(
        f"{key.replace('_', ' ')} {as_typed(param)}" for key, param in cell.protocol.params.items()
    )
    words = f"{cell.protocol.use} ({settings})" if settings else cell.protocol.use
    return f"{words}, scores of all predictions at once" if cell.average == POOLED else words


def steps_of(cell: Cell) -> str:
    """The steps of a cell in order, then those before the models inside its model; or nothing."""

    def texts(steps: Sequence[StepSpec]) -> str:
        settings = ((step.use, settings_of(step, STEPS)) for step in steps)
        return ARROW.join(f"{use} ({text})" if text else use for use, text in settings)

    model = cell.model
    is_installed = model.is_installed and all(step.is_installed for step in cell.steps)
    if is_installed and not cell.skipped and any(nested_models(model.params)):
        model = with_nested_steps(model, cell.steps, cell.kind, cell.dataset.schema)
    inside = [
        f"{texts(nested.steps)} in {nested.start[:-1]}" for nested in nested_models(model.params) if nested.steps
    ]
    return "; ".join(filter(None, (texts(cell.steps), *inside)))


def learns_from_unlabelled(cell: Cell) -> bool:
    """Whether the model of a cell learns from rows without a target, beside those that have one."""
    model = cell.model
    if model.saved or not model.is_installed:
        return False
    steps = [step.built() for step in cell.steps if step.is_installed]
    return model.built().accepts.unlabelled or any(step.accepts.unlabelled for step in steps)


def _rows_text(cells: Sequence[Cell]) -> str:
    """How many rows there are, how many of them have no target, and which models learn from these."""
    data = cells[0].dataset
    rows = counted(len(data), "row")
    if not data.unlabelled:
        return rows
    learners = list(dict.fromkeys(cell.label for cell in cells if learns_from_unlabelled(cell)))
    if learners:
        return f"{rows} ({data.unlabelled:,} without a target, used by {listed(learners)} only)"
    left_out = " left out" if kind_named(cells[0].kind).target == "needed" else ""
    return f"{rows} ({data.unlabelled:,} without a target{left_out})"


def plan_of(cells: Sequence[Cell], estimates: Sequence[CellEstimate | None]) -> Document:
    """The cells by dataset, then how many there are, and how long they may take.

    An estimate is None where there is no store that could tell what a cell takes.
    """
    estimate_of = dict(zip(cells, estimates, strict=True)) if any(estimates) else {}
    skipped = sum(bool(cell.skipped) for cell in cells)
    elements: list[Element] = []
    for _, group in groupby(cells, table_key):
        elements += _dataset_elements(list(group), estimate_of)
    stored = sum(not cell.skipped and _is_stored(estimate) for cell, estimate in estimate_of.items())
    in_store = f"; in the store already: {stored}" if estimate_of else ""
    left_out = f"; {skipped} cannot be run" if skipped else ""
    to_run = counted(len(cells) - skipped - stored, "cell")
    elements.append(Sentence(f"{to_run} to run{in_store}{left_out}", "strong"))
    if estimate_of:
        given = [estimate for cell, estimate in estimate_of.items() if not cell.skipped and estimate is not None]
        unknown = sum(estimate.seconds is None and not _is_stored(estimate) for estimate in given)
        peaks = [
            estimate.memory
            for estimate in given
            if estimate.memory is not None and estimate.stored < estimate.splits
        ]
        seconds = sum(estimate.seconds or 0.0 for estimate in given)
        most = f", at most {size(max(peaks))} of memory at a time beside program and tables" if peaks else ""
        rest = f"; of {counted(unknown, 'cell')} the store has not seen the like" if unknown else ""
        elements.append(notes(f"estimate for what is to run: {duration(seconds)} of one core{most}{rest}"))
    return tuple(elements)


def _is_stored(estimate: CellEstimate | None) -> bool:
    return estimate is not None and 0 < estimate.splits == estimate.stored


def _dataset_elements(cells: Sequence[Cell], estimate_of: Mapping[Cell, CellEstimate | None]) -> Iterator[Element]:
    names = dict(zip(cells, distinct_labels([cell.model for cell in cells]), strict=True))
    rows: list[list[Content]] = [
        [
            GridCell(name, "weak" if cell.skipped else "strong"),
            settings_of(cell.model, MODELS),
            "-" if cell.skipped else steps_of(cell),
            *(_estimate_cells(cell, estimate_of[cell]) if estimate_of else ()),
        ]
        for cell, name in names.items()
    ]
    more = ("seconds", "memory", "known from") if estimate_of else ()
    yield from opening(cells)
    yield grid(["model", "parameters", "steps before it", *more], rows, right=(3, 4) if more else ())
    yield notes(
        *(f"{name} is skipped: {cell.skipped}" for cell, name in names.items() if cell.skipped),
        *(
            f"{name} has learned from {counted(cell.learned_rows, 'row')} of these"
            for cell, name in names.items()
            if cell.learned_rows
        ),
    )


def _estimate_cells(cell: Cell, estimate: CellEstimate | None) -> tuple[Content, Content, Content]:
    if estimate is None or cell.skipped:
        return "-", "-", "-"
    if _is_stored(estimate):
        return "0 s", "-", "in the store"
    if estimate.seconds is None:
        return "?", "?", "nothing yet"
    over = cell.budget is not None and estimate.seconds > cell.budget
    time = duration(estimate.seconds) if estimate.seconds >= 1 else "under a second"
    stored = f", {estimate.stored} of {estimate.splits} splits stored" if estimate.stored else ""
    source = estimate.known_from + stored + ", more than its budget" * over
    memory = "?" if estimate.memory is None else size(estimate.memory)
    return GridCell(time, "bad" if over else ""), memory, source
