"""init: write a first experiment file for a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import Data, Force, Target, Task
from mlcli.cli._outputs import refuse_to_replace

SCHEMA = Path(".mlcli") / "experiment.schema.json"
"""The schema of experiment files, relative to one that init has written."""

EXAMPLES = ("mlcli init penguins", "mlcli init my.csv --target price -o prices.yaml")


def init_command(
    *,
    reference: Data,
    target: Target = None,
    task: Task = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The experiment file to write.")
    ] = Path("experiment.yaml"),
    force: Force = False,
) -> None:
    """Write a first experiment file for a dataset.

    Its JSON Schema is written to .mlcli/ beside it, so that editors complete
    and check the file.
    """
    from mlcli.cli._console import show_line
    from mlcli.core.files import write
    from mlcli.data.load import load
    from mlcli.experiment.spec.templates import first_experiment

    refuse_to_replace(output, force)
    text = first_experiment(_reference_from(output, reference), load(reference, target=target, task=task))
    write(output, f"# yaml-language-server: $schema={_schema_beside(output)}\n{text}")
    show_line(f"wrote {output}; next: mlcli run {output} --dry-run, then mlcli run {output}")


def _schema_beside(output: Path) -> str:
    """The schema of this version, written where editors of the experiment find it."""
    import json

    from mlcli.core.files import write
    from mlcli.experiment.spec.json_schema import experiment_schema

    (output.parent / SCHEMA).parent.mkdir(exist_ok=True)
    write(output.parent / SCHEMA, json.dumps(experiment_schema()))
    return SCHEMA.as_posix()


def _reference_from(output: Path, reference: str) -> str:
    """The dataset as the experiment file must name it: paths begin at the file's folder."""
    import os

    from mlcli.data.shipped import find, is_path

    path = Path(os.path.expanduser(reference))
    if not is_path(reference) and not os.path.isfile(path):
        find(reference)
        return reference
    return os.path.relpath(path, output.parent) if not path.is_absolute() else str(path)
