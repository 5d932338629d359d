"""What a model has learned from all rows, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlcli.core.findings import Explanation, as_json
from mlcli.core.registry import MODELS
from mlcli.experiment.run.fingerprint import SHOWN
from mlcli.experiment.run.learner import Trained
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.labels import settings_of
from mlcli.report.document import Document, Heading, Sentence, explained, notes
from mlcli.report.numbers import counted, short
from mlcli.report.views.remarks import ARROW, steps_of
from mlcli.report.views.results import learns_from_unlabelled, subject_of
from mlcli.report.views.results_as_json import cell_as_json, plain
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel


def trained_of(cell: Cell, trained: Trained, answers: Explanation = ()) -> Document:
    """The model, what stands before it, notes and warnings, what it learned, and its answers to questions."""
    count = _adjustable_parameters(trained)
    complexity = "" if count is None else f"; {short(count)} adjustable parameters"
    settings = settings_of(cell.model, MODELS) or "default parameters"
    remarks = [*cell.dataset.notes, *(f"warning: {text}" for text in trained.warnings)]
    return (
        Heading(f"{cell.model.use} on {subject_of(cell)}", 1),
        Sentence(f"learned from {_rows_of(cell, trained)}; {settings}{complexity}"),
        *_steps(steps_of(cell)),
        notes(*remarks, mark="-"),
        *explained((*_said(cell, trained), *answers)),
    )


def saved_model_of(name: str, saved: SavedModel) -> Document:
    """What a saved model has learned, and from what."""
    final = saved.pipeline.final
    target = f" of {saved.target.name}" if saved.target else ""
    return (
        Heading(f"{name}: {final.name} for {saved.kind}{target}", 1),
        Sentence(f"learned from {counted(saved.rows, 'row')} of {saved.dataset}; seed {saved.seed}"),
        *_steps(ARROW.join(step.id for step in saved.pipeline.all_steps())),
        notes(f"made by mlcli {saved.version}; SHA-256 of the data {saved.content[:SHOWN]}"),
        *explained(saved.pipeline.explain()),
    )


def saved_model_as_json(saved: SavedModel) -> dict[str, Any]:
    """The same as plain values."""
    about = {"model": saved.pipeline.final.name, "kind": saved.kind, "dataset": saved.dataset, "rows": saved.rows}
    found = [as_json(finding) for finding in saved.pipeline.explain()]
    return {**about, "seed": saved.seed, "version": saved.version, "findings": plain(found)}


def trained_as_json(cell: Cell, trained: Trained, answers: Explanation = ()) -> dict[str, Any]:
    """The same as plain values."""
    found = [as_json(finding) for finding in (*_said(cell, trained), *answers)]
    remarks = {"notes": list(cell.dataset.notes), "warnings": list(trained.warnings)}
    known = {"rows_learned_from": len(trained.rows), "adjustable_parameters": _adjustable_parameters(trained)}
    return {**cell_as_json(cell), **known, **remarks, "findings": plain(found)}


def _said(cell: Cell, trained: Trained) -> Explanation:
    """What the model says of itself, and what its kind of task has to show of the rows that it learned from."""
    described_at = kind_named(cell.kind).described_at
    more: Explanation = named(described_at)(trained) if described_at else ()
    return (*trained.pipeline.explain(), *more)


def _steps(steps: str) -> Document:
    return (Sentence(f"steps before it: {steps}"),) if steps else ()


def _adjustable_parameters(trained: Trained) -> float | None:
    prepared = trained.pipeline.prepared(trained.rows.table)
    count: float | None = trained.pipeline.final.adjustable_parameters(prepared)
    return count


def _rows_of(cell: Cell, trained: Trained) -> str:
    rows, unlabelled = counted(len(trained.rows), "row"), len(cell.dataset) - len(trained.rows)
    if not unlabelled:
        return rows
    if unlabelled != cell.dataset.unlabelled:  # its kind of task has left out rows that have a target
        return f"{len(trained.rows):,} of {counted(len(cell.dataset), 'row')}"
    if learns_from_unlabelled(cell):
        return f"{rows}, and from {unlabelled:,} more that have no target"
    return f"{rows} ({unlabelled:,} without a target left out)"
