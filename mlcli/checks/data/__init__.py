"""Checks of a dataset, before any model has learned from it.

Some of them ``eval`` and ``run --dry-run`` make while planning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mlcli.checks.context import AuditContext, context_as_planned
from mlcli.checks.data import columns, rows, splits
from mlcli.core.findings import Check, Issue, code_of, found_by, is_serious
from mlcli.core.processes import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.plan import Plan, PlannedIssue

AT_A_GLANCE: tuple[Check[AuditContext], ...] = (
    columns.nothing_to_learn_from,
    splits.one_class,
    splits.one_value,
    columns.identifiers,
    columns.leaks,
    splits.groups_cut,
    splits.time_ignored,
    rows.duplicates,
    rows.unused_weights,
    rows.odd_weights,
    columns.given_parts,
)
"""The checks of ``eval``: each takes no longer than reading the table."""
BEFORE_IT_RUNS: tuple[Check[AuditContext], ...] = (*AT_A_GLANCE, splits.splitting)
"""The checks of ``run --dry-run``: these, and what a protocol cannot do well."""


def issues_by(checks: Sequence[Check[AuditContext]], context: AuditContext) -> list[Issue]:
    """What checks find in a dataset; overflow in computations is no issue."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return found_by(checks, context)


def with_issues(plan: Plan, noted: Sequence[Check[AuditContext]] = AT_A_GLANCE) -> Plan:
    """The plan with the issues of its datasets; serious issues of the ``noted`` checks become notes on them."""
    codes = {code_of(check) for check in noted}
    planned_issues: list[PlannedIssue] = []
    datasets: dict[tuple[int, str], Dataset] = {}
    for cell in plan:
        key = _split_key(cell)
        if cell.planned is None or key in datasets:
            continue
        issues = issues_by(BEFORE_IT_RUNS, context_as_planned(cell.planned, cell.protocol, cell.seed))
        planned_issues += [PlannedIssue(cell.dataset.name, cell.protocol.use, issue) for issue in issues]
        dataset = cell.planned.dataset
        notes = tuple(
            f"{issue.gravity}: {issue.sentence}; mlcli audit shows what repairs it"
            for issue in issues
            if issue.code in codes and is_serious(issue)
        )
        datasets[key] = replace(dataset, notes=(*dataset.notes, *notes)) if notes else dataset
    cells = (replace(cell, dataset=datasets.get(_split_key(cell), cell.dataset)) for cell in plan)
    return replace(plan, cells=tuple(cells), issues=tuple(planned_issues))


def _split_key(cell: Cell) -> tuple[int, str]:
    """Cells with the same key share their dataset and its splits."""
    return id(cell.planned), f"{cell.protocol.use} {cell.protocol.params}"
