"""schema: print the JSON Schema of experiment files."""

from __future__ import annotations

EXAMPLES = ("mlcli schema", "mlcli schema > experiment.schema.json")


def schema_command() -> None:
    """Print the JSON Schema of experiment files.

    Editors complete and check files by it; mlcli init writes it beside the
    file.
    """
    from mlcli.cli._console import show_json
    from mlcli.experiment.spec.json_schema import experiment_schema

    show_json(experiment_schema())
