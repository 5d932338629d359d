"""audit: look for what makes scores on a dataset wrong, with what repairs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mlcli.cli._declaring import argument
from mlcli.cli._options import All, ColumnOptions, Format, ProtocolName, Seed, Strict

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Experiment

SPEC_SUFFIXES = (".yaml", ".yml")

EXAMPLES = ("mlcli audit cpu", "mlcli audit penguins --all", "mlcli audit my.csv --target price --strict")


def audit_command(
    *,
    subjects: list[str] = argument("DATA|SPEC", "CSV files, shipped datasets, or experiment files (YAML)."),
    columns: ColumnOptions,
    protocol: ProtocolName = None,
    seed: Seed = 1,
    everything: All = False,
    strict: Strict = False,
    format: Format = "text",
) -> None:
    """Look for what makes scores on a dataset wrong, with what repairs it.

    Rows that a split would put on both sides, identifiers and leaks among the
    features, groups cut, time ignored, classes too small, odd cells: each with
    what shows it, and lines for the sidecar or the experiment file to paste.
    """
    from mlcli.checks.audit import audit_as_json, audit_document, audits_of
    from mlcli.cli._console import show_as
    from mlcli.core.errors import ExitCode

    experiments = _experiments(subjects, columns, protocol, seed)
    found = [audit for experiment in experiments for audit in audits_of(experiment)]
    show_as(format, lambda: audit_document(found, everything), lambda: {"datasets": [*map(audit_as_json, found)]})
    if strict and any(audit.serious for audit in found):
        raise typer.Exit(ExitCode.UNMET)


def _experiments(subjects: list[str], columns: ColumnOptions, protocol: str | None, seed: int) -> list[Experiment]:
    """What is asked for as experiments: each file is one, and each dataset."""
    from mlcli.data.shipped import table_files
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.entries import protocol_from_text
    from mlcli.experiment.spec.file import read_experiment

    return [
        read_experiment(Path(one))
        if Path(one).suffix in SPEC_SUFFIXES
        else Experiment((columns.of(one),), protocol=protocol_from_text(protocol), seed=seed)
        for subject in subjects
        for one in table_files(subject)
    ]
