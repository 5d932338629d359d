"""The audit: every check of every dataset that is named, or that experiment files name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.checks.audited import SAMPLE, Audited
from mlcli.checks.repairs import joined_sidecar
from mlcli.checks.table import AT_A_GLANCE, BEFORE_IT_RUNS, OF_DATA
from mlcli.core.errors import DataError
from mlcli.core.issues import Check, Issue, code_of, found_by, is_serious, issue_as_json
from mlcli.core.names import counted
from mlcli.core.threads import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import FEW_ROWS, Cell, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset, planned_dataset, protocol_for
from mlcli.experiment.spec.plan import Plan, PlannedIssue
from mlcli.report.document import Document, Element, Heading, Preformatted, Sentence, notes
from mlcli.report.views.issues import issues_of, summary_of
from mlcli.tasks.table import implied_by

ASK = "mlcli audit shows what repairs it"


@dataclass(frozen=True, eq=False)
class Audit:
    """A dataset with the issues that were found."""

    audited: Audited
    issues: tuple[Issue, ...]

    @property
    def serious(self) -> tuple[Issue, ...]:
        """The issues that are more than advice."""
        return tuple(issue for issue in self.issues if is_serious(issue))


def audits_of(experiment: Experiment, checks: Sequence[Check[Audited]] = OF_DATA) -> list[Audit]:
    """The audit of each dataset of an experiment, by the protocol that it asks for."""
    base = experiment.source.parent if experiment.source else None
    models = [model.cls for model in experiment.models or () if model.saved is None]
    every = [_audited_spec(spec, experiment, base, models) for spec in experiment.data]
    return [Audit(audited, tuple(issues_in(audited, checks))) for audited in every]


def audit_document(audits: Sequence[Audit], everything: bool) -> Document:
    """What was found in each dataset, with one sidecar that repairs it all; advice only where it is asked for."""
    return tuple(element for audit in audits for element in _elements(audit, everything))


def _elements(audit: Audit, everything: bool) -> Iterator[Element]:
    dataset, found = audit.audited.dataset, summary_of(audit.issues, everything)
    yield Heading(dataset.name, 1)
    yield Sentence(f"{counted(len(dataset), 'row')}, {subject_of(audit.audited)}: {found}")
    if audit.audited.is_sampled:
        yield notes(f"what takes long was looked for in {SAMPLE:,} rows that were drawn at random")
    yield from issues_of(audit.issues, everything)
    sidecar = joined_sidecar(audit.issues if everything else audit.serious)
    if sidecar.count("\n") > 1:
        yield Heading("All repairs of the sidecar together")
        yield Preformatted(tuple(f"    {line}" for line in sidecar.splitlines()))


def subject_of(audited: Audited) -> str:
    """What would be done with a dataset."""
    if audited.planned is None or audited.protocol is None:
        return "which cannot be split" if audited.refused else "of which it is not known what to predict"
    return f"{audited.planned.kind.name} by {audited.protocol.use}"


def audit_as_json(audit: Audit) -> dict[str, Any]:
    """An audit as plain JSON values."""
    audited = audit.audited
    return {
        "dataset": audited.dataset.name,
        "rows": len(audited.dataset),
        "kind": audited.planned.kind.name if audited.planned else None,
        "protocol": audited.protocol.use if audited.protocol else None,
        "issues": [issue_as_json(issue) for issue in audit.issues],
        "sidecar": joined_sidecar(audit.serious),
    }


def issues_of_data(dataset: Dataset) -> list[Issue]:
    """Everything that is found in a dataset, split in the default way of its kind of task."""
    return issues_in(audited(dataset))


def with_issues(plan: Plan, noted: Sequence[Check[Audited]] = AT_A_GLANCE) -> Plan:
    """The plan with the issues of its datasets; serious ones that ``noted`` checks find are notes on a dataset."""
    codes = {code_of(check) for check in noted}
    found: list[PlannedIssue] = []
    datasets: dict[tuple[int, str], Dataset] = {}
    for cell in plan:
        if cell.planned is None:
            continue
        key = _split_key(cell)
        if key not in datasets:
            issues = issues_in(audited_as_planned(cell.planned, cell.protocol, cell.seed), BEFORE_IT_RUNS)
            found += [PlannedIssue(cell.dataset.name, cell.protocol.use, issue) for issue in issues]
            datasets[key] = _with_notes(
                cell.planned.dataset, [one for one in issues if one.code in codes and is_serious(one)]
            )
    cells = (replace(cell, dataset=datasets.get(_split_key(cell), cell.dataset)) for cell in plan)
    return replace(plan, cells=tuple(cells), issues=tuple(found))


def _split_key(cell: Cell) -> tuple[int, str]:
    """What tells a dataset, and how it is split, from others."""
    return id(cell.planned), f"{cell.protocol.use} {cell.protocol.params}"


def _with_notes(dataset: Dataset, issues: Sequence[Issue]) -> Dataset:
    notes = tuple(f"{issue.gravity}: {issue.sentence}; {ASK}" for issue in issues)
    return replace(dataset, notes=(*dataset.notes, *notes)) if notes else dataset


def audited(dataset: Dataset, protocol: ProtocolSpec | None = None, seed: int = 1) -> Audited:
    """A dataset that is loaded, with how it would be split, if anything can split it."""
    try:
        planned = planned_dataset(DataSpec(str(dataset.path or dataset.name)), dataset)
    except DataError as error:
        return Audited(dataset, refused=error.in_a_line, seed=seed)
    return audited_as_planned(planned, protocol, seed)


def audited_as_planned(planned: PlannedDataset, protocol: ProtocolSpec | None, seed: int) -> Audited:
    """A planned dataset with the protocol that splits it; another one where the rows are too few for it."""
    refused = ""
    for requested in (protocol, FEW_ROWS):
        try:
            return Audited(planned.dataset, planned, protocol_for(planned, requested), refused, seed)
        except DataError as error:
            refused = refused or error.in_a_line
    return Audited(planned.dataset, planned, refused=refused, seed=seed)


def issues_in(audited: Audited, checks: Sequence[Check[Audited]] = OF_DATA) -> list[Issue]:
    """What checks find; numbers that are too large to compute with are passed over in silence."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return found_by(checks, audited)


def _audited_spec(spec: DataSpec, experiment: Experiment, base: Path | None, models: Sequence[type]) -> Audited:
    implied = implied_by(models)
    task = spec.task or (implied.name if implied else None)
    return audited(spec.loaded(base, task), experiment.protocol, experiment.seed)
