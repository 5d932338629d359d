"""What stands above a table: dataset, task, rows and columns, protocols, and what was guessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.names import counted, listed
from mlcli.experiment.spec.cells import AS_SAVED, POOLED, Cell
from mlcli.experiment.spec.labels import as_typed
from mlcli.report.document import Element, Heading, Sentence, notes
from mlcli.tasks.table import kind_named

ROLES_SHOWN = {"group": "rows kept together by", "weight": "rows weighted by", "part": "parts in"}


def opening(cells: Sequence[Cell]) -> Iterator[Element]:
    """What a table is about: dataset, task, protocols, and what was guessed."""
    protocols = dict.fromkeys(map(protocol_words, cells))
    yield Heading(subject_of(cells[0]), 1)
    subject = f"{_rows_text(cells)}, {_features_text(cells[0])}{_roles_text(cells[0])}"
    yield Sentence(f"{subject}; {'; '.join(protocols)}; random seed {cells[0].seed}")
    if found := _notes_on(cells):
        yield notes(*found, mark="-")


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
        return f"{rows} ({data.unlabelled:,} without a target, of use to {listed(learners)} only)"
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
    found = ((words, cell.dataset.schema.the(role)) for role, words in ROLES_SHOWN.items())
    return "".join(f"; {words} '{column.name}'" for words, column in found if column is not None)


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
        return "saved models are asked about all rows as they are"
    settings = ", ".join(f"{key.replace('_', ' ')} {as_typed(one)}" for key, one in cell.protocol.params.items())
    words = f"{cell.protocol.use} ({settings})" if settings else cell.protocol.use
    return f"{words}, scores of all answers at once" if cell.average == POOLED else words
