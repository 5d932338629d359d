"""The audit of datasets: all checks of data, and the issues that they find in the datasets of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType

from mlcli.checks.context import SAMPLE, AuditContext, context_of, joined_sidecar
from mlcli.checks.data import AT_A_GLANCE, columns, issues_by, missing, numbers, rows, spellings, splits
from mlcli.core.findings import Check, Issue, is_serious
from mlcli.core.names import counted
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Experiment
from mlcli.report.document import Document, Element, Heading, Preformatted, Sentence, notes
from mlcli.report.views.issues import issues_of, summary_of
from mlcli.tasks.table import implied_by


def _checks_in(module: ModuleType) -> Iterator[Check[AuditContext]]:
    """The public functions of a module that yield issues.

    The name of a function is the code of its issues, and its docstring begins with what it finds.
    """
    for name, function in vars(module).items():
        own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if own and not name.startswith("_") and function.__annotations__.get("return") == "Iterator[Issue]":
            yield function


OF_DATA: tuple[Check[AuditContext], ...] = (
    *AT_A_GLANCE,
    *(
        check
        for module in (splits, rows, columns, numbers, spellings, missing)
        for check in _checks_in(module)
        if check not in AT_A_GLANCE
    ),
)
"""All checks of a dataset, in the order in which issues of the same gravity are listed."""


@dataclass(frozen=True, eq=False)
class Audit:
    """A dataset with the issues that were found."""

    context: AuditContext
    issues: tuple[Issue, ...]

    @property
    def serious(self) -> tuple[Issue, ...]:
        """The issues that are more than advice."""
        return tuple(issue for issue in self.issues if is_serious(issue))


def issues_in(context: AuditContext) -> list[Issue]:
    """All issues of a dataset."""
    return issues_by(OF_DATA, context)


def issues_of_data(dataset: Dataset) -> list[Issue]:
    """All issues of a dataset, split by the default protocol of its kind of task."""
    return issues_in(context_of(dataset))


def audits_of(experiment: Experiment) -> list[Audit]:
    """The audit of each dataset of an experiment, split by the protocol of the experiment."""
    base = experiment.source.parent if experiment.source else None
    implied = implied_by([model.cls for model in experiment.models or () if model.saved is None])
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
    context, dataset = audit.context, audit.context.dataset
    if context.planned is not None and context.protocol is not None:
        subject = f"{context.kind} by {context.protocol.use}"
    else:
        subject = "which cannot be split" if context.refused else "of which it is not known what to predict"
    yield Heading(dataset.name, 1)
    yield Sentence(f"{counted(len(dataset), 'row')}, {subject}: {summary_of(audit.issues, everything)}")
    if len(dataset) > SAMPLE:
        yield notes(f"what takes long was looked for in {SAMPLE:,} rows that were drawn at random")
    yield from issues_of(audit.issues, everything)
    sidecar = joined_sidecar(audit.issues if everything else audit.serious)
    if sidecar.count("\n") > 1:
        yield Heading("All repairs of the sidecar together")
        yield Preformatted(tuple(f"    {line}" for line in sidecar.splitlines()))


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
                audit.context.kind or None,
                audit.context.protocol.use if audit.context.protocol else None,
                audit.issues,
                joined_sidecar(audit.serious),
            )
            for audit in audits
        )
    )
