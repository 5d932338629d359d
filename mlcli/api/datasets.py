"""What the commands ``data``, ``join`` and ``audit`` show of datasets, and of a model on one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlcli.api import Report, View, Watch, unwatched
from mlcli.report.document import Document

if TYPE_CHECKING:
    from mlcli.data.dataset import Dataset
    from mlcli.data.join import JoinedTable
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.scoring.files import JoinRecord


def list_datasets() -> View:
    """The shipped datasets."""
    from mlcli.data.shipped import shipped
    from mlcli.report.views.dataset import shipped_datasets_of
    from mlcli.scoring.files import ShippedDataset, ShippedDatasets

    datasets = shipped()
    record = ShippedDatasets(tuple(ShippedDataset(*entry) for entry in datasets.items()))
    return View(lambda: shipped_datasets_of(datasets), lambda: record)


def profile_dataset(dataset: Dataset) -> View:
    """The columns of a dataset, with warnings."""
    from mlcli.checks.audit import issues_of_data
    from mlcli.data.profile import profile
    from mlcli.report.views.dataset import profile_of

    issues = issues_of_data(dataset)
    columns = profile(dataset, [issue.sentence for issue in issues])
    findings = [finding for issue in issues for finding in issue.shown]
    return View(lambda: profile_of(columns, findings), lambda: columns)


def plot_columns(dataset: Dataset, columns: Sequence[str]) -> View:
    """A picture of one column, or of two against each other."""
    from mlcli.report.document import explained
    from mlcli.report.views.dataset import plot_of

    picture = plot_of(dataset, columns)
    return View(lambda: explained([picture]), lambda: picture)


def compare_datasets(dataset: Dataset, other: str) -> View:
    """Two files, column by column and by a model that tries to tell their rows apart."""
    from mlcli.experiment.drift import drift_between
    from mlcli.report.views.dataset import drift_of
    from mlcli.scoring.files import drift_record

    drift = drift_between(dataset, other)
    return View(lambda: drift_of(drift), lambda: drift_record(drift))


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Report):
    """Two joined tables; the report says which keys have no match, are empty or repeated."""

    table: JoinedTable
    first: str
    second: str

    @property
    def document(self) -> Document:
        """How many rows were joined, and the remarks."""
        from mlcli.report.views.dataset import joined_of

        return joined_of(self.table, self.first, self.second)

    @property
    def record(self) -> JoinRecord:
        """The same as ``--json`` prints it."""
        from mlcli.scoring.files import join_record

        return join_record(self.table, self.first, self.second)

    @property
    def remarks(self) -> Iterator[str]:
        """The remarks alone, a sentence each."""
        from mlcli.report.views.dataset import remarks_on_join

        return remarks_on_join(self.table, self.first, self.second)


def join_tables(first: str, second: str, on: Sequence[str], how: str = "left", many: bool = False) -> Joined:
    """Join two CSV files by key columns."""
    from mlcli.data.join import join, pairs_of_names
    from mlcli.data.new_rows import records_of

    a, b = records_of(first), records_of(second)
    return Joined(join(a, b, pairs_of_names(on), how, many), a.name, b.name)


def audit_data(experiments: Sequence[Experiment], show_all: bool = False) -> View:
    """The problems in the datasets of experiments; with ``show_all`` also suggestions."""
    from mlcli.checks.audit import audit_document, audit_record, audits_of

    audits = [audit for experiment in experiments for audit in audits_of(experiment)]
    return View(
        lambda: audit_document(audits, show_all),
        lambda: audit_record(audits),
        failed=any(audit.serious for audit in audits),
    )


def audit_model(
    experiment: Experiment,
    *,
    jobs: int | None = None,
    show_all: bool = False,
    verbose: bool = False,
    watch: Watch = unwatched,
) -> View:
    """What is wrong with the one model of an experiment on its one dataset."""
    from mlcli.checks.diagnosed import diagnosed_model, plan_to_diagnose
    from mlcli.checks.diagnosis import diagnosis_of, diagnosis_record, issues_of_model
    from mlcli.core.findings import is_serious
    from mlcli.experiment.spec.suitability import refuse_long_work

    plan = plan_to_diagnose(experiment)
    refuse_long_work(plan)
    with watch(plan) as progress:
        diagnosed = diagnosed_model(experiment, plan, jobs=jobs, on_progress=progress)
        issues = issues_of_model(diagnosed)
    return View(
        lambda: diagnosis_of(diagnosed, issues, show_all, verbose),
        lambda: diagnosis_record(diagnosed, issues),
        failed=any(map(is_serious, issues)),
    )
