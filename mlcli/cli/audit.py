"""audit: find problems in a dataset or, with -m, in a model on it."""

from __future__ import annotations

from dataclasses import replace
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
    from mlcli.checks.audit import audit_document, audit_record, audits_of
    from mlcli.cli._console import show_as
    from mlcli.core.errors import ExitCode

    experiments = _experiments(subjects, columns, protocol, seed)
    if model is not None:
        if len(experiments) != 1 or experiments[0].source is not None:
            raise UsageError("a model is audited on one dataset", hint="name one dataset")
        has_serious = _audit_model(experiments[0], model, params, metric, jobs, everything, verbose, format)
    else:
        for name, value in {"-p": params, "--metric": metric, "--jobs": jobs, "--verbose": verbose}.items():
            if value:
                raise UsageError(f"{name} needs a model", hint="name one with -m")
        audits = [audit for experiment in experiments for audit in audits_of(experiment)]
        show_as(format, lambda: audit_document(audits, everything), lambda: audit_record(audits))
        has_serious = any(audit.serious for audit in audits)
    if strict and has_serious:
        raise typer.Exit(ExitCode.UNMET)


def _experiments(subjects: list[str], columns: ColumnOptions, protocol: str | None, seed: int) -> list[Experiment]:
    """An experiment for each file and each dataset."""
    from mlcli.data.shipped import table_files
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.entries import protocol_from_text
    from mlcli.experiment.spec.file import read_experiment

    return [
        read_experiment(Path(table_file))
        if Path(table_file).suffix in SPEC_SUFFIXES
        else Experiment((columns.of(table_file),), protocol=protocol_from_text(protocol), seed=seed)
        for subject in subjects
        for table_file in table_files(subject)
    ]


def _audit_model(
    experiment: Experiment,
    model: str,
    params: list[str] | None,
    metric: str | None,
    jobs: int | None,
    everything: bool,
    verbose: bool,
    format: str,
) -> bool:
    """Show what is wrong with a model; return whether something is serious."""
    from mlcli.checks.diagnosed import diagnosed_model, plan_to_diagnose
    from mlcli.checks.diagnosis import diagnosis_of, diagnosis_record, issues_of_model
    from mlcli.cli._console import show_as
    from mlcli.cli._progress import watched
    from mlcli.core.issues import is_serious
    from mlcli.experiment.spec.entries import models_from_text

    models, metrics = models_from_text([model], params or ()), (metric,) if metric else ()
    experiment = replace(experiment, models=models, metrics=metrics)
    plan = plan_to_diagnose(experiment)
    with watched(plan) as progress:
        diagnosed = diagnosed_model(experiment, plan, jobs=jobs, on_progress=progress)
        issues = issues_of_model(diagnosed)
    show_as(
        format,
        lambda: diagnosis_of(diagnosed, issues, everything, verbose),
        lambda: diagnosis_record(diagnosed, issues),
    )
    return any(map(is_serious, issues))
