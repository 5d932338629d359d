"""A plan: the cells that an experiment would run, with the steps before each model, and how long they may take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mlcli.core.names import counted
from mlcli.core.quantities import duration, size
from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.labels import distinct_labels, settings_of
from mlcli.report.document import Content, Document, Element, GridCell, Sentence, grid, notes
from mlcli.report.scoring.scored import table_key
from mlcli.report.views.opening import opening
from mlcli.report.views.remarks import steps_of

if TYPE_CHECKING:
    from mlcli.experiment.store.estimates import CellEstimate


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
    stored = sum(not cell.skipped and _is_stored(one) for cell, one in zip(cells, estimates, strict=True))
    kept = f"; in the store already: {stored}" if estimate_of else ""
    sentence = Sentence(f"{counted(len(cells) - skipped - stored, 'cell')} to run{kept}{left_out}", "strong")
    return (*elements, sentence, *_total_estimate(cells, estimate_of))


def _total_estimate(cells: Sequence[Cell], estimate_of: Mapping[Cell, CellEstimate | None]) -> Iterator[Element]:
    if not estimate_of:
        return
    known = [one for cell in cells if not cell.skipped and (one := estimate_of[cell]) is not None]
    unknown = sum(one.seconds is None and not _is_stored(one) for one in known)
    peaks = [one.memory for one in known if one.memory is not None and one.stored < one.splits]
    work = sum(one.seconds or 0.0 for one in known)
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


def plan_as_json(cells: Sequence[Cell], estimates: Known) -> dict[str, Any]:
    """The plan as plain values."""
    from mlcli.report.views.results_as_json import cell_as_json, given

    def planned(cell: Cell, estimate: CellEstimate | None) -> dict[str, Any]:
        about = asdict(estimate) if estimate and not cell.skipped else None
        return cell_as_json(cell) | given({"skipped": cell.skipped, "estimate": about})

    return {"cells": list(map(planned, cells, estimates))}
