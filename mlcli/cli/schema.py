"""schema: print the JSON Schema of experiment files, or of what --json writes."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean

EXAMPLES = ("mlcli schema", "mlcli schema > experiment.schema.json", "mlcli schema results")
SCHEMAS = ("experiment", "results")


def schema_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="experiment (the files of mlcli run) or results (what --json writes).",
            autocompletion=lambda: list(SCHEMAS),
        ),
    ] = "experiment",
) -> None:
    """Print the JSON Schema of experiment files, or of what --json writes.

    Editors complete and check experiment files by it; mlcli init writes it
    beside the file.
    """
    from mlcli.cli._console import show_json

    if what not in SCHEMAS:
        raise UsageError(f"there is no schema of '{what}'", hint=did_you_mean(what, SCHEMAS, "schemas"))
    if what == "results":
        from mlcli.api.results_schema import results_schema

        show_json(results_schema())
        return
    from mlcli.experiment.spec.json_schema import experiment_schema

    show_json(experiment_schema())
