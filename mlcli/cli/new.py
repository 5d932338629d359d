"""new: write a template for a method of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._options import Force

NOUNS = ("model",)

EXAMPLES = ("mlcli new model nearest-mean", "mlcli eval iris -m nearest-mean --plugin nearest_mean.py")


def new_command(
    *,
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What to write: model.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its id, such as nearest-mean.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write to.")
    ] = Path(),
    force: Force = False,
) -> None:
    """Write a template for a method of your own.

    It is a complete method with its test: change how it fits and predicts.
    """
    from mlcli.cli._console import remark, show_line
    from mlcli.cli._outputs import refuse_missing_folder
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.experiment.spec.templates import write_model

    if what not in NOUNS:
        raise UsageError(f"there is no '{what}' to write", hint=did_you_mean(what, NOUNS, "what can be written"))
    refuse_missing_folder(output / name)
    for path in (written := write_model(name, output, replace=force)):
        show_line(str(path))
    remark(f"next: mlcli eval iris -m {name} --plugin {written[0]}; pytest {written[1]}")
