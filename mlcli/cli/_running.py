"""From experiments to tables: plan all, run all, show all; what ``eval`` and ``run`` have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlcli.api.running import RunOptions, answered
from mlcli.checks.audit import foreseen
from mlcli.cli._console import is_terminal, remark, show, show_json
from mlcli.cli._endings import leave_by
from mlcli.cli._foreseen import ask_before_hours, planned_and_foreseen
from mlcli.cli._groups import Gates, Views
from mlcli.cli._pages import Pages
from mlcli.cli._progress import Progress
from mlcli.experiment.spec.cells import Cell, Experiment
from mlcli.report.as_json import results_as_json
from mlcli.report.document import Document, Element
from mlcli.report.formats import JSON, TEXT
from mlcli.report.gates import gates_as_elements, gates_as_json
from mlcli.report.outcome import Outcome, outcome_of
from mlcli.report.results import Parts, results_of
from mlcli.report.scored import Scored

StorePath = Callable[[Experiment], Path | None]
"""Where the answers of an experiment are kept, if anywhere."""


def run_and_show(
    experiments: Sequence[Experiment],
    place_of: StorePath,
    options: RunOptions,
    views: Views,
    gates: Gates,
    pages: Pages,
    format: str,
) -> None:
    """Run experiments, show what they found, and leave with the exit code that tells how it went."""
    planned = planned_and_foreseen(experiments)
    if sys.stdin.isatty() and is_terminal(sys.stderr):
        ask_before_hours([(cells, place_of(experiment)) for experiment, cells in planned], options)
    outcomes: list[Outcome] = []
    parts = replace(views.parts(), fair=views.fair or any(experiment.fair for experiment in experiments))
    for experiment, cells in planned:
        place = place_of(experiment)
        outcomes.append(outcome_of(experiment, _scored(experiment, cells, place, options), place))
        if format == TEXT:
            show(_document(outcomes[-1], parts))
    if format == JSON:
        show_json(_plain(outcomes, parts))
    elif format != TEXT:
        show(tuple(element for outcome in outcomes for element in _document(outcome, parts)), format)
    gates.write(outcomes)
    pages.write(lambda: _report(experiments, outcomes))
    leave_by(outcomes)


def _document(outcome: Outcome, parts: Parts) -> Document:
    return (*results_of(outcome.found, parts), *gates_as_elements(outcome.gates))


def _plain(outcomes: Sequence[Outcome], parts: Parts) -> dict[str, Any]:
    gates = [gate for outcome in outcomes for gate in gates_as_json(outcome.gates)]
    found = [one for outcome in outcomes for one in outcome.found]
    return {**results_as_json(found, curves=parts.curves, fair=parts.fair), **({"gates": gates} if gates else {})}


def _report(experiments: Sequence[Experiment], outcomes: Sequence[Outcome]) -> Document:
    from mlcli.report.whole import Made, made_by_file, report_of

    elements: list[Element] = []
    for experiment, outcome in zip(experiments, outcomes, strict=True):
        typed = f"mlcli {shlex.join(sys.argv[1:])}"
        made = made_by_file(experiment.source) if experiment.source else Made(outcome.title, typed)
        elements += [*report_of(outcome.found, made), *gates_as_elements(outcome.gates)]
    return tuple(elements)


def _scored(
    experiment: Experiment, cells: Sequence[Cell], place: Path | None, options: RunOptions
) -> list[Scored]:
    """The scores of the cells, their progress shown meanwhile."""
    try:
        with Progress(cells, foreseen(cells)) as progress:
            found = answered(experiment, cells, place, options, progress)
    except KeyboardInterrupt:
        if place is not None:
            remark(f"\nfinished answers are kept in {place}; the same command does only the rest")
        raise
    possible = [one.result for one in found if one.result.status != "skipped"]
    known = sum(result.stored for result in possible)
    if known:
        remark(f"{known} of {len(possible)} cells were in {place} already")
    return found


def beside(experiment: Experiment) -> Path:
    """Where its answers are kept if nobody says otherwise."""
    from mlcli.experiment.store.store import DEFAULT_PLACE

    assert experiment.source is not None
    return experiment.source.parent / DEFAULT_PLACE
