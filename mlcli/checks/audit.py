"""The audit of datasets: which issues the checks find in a dataset, or in the datasets of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.checks.context import SAMPLE, AuditContext
from mlcli.checks.data import columns, rows, splits
from mlcli.checks.repairs import joined_sidecar
from mlcli.core.errors import DataError
from mlcli.core.issues import Check, Issue, code_of, found_by, is_serious
from mlcli.core.names import counted
from mlcli.core.processes import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import FEW_ROWS, Cell, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset, planned_dataset, protocol_for
from mlcli.experiment.spec.plan import Plan, PlannedIssue
from mlcli.report.document import Document, Element, Heading, Preformatted, Sentence, notes
from mlcli.report.views.issues import issues_of, summary_of
from mlcli.tasks.table import implied_by

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
"""The checks that ``eval`` makes, too: each takes no longer than reading the table."""
BEFORE_IT_RUNS: tuple[Check[AuditContext], ...] = (*AT_A_GLANCE, splits.splitting)
"""The checks of ``plan``: these, and what a protocol cannot do well."""


@dataclass(frozen=True, eq=False)
class Audit:
    """A dataset with the issues that were found."""

    context: AuditContext
    issues: tuple[Issue, ...]

    @property
    def serious(self) -> tuple[Issue, ...]:
        """The issues that are more than advice."""
        return tuple(issue for issue in self.issues if is_serious(issue))


def audits_of(experiment: Experiment) -> list[Audit]:
    """The audit of each dataset of an experiment, split by the protocol of the experiment."""
    base = experiment.source.parent if experiment.source else None
    models = [model.cls for model in experiment.models or () if model.saved is None]
    implied = implied_by(models)
    audits = []
    for spec in experiment.data:
        task = spec.task or (implied.name if implied else None)
        context = context_of(spec.loaded(base, task), experiment.protocol, experiment.seed)
        audits.append(Audit(context, tuple(issues_in(context))))
    return audits


def audit_document(audits: Sequence[Audit], everything: bool) -> Document:
    """The issues of each dataset, and one sidecar with all repairs; advice is shown only if ``everything`` is."""
    return tuple(element for audit in audits for element in _elements(audit, everything))


def _elements(audit: Audit, everything: bool) -> Iterator[Element]:
    dataset, name = audit.context.dataset, summary_of(audit.issues, everything)
    yield Heading(dataset.name, 1)
    yield Sentence(f"{counted(len(dataset), 'row')}, {subject_of(audit.context)}: {name}")
    if audit.context.is_sampled:
        yield notes(f"what takes long was looked for in {SAMPLE:,} rows that were drawn at random")
    yield from issues_of(audit.issues, everything)
    sidecar = joined_sidecar(audit.issues if everything else audit.serious)
    if sidecar.count("\n") > 1:
        yield Heading("All repairs of the sidecar together")
        yield Preformatted(tuple(f"    {line}" for line in sidecar.splitlines()))


def subject_of(context: AuditContext) -> str:
    """The kind of task and the protocol of a dataset, in words."""
    if context.planned is None or context.protocol is None:
        return "which cannot be split" if context.refused else "of which it is not known what to predict"
    return f"{context.planned.kind.name} by {context.protocol.use}"


@dataclass(frozen=True)
class AuditRecord:
    """The issues of a dataset."""

    dataset: str
    rows: int
    kind: str | None
    protocol: str | None
    issues: tuple[Issue, ...]
    sidecar: str
    """The repairs of serious issues, as one sidecar."""


@dataclass(frozen=True)
class AuditsRecord:
    """What ``--json`` writes of an audit."""

    datasets: tuple[AuditRecord, ...]


def audit_record(audits: Sequence[Audit]) -> AuditsRecord:
    """The issues of each dataset."""
    return AuditsRecord(
        tuple(
            AuditRecord(
                audit.context.dataset.name,
                len(audit.context.dataset),
                audit.context.planned.kind.name if audit.context.planned else None,
                audit.context.protocol.use if audit.context.protocol else None,
                audit.issues,
                joined_sidecar(audit.serious),
            )
            for audit in audits
        )
    )


def issues_of_data(dataset: Dataset) -> list[Issue]:
    """All issues of a dataset, split by the default protocol of its kind of task."""
    return issues_in(context_of(dataset))


def with_issues(plan: Plan, noted: Sequence[Check[AuditContext]] = AT_A_GLANCE) -> Plan:
    """The plan with the issues of its datasets; serious issues of the ``noted`` checks become notes on them."""
    codes = {code_of(check) for check in noted}
    planned_issues: list[PlannedIssue] = []
    datasets: dict[tuple[int, str], Dataset] = {}
    for cell in plan:
        if cell.planned is None:
            continue
        key = _split_key(cell)
        if key not in datasets:
            issues = issues_in(context_as_planned(cell.planned, cell.protocol, cell.seed), BEFORE_IT_RUNS)
            planned_issues += [PlannedIssue(cell.dataset.name, cell.protocol.use, issue) for issue in issues]
            datasets[key] = _with_notes(
                cell.planned.dataset, [issue for issue in issues if issue.code in codes and is_serious(issue)]
            )
    cells = (replace(cell, dataset=datasets.get(_split_key(cell), cell.dataset)) for cell in plan)
    return replace(plan, cells=tuple(cells), issues=tuple(planned_issues))


def _split_key(cell: Cell) -> tuple[int, str]:
    """Cells with the same key share their dataset and its splits."""
    return id(cell.planned), f"{cell.protocol.use} {cell.protocol.params}"


def _with_notes(dataset: Dataset, issues: Sequence[Issue]) -> Dataset:
    notes = tuple(f"{issue.gravity}: {issue.sentence}; mlcli audit shows what repairs it" for issue in issues)
    return replace(dataset, notes=(*dataset.notes, *notes)) if notes else dataset


def context_of(dataset: Dataset, protocol: ProtocolSpec | None = None, seed: int = 1) -> AuditContext:
    """A dataset that is loaded, with how it would be split, if anything can split it."""
    try:
        planned = planned_dataset(DataSpec(str(dataset.path or dataset.name)), dataset)
    except DataError as error:
        return AuditContext(dataset, refused=error.in_a_line, seed=seed)
    return context_as_planned(planned, protocol, seed)


def context_as_planned(planned: PlannedDataset, protocol: ProtocolSpec | None, seed: int) -> AuditContext:
    """A planned dataset with the protocol that splits it; another one where the rows are too few for it."""
    refused = ""
    for requested in (protocol, FEW_ROWS):
        try:
            return AuditContext(planned.dataset, planned, protocol_for(planned, requested), refused, seed)
        except DataError as error:
            refused = refused or error.in_a_line
    return AuditContext(planned.dataset, planned, refused=refused, seed=seed)


def issues_in(context: AuditContext, checks: Sequence[Check[AuditContext]] | None = None) -> list[Issue]:
    """What checks find, those of a whole audit unless others are named; overflow in computations is no issue."""
    if checks is None:
        from mlcli.checks.table import OF_DATA

        checks = OF_DATA
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return found_by(checks, context)
