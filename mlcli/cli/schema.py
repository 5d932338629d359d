"""schema: print the JSON Schema of the experiment file, for editors."""

from __future__ import annotations


def schema_command() -> None:
    """Print the JSON Schema of the experiment file, for editors.

    \b
    mlcli schema > experiment.schema.json
    """
    from mlcli.cli._console import show_json
    from mlcli.experiment.json_schema import experiment_schema

    show_json(experiment_schema())
