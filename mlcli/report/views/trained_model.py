"""What a model has learned from all rows, as a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import DataError, UsageError, placed
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import refuse_impossible
from mlcli.core.names import counted
from mlcli.core.pipeline import adjustable_parameters, decision_in_words, final_for
from mlcli.core.processes import one_blas_thread
from mlcli.core.registry import MODELS
from mlcli.core.serialise import shown
from mlcli.core.tables import Array, Rows, Table
from mlcli.data.source import is_number
from mlcli.engines.column_effects import column_effects
from mlcli.experiment.results import Trained
from mlcli.experiment.run.reproduction import SHOWN
from mlcli.experiment.spec.cells import Cell, settings_of
from mlcli.report.columns import PREDICTION, Columns, predictions_of
from mlcli.report.document import Document, Heading, Sentence, explained, notes, short
from mlcli.report.views.plan import ARROW, learns_from_unlabelled, steps_of, subject_of
from mlcli.scoring.records import CellRecord, cell_record
from mlcli.tasks.sequence_labelling import in_order
from mlcli.tasks.sequence_windows import numbered_by_appearance
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.data.new_rows import AlignedRows
    from mlcli.experiment.saved.saved_model import SavedModel

MOST_EXPLAINED = 20
"""How many rows are explained where none are chosen."""
MOST_OUTPUTS = 5
SCORE = "score"


def trained_of(cell: Cell, trained: Trained, answers: Explanation = ()) -> Document:
    """The model, its steps, notes and warnings, what it learned, and ``answers`` to queries."""
    count = adjustable_parameters(trained.pipeline, trained.rows.table)
    complexity = "" if count is None else f"; {short(count)} adjustable parameter{'s' * (count != 1)}"
    settings = settings_of(cell.model, MODELS) or "default parameters"
    steps = steps_of(cell)
    learned, unlabelled = counted(len(trained.rows), "row"), len(cell.dataset) - len(trained.rows)
    if unlabelled != cell.dataset.unlabelled:  # the kind of task left out rows that have a target
        learned = f"{len(trained.rows):,} of {counted(len(cell.dataset), 'row')}"
    elif unlabelled and learns_from_unlabelled(cell):
        learned += f", and from {unlabelled:,} more that have no target"
    elif unlabelled:
        learned += f" ({unlabelled:,} without a target left out)"
    return (
        Heading(f"{cell.model.use} on {subject_of(cell)}", 1),
        Sentence(f"learned from {learned}; {settings}{complexity}"),
        *([Sentence(f"steps before it: {steps}")] if steps else []),
        notes(*cell.dataset.notes, *(f"warning: {text}" for text in trained.warnings), mark="-"),
        *explained((*_findings_of(cell, trained), *answers)),
    )


def _findings_of(cell: Cell, trained: Trained) -> Explanation:
    """What the model has learned, and what its kind of task shows of the training rows."""
    described_at = kind_named(cell.kind).described_at
    more: Explanation = named(described_at)(trained) if described_at else ()
    return (*trained.pipeline.explain(), *more)


def saved_model_of(name: str, saved: SavedModel) -> Document:
    """What a saved model has learned, and from what."""
    final = saved.pipeline.final
    target = f" of {saved.target.name}" if saved.target else ""
    steps = ARROW.join(step.id for step in saved.pipeline.all_steps())
    return (
        Heading(f"{name}: {final.name} for {saved.kind}{target}", 1),
        Sentence(f"learned from {counted(saved.rows, 'row')} of {saved.dataset}; seed {saved.seed}"),
        *([Sentence(f"steps before it: {steps}")] if steps else []),
        notes(f"made by mlcli {saved.version}; SHA-256 of the data {saved.content[:SHOWN]}"),
        *explained(saved.pipeline.explain()),
    )


@dataclass(frozen=True)
class SavedModelRecord:
    """A saved model: what it has learned, and from what."""

    model: str
    kind: str
    dataset: str
    rows: int
    seed: int
    version: str
    findings: Explanation


@dataclass(frozen=True)
class TrainedRecord:
    """A model that has learned from all rows."""

    cell: CellRecord = field(metadata=shown(merged=True))
    rows_learned_from: int
    adjustable_parameters: float | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    findings: Explanation


def saved_model_record(saved: SavedModel) -> SavedModelRecord:
    """What ``--json`` writes of a saved model."""
    name, explanation = saved.pipeline.final.name, saved.pipeline.explain()
    return SavedModelRecord(name, saved.kind, saved.dataset, saved.rows, saved.seed, saved.version, explanation)


def trained_record(cell: Cell, trained: Trained, answers: Explanation = ()) -> TrainedRecord:
    """What ``--json`` writes of a trained model."""
    return TrainedRecord(
        cell_record(cell),
        len(trained.rows),
        adjustable_parameters(trained.pipeline, trained.rows.table),
        cell.dataset.notes,
        tuple(trained.warnings),
        (*_findings_of(cell, trained), *answers),
    )


@dataclass(frozen=True)
class ExplainedAnswer:
    """What is predicted for a row, or a sequence of rows, and why."""

    what: str
    answer: str
    findings: Explanation


def explained_answers_of(answers: Sequence[ExplainedAnswer], left_out: int) -> Document:
    """Each under its own heading."""
    elements: Document = ()
    for answer in answers:
        title = f"{answer.what}: {answer.answer}" if answer.answer else answer.what
        elements += (Heading(title, 1), *explained(answer.findings))
    return (*elements, Sentence(f"{counted(left_out, 'more row')} left out")) if left_out else elements


def answers_explained(saved: SavedModel, rows: AlignedRows, chosen: Sequence[int] = ()) -> list[ExplainedAnswer]:
    """The predictions of the chosen rows, or of the first ones; rows are numbered from 1."""
    if not len(rows):
        raise DataError("has column names but no rows", where=rows.records.name)
    for number in chosen:
        if not 1 <= number <= len(rows):
            raise UsageError(f"there is no row {number}", hint=f"the rows are 1 to {len(rows)}")
    predicted = cache(lambda: predictions_of(saved, rows))
    with one_blas_thread():
        units = _predicted_together(saved, rows, chosen)
        answers = [_explained_answer(saved, rows, predicted, what, indices) for what, indices in units]
    if not any(answer.findings for answer in answers):
        what = f"{saved.pipeline.final.name} cannot show how it comes to an answer"
        raise UsageError(what, hint="mlcli train shows what a method has learned")
    return answers


def _predicted_together(saved: SavedModel, rows: AlignedRows, chosen: Sequence[int]) -> Iterator[tuple[str, Rows]]:
    """Each row for itself, or the sequences in which the rows stand; the first 20 rows where none are chosen."""
    indices = np.array(chosen, np.intp) - 1 if chosen else np.arange(min(len(rows), MOST_EXPLAINED))
    beside = rows.texts(saved.by_role)
    if "sequence" not in kind_named(saved.kind).roles or "sequence" not in beside:
        yield from ((f"Row {row + 1}", np.array([row])) for row in indices.tolist())
        return
    names = beside["sequence"]
    order = np.array(beside["order"], np.float64) if "order" in beside else None
    sequence = numbered_by_appearance(names)
    sorted_rows = in_order(sequence, order)
    for number in dict.fromkeys(sequence[indices].tolist()):
        inside = sorted_rows[sequence[sorted_rows] == number]
        yield f"Sequence {names[inside[0]]}", inside


def _explained_answer(
    saved: SavedModel, rows: AlignedRows, predicted: Callable[[], Columns], what: str, indices: Rows
) -> ExplainedAnswer:
    model: Any = final_for(saved.pipeline, indices)
    table = rows.table.take(indices)
    try:
        prepared = saved.pipeline.prepared(table)
    except DataError as error:
        where = f"{rows.records.name}, {what[0].lower()}{what[1:]}"
        raise DataError(*placed(error.problems, where)) from None
    own = model.explain_answer(prepared) if isinstance(model, RowExplainer) else ()
    task = kind_named(saved.kind).task
    names = task.output_names(model)
    if not names:
        return ExplainedAnswer(what, _predicted_in_words(predicted(), indices.tolist()), own)

    def outputs_of(rows: Table) -> Array:
        result: Array = task.outputs_of(model, saved.pipeline.prepared(rows))
        refuse_impossible(model, result, np.shape(result))
        return result

    outputs, row = outputs_of(table)[0], int(indices[0])
    if rule := decision_in_words(model):
        flagged = predicted().get("flagged")
        decided = rule if flagged is None else f"{'flagged' if flagged[row] == 'yes' else 'not flagged'}; {rule}"
        own = (*own, Lines("How it is decided", (decided,)))
    if SCORE in names and (beside := _beside_the_others(predicted(), row, float(outputs[0]))):
        return ExplainedAnswer(what, f"{SCORE} = {short(float(predicted()[SCORE][row]))}", (*own, beside))
    chosen = task.answered_output(model, outputs)
    order = [chosen, *(k for k in np.argsort(-outputs, kind="stable").tolist() if k != chosen)]
    answer = ", ".join(f"{names[k]} = {short(float(outputs[k]))}" for k in order[:MOST_OUTPUTS])
    if rule and SCORE not in names:
        answer = f"{model.classes_[chosen]}, with {answer}"
    return ExplainedAnswer(what, answer, (*own, column_effects(outputs_of, table, saved.usual, names, chosen)))


def _predicted_in_words(predicted: Columns, indices: Sequence[int]) -> str:
    """The tags of a sequence, the prediction of a row, or the first numbers that it is given with their names."""
    if PREDICTION in predicted:
        return " ".join(predicted[PREDICTION][index] for index in indices)
    cells = [(name, cells[indices[0]]) for name, cells in list(predicted.items())[:MOST_OUTPUTS]]
    return ", ".join(f"{name} = {short(float(cell)) if is_number(cell) else cell}" for name, cell in cells)


def _beside_the_others(predicted: Columns, row: int, alone: float) -> Lines | None:
    """Why a detector scores a row otherwise among the rows of its file; None where it does not."""
    if isclose(float(predicted[SCORE][row]), alone, rel_tol=1e-9, abs_tol=1e-12):
        return None
    because = predicted["because"][row] if "because" in predicted else ""
    reasons = (f"main contributions: {because}",) if because else ()
    return Lines(
        "Scored beside the other rows of the file",
        (f"scored alone, as a new row, it would have {short(alone)}", *reasons),
    )
