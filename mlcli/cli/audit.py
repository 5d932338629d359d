"""audit: find problems in a dataset or, with -m, in a model on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlcli.cli._completion import data_names
from mlcli.cli._options import (
    MODELS_PANEL,
    All,
    CodeOptions,
    ColumnOptions,
    Format,
    Jobs,
    Metric,
    Params,
    ProtocolName,
    Seed,
    Strict,
    Verbose,
)
from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Experiment

SPEC_SUFFIXES = (".yaml", ".yml")

EXAMPLES = (
    "mlcli audit cpu",
    "mlcli audit penguins --all",
    "mlcli audit my.csv --target price --strict",
    "mlcli audit wine -m knn -p k=120",
)


def audit_command(
    *,
    subjects: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA|SPEC",
            help="CSV files, shipped datasets, or experiment files (YAML).",
            autocompletion=data_names,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Audit this model on the dataset: an id, or a mapping such as '{use: knn, params: {k: 3}}'.",
            autocompletion=MODELS.names,
            rich_help_panel=MODELS_PANEL,
        ),
    ] = None,
    params: Params = None,
    code: CodeOptions,
    columns: ColumnOptions,
    protocol: ProtocolName = None,
    metric: Metric = None,
    seed: Seed = 1,
    jobs: Jobs = None,
    everything: All = False,
    strict: Strict = False,
    verbose: Verbose = False,
    format: Format = "text",
) -> None:
    """Find problems in a dataset or, with -m, in a model on it.

    Of a dataset: duplicate rows, identifiers and leaks among the features,
    groups that a split would cut, ignored time, rare classes, odd values. Each
    comes with evidence and with lines for the sidecar or the experiment file.

    Of a model: does it overfit or underfit, would more rows help, does it beat
    the baseline? What may help is tried on the same splits.
    """
    if model is not None:
        _audit_model(
            subjects, model, params, columns, protocol, metric, seed, jobs, everything, strict, verbose, format
        )
        return
    from mlcli.checks.audit import audit_document, audit_record, audits_of
    from mlcli.cli._console import show_as
    from mlcli.core.errors import ExitCode

    for name, value in {"-p": params, "--metric": metric, "--jobs": jobs, "--verbose": verbose}.items():
        if value:
            raise UsageError(f"{name} needs a model", hint="name one with -m")
    experiments = _experiments(subjects, columns, protocol, seed)
    audits = [audit for experiment in experiments for audit in audits_of(experiment)]
    show_as(format, lambda: audit_document(audits, everything), lambda: audit_record(audits))
    if strict and any(audit.serious for audit in audits):
        raise typer.Exit(ExitCode.UNMET)


def _experiments(subjects: list[str], columns: ColumnOptions, protocol: str | None, seed: int) -> list[Experiment]:
    """An experiment for each file and each dataset."""
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


def _audit_model(
    subjects: list[str],
    model: str,
    params: list[str] | None,
    columns: ColumnOptions,
    protocol: str | None,
    metric: str | None,
    seed: int,
    jobs: int | None,
    everything: bool,
    strict: bool,
    verbose: bool,
    format: str,
) -> None:
    from mlcli.checks.diagnosed import diagnosed_model, plan_to_diagnose
    from mlcli.checks.diagnosis import diagnosis_of, diagnosis_record, issues_of_model
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import watched
    from mlcli.core.errors import ExitCode
    from mlcli.core.issues import is_serious
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.entries import models_from_text, protocol_from_text

    if len(subjects) != 1:
        raise UsageError("a model is audited on one dataset", hint="leave the others out")
    models, splits = models_from_text([model], params or []), protocol_from_text(protocol)
    metrics = (metric,) if metric else ()
    experiment = Experiment((columns.of(subjects[0]),), models, splits, metrics=metrics, seed=seed)
    plan = plan_to_diagnose(experiment)
    with watched(plan) as progress:
        diagnosed = diagnosed_model(experiment, plan, jobs=jobs, on_progress=progress)
        issues = issues_of_model(diagnosed)
    show_as(
        format,
        lambda: diagnosis_of(diagnosed, issues, everything, verbose),
        lambda: diagnosis_record(diagnosed, issues),
    )
    if strict and any(map(is_serious, issues)):
        raise typer.Exit(ExitCode.UNMET)
