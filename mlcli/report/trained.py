"""What a model has learned from all rows, as a document."""

from __future__ import annotations

from typing import Any

from mlcli.core.findings import Explanation, as_json
from mlcli.core.registry import MODELS
from mlcli.experiment.run.learner import Trained
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.labels import settings_of
from mlcli.report.as_json import cell_as_json, plain
from mlcli.report.document import Document, Heading, Notes, Sentence
from mlcli.report.findings import explained
from mlcli.report.numbers import counted, short
from mlcli.report.remarks import steps_of
from mlcli.report.results import learns_from_unlabelled, subject_of


def trained_of(cell: Cell, trained: Trained, answers: Explanation = ()) -> Document:
    """The model, what stands before it, notes and warnings, what it learned, and its answers to questions."""
    steps = steps_of(cell)
    settings = settings_of(cell.model, MODELS) or "default parameters"
    remarks = [*cell.dataset.notes, *(f"warning: {text}" for text in trained.warnings)]
    return (
        Heading(f"{cell.model.use} on {subject_of(cell)}", 1),
        Sentence(f"learned from {_rows_of(cell, trained)}; {settings}{_complexity(trained)}"),
        *([Sentence(f"steps before it: {steps}")] if steps else []),
        Notes(tuple(("-", text) for text in remarks)),
        *explained((*trained.pipeline.explain(), *answers)),
    )


def trained_as_json(cell: Cell, trained: Trained, answers: Explanation = ()) -> dict[str, Any]:
    """The same as plain values."""
    found = [as_json(finding) for finding in (*trained.pipeline.explain(), *answers)]
    remarks = {"notes": list(cell.dataset.notes), "warnings": list(trained.warnings)}
    known = {"rows_learned_from": len(trained.rows), "adjustable_parameters": _adjustable_parameters(trained)}
    return {**cell_as_json(cell), **known, **remarks, "findings": plain(found)}


def _complexity(trained: Trained) -> str:
    """How many numbers the fit has adjusted, where that is known."""
    count = _adjustable_parameters(trained)
    return "" if count is None else f"; {short(count)} adjustable parameters"


def _adjustable_parameters(trained: Trained) -> float | None:
    prepared = trained.pipeline.prepared(trained.rows.table)
    count: float | None = trained.pipeline.final.adjustable_parameters(prepared)
    return count


def _rows_of(cell: Cell, trained: Trained) -> str:
    """What it has learned from, and what became of the other rows."""
    rows, unlabelled = counted(len(trained.rows), "row"), len(cell.dataset) - len(trained.rows)
    if not unlabelled:
        return rows
    if unlabelled != cell.dataset.unlabelled:  # its kind of task has left out rows that have a target
        return f"{len(trained.rows):,} of {counted(len(cell.dataset), 'row')}"
    if learns_from_unlabelled(cell):
        return f"{rows}, and from {unlabelled:,} more that have no target"
    return f"{rows} ({unlabelled:,} without a target left out)"
