"""init: write a first experiment file for a dataset."""

from __future__ import annotations

from pathlib import Path

from mlcli.cli._declaring import option
from mlcli.cli._options import Data, Target, Task
from mlcli.cli._outputs import in_a_folder

SCHEMA = Path(".mlcli") / "experiment.schema.json"
"""The schema of experiment files, relative to one that init has written."""

EXAMPLES = ("mlcli init penguins", "mlcli init my.csv --target price -o prices.yaml")


def init_command(
    reference: Data,
    output: Path = option(
        "--output -o", "FILE", "The file to write.", default=Path("experiment.yaml"), callback=in_a_folder
    ),
    target: Target = None,
    task: Task = None,
) -> None:
    """Write a first experiment file for a dataset; one that is there is never overwritten.

    Its schema is written beside it, by which editors complete and check: see
    mlcli schema.
    """
    from mlcli.cli._console import show_line
    from mlcli.core.errors import UsageError
    from mlcli.core.files import write
    from mlcli.data.load import load
    from mlcli.experiment.spec.templates import first_experiment

    if output.is_dir():
        raise UsageError(f"{output} is a folder", hint=f"name a file in it: -o {output / 'experiment.yaml'}")
    if output.exists():
        raise UsageError(f"{output} is there already", hint="remove it, or name another file with -o")
    text = first_experiment(_reference_from(output, reference), load(reference, target=target, task=task))
    write(output, f"# yaml-language-server: $schema={_schema_beside(output)}\n{text}")
    show_line(f"wrote {output}; next: mlcli plan {output}, then mlcli run {output}")


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
