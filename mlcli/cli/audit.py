"""audit: find problems in a dataset or, with -m, in a model on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._app import data_names
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
    from mlcli.api.datasets import audit_data, audit_model
    from mlcli.cli._console import show_result
    from mlcli.cli._running import Progress
    from mlcli.core.errors import ExitCode
    from mlcli.data.shipped import table_files
    from mlcli.experiment.spec.cells import Experiment
    from mlcli.experiment.spec.entries import models_from_text, protocol_from_text
    from mlcli.experiment.spec.file import read_experiment

    experiments = [
        read_experiment(Path(file))
        if Path(file).suffix in (".yaml", ".yml")
        else Experiment((columns.of(file),), protocol=protocol_from_text(protocol), seed=seed)
        for subject in subjects
        for file in table_files(subject)
    ]
    if model is not None:
        if len(experiments) != 1 or experiments[0].source is not None:
            raise UsageError("a model is audited on one dataset", hint="name one dataset")
        models, metrics = models_from_text([model], params or ()), (metric,) if metric else ()
        experiment = replace(experiments[0], models=models, metrics=metrics)
        audit = audit_model(experiment, jobs=jobs, show_all=everything, verbose=verbose, watch=Progress)
    else:
        for name, value in {"-p": params, "--metric": metric, "--jobs": jobs, "--verbose": verbose}.items():
            if value:
                raise UsageError(f"{name} needs a model", hint="name one with -m")
        audit = audit_data(experiments, everything)
    show_result(audit, format)
    if strict and audit.failed:
        raise typer.Exit(ExitCode.UNMET)
