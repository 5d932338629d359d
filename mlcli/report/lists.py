"""Lists: the cells that an experiment would run, with the steps before each model, and the runs of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.labels import distinct_labels, settings_of
from mlcli.report.document import Content, Document, Element, Field, Grid, Sentence, grid, notes
from mlcli.report.naming import comparable
from mlcli.report.numbers import counted
from mlcli.report.remarks import steps_of
from mlcli.report.results import opening

if TYPE_CHECKING:
    from mlcli.experiment.store.runs import RunFacts


def plan_of(cells: Sequence[Cell]) -> Document:
    """The cells by dataset, then how many there are."""
    skipped = sum(bool(cell.skipped) for cell in cells)
    left_out = f"; {skipped} cannot be run" if skipped else ""
    elements = [element for _, group in groupby(cells, comparable) for element in _group(list(group))]
    return (*elements, Sentence(f"{counted(len(cells) - skipped, 'cell')} to run{left_out}", "strong"))


def _group(cells: Sequence[Cell]) -> Iterator[Element]:
    yield from opening(cells)
    names = distinct_labels([cell.model for cell in cells])
    yield _grid(cells, names)
    yield notes(
        *(f"{name} is skipped: {cell.skipped}" for name, cell in zip(names, cells, strict=True) if cell.skipped),
        *(
            f"{name} has learned from {counted(cell.learned_rows, 'row')} of these"
            for name, cell in zip(names, cells, strict=True)
            if cell.learned_rows
        ),
    )


def _grid(cells: Sequence[Cell], names: Sequence[str]) -> Grid:
    rows: list[list[Content]] = [
        [
            Field(name, "weak" if cell.skipped else "strong"),
            settings_of(cell.model, MODELS),
            "-" if cell.skipped else steps_of(cell),
        ]
        for name, cell in zip(names, cells, strict=True)
    ]
    return grid(["model", "parameters", "steps before it"], rows)


def plan_as_json(cells: Sequence[Cell]) -> dict[str, Any]:
    """The plan as plain values."""
    from mlcli.report.as_json import cell_as_json

    return {
        "cells": [{**cell_as_json(cell), **({"skipped": cell.skipped} if cell.skipped else {})} for cell in cells]
    }


def runs_of(runs: Sequence[RunFacts]) -> Document:
    """Every run with what it was; newest last."""
    if not runs:
        return (Sentence("No run yet."),)
    table = grid(["id", "started", "run", "cells", "seed", "from"], [_run(run) for run in runs], right=(0, 3, 4))
    return table, notes("mlcli runs ID shows one again")


def runs_as_json(runs: Sequence[RunFacts]) -> dict[str, Any]:
    """The list as plain values."""
    return {"runs": [asdict(run) for run in runs]}


def _run(run: RunFacts) -> list[Content]:
    started = run.started.replace("T", " ").removesuffix("+00:00")
    title = Field(run.title, "strong") if run.finished else Field(f"{run.title} (not finished)", "bad")
    return [str(run.id), started, title, str(run.cells), str(run.seed), run.source or ""]
