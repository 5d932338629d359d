"""How a command ends: what did not go as it was asked for, and the exit code that says so."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from mlcli.cli._console import remark
from mlcli.core.errors import ExitCode, ModelFileError
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.spec.instead import method_instead
from mlcli.report.numbers import counted
from mlcli.report.outcome import Outcome
from mlcli.tasks.table import kind_named

BROKEN = ("failed", "over-budget", "died")


def leave_by(outcomes: Sequence[Outcome]) -> None:
    """Say what did not go as it was asked for, if anything, and leave with its exit code."""
    found = [one for outcome in outcomes for one in outcome.found]
    broken = sum(one.result.status in BROKEN for one in found)
    damaged = {str(one.cell.model.saved): None for one in found if _is_at_fault(one.result)}
    skipped = dict.fromkeys(_with_another(one.cell) for outcome in outcomes for one in outcome.skipped)
    failed = sum(not gate.passed for outcome in outcomes for gate in outcome.gates)
    if broken:
        remark(f"{broken} of {len(found)} cells did not end well; each says why above")
    if skipped:
        remark(f"skipped, though asked for: {', '.join(skipped)}; each says why above")
    if failed:
        remark(f"{counted(failed, 'gate')} failed; the table of gates says which")
    if damaged:
        remark(f"damaged, since it breaks when it is asked: {', '.join(damaged)}; train it again")
        raise typer.Exit(ExitCode.MODEL_FILE)
    if broken or skipped:
        raise typer.Exit(ExitCode.CELLS)
    if failed:
        raise typer.Exit(ExitCode.UNMET)


def _with_another(cell: Cell) -> str:
    """The name of a model that was skipped, with the method that does the task."""
    if cell.model.saved is not None or " does " not in cell.skipped:
        return cell.label
    return f"{cell.label} ({method_instead(cell.model.use, kind_named(cell.kind))} does {cell.kind})"


def _is_at_fault(result: CellResult) -> bool:
    """Whether a saved model broke while it was asked, rather than refused the rows in words."""
    broke = result.status == "died" or ModelFileError.__name__ in result.trace
    return result.cell.model.saved is not None and broke
