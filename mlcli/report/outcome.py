"""How an experiment went for who asked: its cells, its gates, and what was skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mlcli.experiment.spec.cells import CellResult, Experiment
from mlcli.report.gates import Gate, gates_of
from mlcli.report.scored import Scored

SKIPPED = "skipped"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of an experiment."""

    title: str
    found: Sequence[Scored]
    gates: Sequence[Gate]
    skipped: Sequence[Scored]
    """Cells of models that were asked for, and skipped."""


def outcome_of(experiment: Experiment, found: Sequence[Scored], store: Path | None) -> Outcome:
    """The cells with what was expected of them; runs that are referred to are in the store."""

    @lru_cache
    def run_named(name: str) -> Sequence[CellResult]:
        from mlcli.experiment.store.named_runs import named_run

        return named_run(name, store)[1]

    return Outcome(
        experiment.title, found, gates_of(experiment.expect, found, run_named), _skipped(experiment, found)
    )


def _skipped(experiment: Experiment, found: Sequence[Scored]) -> list[Scored]:
    """Cells of models that were asked for and skipped, but where the model does another kind that is here, too."""
    asked = {model.use for model in experiment.models or () if model.saved is None}
    kinds_done = {(one.cell.model.use, one.cell.kind) for one in found if one.result.status != SKIPPED}
    return [
        one
        for one in found
        if one.result.status == SKIPPED
        and (one.cell.model.saved or one.cell.model.use in asked)
        and not any(use == one.cell.model.use and kind != one.cell.kind for use, kind in kinds_done)
    ]
