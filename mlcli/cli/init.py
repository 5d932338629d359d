"""init: write a first experiment file for a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import Data, Force, Target, Task
from mlcli.cli._outputs import refuse_to_replace

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
    import json
    import os

    from mlcli.cli._console import show_line
    from mlcli.core.processes import write
    from mlcli.data.load import load
    from mlcli.data.shipped import find, is_path
    from mlcli.experiment.spec.json_schema import experiment_schema
    from mlcli.experiment.spec.templates import first_experiment

    refuse_to_replace(output, force)
    path = Path(os.path.expanduser(reference))
    if is_path(reference) or os.path.isfile(path):
        # paths of an experiment file begin at its folder
        name = str(path) if path.is_absolute() else os.path.relpath(path, output.parent)
    else:
        find(reference)
        name = reference
    text = first_experiment(name, load(reference, target=target, task=task))
    schema = Path(".mlcli") / "experiment.schema.json"
    (output.parent / schema).parent.mkdir(exist_ok=True)
    write(output.parent / schema, json.dumps(experiment_schema()))
    write(output, f"# yaml-language-server: $schema={schema.as_posix()}\n{text}")
    show_line(f"wrote {output}; next: mlcli run {output} --dry-run, then mlcli run {output}")
