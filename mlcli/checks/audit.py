"""The audit: every check of every dataset that is named, or that experiment files name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.checks.audited import SAMPLE, Audited
from mlcli.checks.data import splits
from mlcli.checks.repairs import joined_sidecar
from mlcli.checks.table import AT_A_GLANCE, OF_DATA
from mlcli.core.errors import DataError
from mlcli.core.issues import Check, Issue, found_by, is_serious, issue_as_json
from mlcli.core.names import counted
from mlcli.core.threads import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import FEW_ROWS, Cell, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.datasets import planned_dataset, protocol_for
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


def with_serious_issues(cells: Sequence[Cell], checks: Sequence[Check[Audited]] = AT_A_GLANCE) -> list[Cell]:
    """The cells, with the serious issues of their datasets as they are split among the notes on these."""
    noted: dict[tuple[int, str], Dataset] = {}
    for cell in cells:
        key = _split_key(cell)
        if key not in noted and isinstance(cell.dataset, Dataset) and cell.model.saved is None:
            noted[key] = _with_notes(cell.dataset, cell.protocol, cell.seed, checks)
    return [replace(cell, dataset=noted.get(_split_key(cell), cell.dataset)) for cell in cells]


def split_warnings(cells: Sequence[Cell]) -> list[str]:
    """What protocols cannot do well with the rows of their datasets, to be said before models are fitted."""
    asked = {_split_key(cell): cell for cell in cells if cell.model.saved is None and not cell.skipped}
    return [
        f"{cell.dataset.name}, {cell.protocol.use}: {issue.sentence}"
        for cell in asked.values()
        if isinstance(cell.dataset, Dataset)
        for issue in issues_in(audited(cell.dataset, cell.protocol, cell.seed), (splits.splitting,))
    ]


def _split_key(cell: Cell) -> tuple[int, str]:
    """What tells a dataset, and how it is split, from others."""
    return id(cell.dataset), f"{cell.protocol.use} {cell.protocol.params}"


def _with_notes(dataset: Dataset, protocol: ProtocolSpec, seed: int, checks: Sequence[Check[Audited]]) -> Dataset:
    """The dataset itself where nothing is to be said."""
    found = [issue for issue in issues_in(audited(dataset, protocol, seed), checks) if is_serious(issue)]
    notes = tuple(f"{issue.gravity}: {issue.sentence}; {ASK}" for issue in found)
    return replace(dataset, notes=(*dataset.notes, *notes)) if notes else dataset


def audited(dataset: Dataset, protocol: ProtocolSpec | None = None, seed: int = 1) -> Audited:
    """A dataset that is loaded, with how it would be split, if anything can split it."""
    spec = DataSpec(str(dataset.path or dataset.name))
    try:
        planned = planned_dataset(spec, dataset)
    except DataError as error:
        return Audited(dataset, refused=error.in_a_line, seed=seed)
    refused = ""
    for asked in (protocol, FEW_ROWS):
        try:
            return Audited(dataset, planned, protocol_for(planned, asked), refused, seed)
        except DataError as error:
            refused = refused or error.in_a_line
    return Audited(dataset, planned, refused=refused, seed=seed)


def issues_in(audited: Audited, checks: Sequence[Check[Audited]] = OF_DATA) -> list[Issue]:
    """What checks find; numbers that are too large to compute with are passed over in silence."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return found_by(checks, audited)


def _audited_spec(spec: DataSpec, experiment: Experiment, base: Path | None, models: Sequence[type]) -> Audited:
    implied = implied_by(models)
    task = spec.task or (implied.name if implied else None)
    return audited(spec.loaded(base, task), experiment.protocol, experiment.seed)
