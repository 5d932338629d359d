"""The runs of a store, as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mlcli.experiment.store.runs import RunFacts
from mlcli.report.document import Cell, Content, Document, Sentence, grid, notes


def runs_of(runs: Sequence[RunFacts]) -> Document:
    """Every run with what it was; newest last."""
    if not runs:
        return (Sentence("No run yet."),)
    table = grid(["id", "started", "run", "cells", "seed", "from"], [_row(run) for run in runs], right=(0, 3, 4))
    return table, notes("mlcli runs ID shows one again")


def runs_as_json(runs: Sequence[RunFacts]) -> dict[str, Any]:
    """The list as plain values."""
    return {"runs": [asdict(run) for run in runs]}


def _row(run: RunFacts) -> list[Content]:
    started = run.started.replace("T", " ").removesuffix("+00:00")
    title = Cell(run.title, "strong") if run.finished else Cell(f"{run.title} (not finished)", "bad")
    return [str(run.id), started, title, str(run.cells), str(run.seed), run.source or ""]
