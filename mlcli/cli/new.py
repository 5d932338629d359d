"""new: write a method of your own to start from, with its test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NOUNS = ("model",)
What = Annotated[str, typer.Argument(metavar="WHAT", help="What to write: model.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Its id, such as nearest-mean.")]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Write the files here.")]

EXAMPLES = (
    "mlcli new model nearest-mean",
    "mlcli eval iris -m nearest-mean --plugin nearest_mean.py",
)


def new_command(what: What, name: Name, output: Folder = Path()) -> None:
    """Write a method of your own to start from, with its test.

    The file works as it stands: change what it learns and answers.
    """
    from mlcli.cli._console import remark, show_line
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.experiment.spec.new_model import write_model

    if what not in NOUNS:
        raise UsageError(f"there is no '{what}' to write", hint=did_you_mean(what, NOUNS, "what can be written"))
    for path in (written := write_model(name, output)):
        show_line(str(path))
    remark(f"next: mlcli eval iris -m {name} --plugin {written[0]}; pytest {written[1]}")
