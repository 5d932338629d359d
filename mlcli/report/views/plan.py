"""What is judged and how, as it stands above each table, and the plan of an experiment before it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from mlcli.core.names import counted, listed
from mlcli.core.quantities import duration, size
from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import AS_SAVED, POOLED, Cell
from mlcli.experiment.spec.labels import as_typed, distinct_labels, settings_of
from mlcli.report.document import Content, Document, Element, GridCell, Heading, Sentence, grid, notes
from mlcli.report.views.remarks import steps_of
from mlcli.scoring.model_results import table_key
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.store.estimates import CellEstimate

ROLES_SHOWN = {"group": "rows kept together by", "weight": "rows weighted by", "part": "parts in"}


def opening(cells: Sequence[Cell]) -> Iterator[Element]:
    """What a table is about: dataset, task, protocols, and what was guessed."""
    protocols = dict.fromkeys(map(protocol_words, cells))
    yield Heading(subject_of(cells[0]), 1)
    subject = f"{_rows_text(cells)}, {_features_text(cells[0])}{_roles_text(cells[0])}"
    yield Sentence(f"{subject}; {'; '.join(protocols)}; random seed {cells[0].seed}")
    if matches := _notes_on(cells):
        yield notes(*matches, mark="-")


def _notes_on(cells: Sequence[Cell]) -> list[str]:
    """What is said of the dataset; of several protocols also what is said of how one of them splits it."""
    every: dict[str, dict[str, None]] = {}
    for cell in cells:
        for note in cell.dataset.notes:
            every.setdefault(note, {})[cell.protocol.use] = None
    protocols = len({cell.protocol.use for cell in cells})
    return [note if len(of) == protocols else f"{', '.join(of)}: {note}" for note, of in every.items()]


def _rows_text(cells: Sequence[Cell]) -> str:
    """How many rows there are, how many of them nothing can be judged by, and what learns from them."""
    data = cells[0].dataset
    rows = counted(len(data), "row")
    if not data.unlabelled:
        return rows
    learners = list(dict.fromkeys(cell.label for cell in cells if learns_from_unlabelled(cell)))
    if learners:
        return f"{rows} ({data.unlabelled:,} without a target, used by {listed(learners)} only)"
    left_out = " left out" if kind_named(cells[0].kind).target == "needed" else ""
    return f"{rows} ({data.unlabelled:,} without a target{left_out})"


def learns_from_unlabelled(cell: Cell) -> bool:
    """Whether the model of a cell learns from rows without a target, beside those that have one."""
    model = cell.model
    if model.saved or not model.is_installed:
        return False
    steps = [step.built() for step in cell.steps if step.is_installed]
    return any(part.accepts.unlabelled for part in (*steps, model.built()))


def _roles_text(cell: Cell) -> str:
    """What changes how rows are split or counted."""
    generator = ((words, cell.dataset.schema.the(role)) for role, words in ROLES_SHOWN.items())
    return "".join(f"; {words} '{column.name}'" for words, column in generator if column is not None)


def _features_text(cell: Cell) -> str:
    """How many features there are, or what the kind of task counts instead."""
    schema = cell.dataset.schema
    known = ((role, schema.the(role)) for role in kind_named(cell.kind).counts)
    levels = [counted(len(column.levels), role) for role, column in known if column]
    sensitive = sum(column.sensitive for column in schema.features())
    beside = f" and {counted(sensitive, 'sensitive column')}" if sensitive else ""
    return ", ".join(levels) or counted(len(schema.features()) - sensitive, "feature") + beside


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


Known = Sequence["CellEstimate | None"]
"""What each cell may take; None where there is no store that could know."""


def plan_of(cells: Sequence[Cell], estimates: Known) -> Document:
    """The cells by dataset, then how many there are, and how long they may take."""
    estimate_of = dict(zip(cells, estimates, strict=True)) if any(estimates) else {}
    skipped = sum(bool(cell.skipped) for cell in cells)
    left_out = f"; {skipped} cannot be run" if skipped else ""
    elements: list[Element] = []
    for _, group in groupby(cells, table_key):
        elements += _dataset_elements(list(group), estimate_of)
    stored = sum(
        not cell.skipped and _is_stored(estimate) for cell, estimate in zip(cells, estimates, strict=True)
    )
    kept = f"; in the store already: {stored}" if estimate_of else ""
    sentence = Sentence(f"{counted(len(cells) - skipped - stored, 'cell')} to run{kept}{left_out}", "strong")
    return (*elements, sentence, *_total_estimate(cells, estimate_of))


def _total_estimate(cells: Sequence[Cell], estimate_of: Mapping[Cell, CellEstimate | None]) -> Iterator[Element]:
    if not estimate_of:
        return
    known = [estimate for cell in cells if not cell.skipped and (estimate := estimate_of[cell]) is not None]
    unknown = sum(estimate.seconds is None and not _is_stored(estimate) for estimate in known)
    peaks = [
        estimate.memory for estimate in known if estimate.memory is not None and estimate.stored < estimate.splits
    ]
    work = sum(estimate.seconds or 0.0 for estimate in known)
    most = f", at most {size(max(peaks))} of memory at a time beside program and tables" if peaks else ""
    rest = f"; of {counted(unknown, 'cell')} the store has not seen the like" if unknown else ""
    yield notes(f"estimate for what is to run: {duration(work)} of one core{most}{rest}")


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
    learned = {name: counted(cell.learned_rows, "row") for cell, name in names.items() if cell.learned_rows}
    yield from opening(cells)
    yield grid(["model", "parameters", "steps before it", *more], rows, right=(3, 4) if more else ())
    yield notes(
        *(f"{name} is skipped: {cell.skipped}" for cell, name in names.items() if cell.skipped),
        *(f"{name} has learned from {rows_seen} of these" for name, rows_seen in learned.items()),
    )


def _estimate_cells(cell: Cell, estimate: CellEstimate | None) -> tuple[Content, Content, Content]:
    if estimate is None or cell.skipped:
        return "-", "-", "-"
    if _is_stored(estimate):
        return "0 s", "-", "in the store"
    if estimate.seconds is None:
        return "?", "?", "nothing yet"
    over = cell.budget is not None and estimate.seconds > cell.budget
    about = duration(estimate.seconds) if estimate.seconds >= 1 else "under a second"
    stored = f", {estimate.stored} of {estimate.splits} splits stored" if estimate.stored else ""
    source = estimate.known_from + stored + ", more than its budget" * over
    return (
        GridCell(about, "bad" if over else ""),
        "?" if estimate.memory is None else size(estimate.memory),
        source,
    )
