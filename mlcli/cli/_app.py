"""The command line as a whole: the group of verbs and its own options."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli import __version__
from mlcli.cli._verbs import Verbs

app = typer.Typer(
    cls=Verbs, name="mlcli", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mlcli {__version__}")
        raise typer.Exit


@app.callback()
def verbs(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Which method works on my data, by how much, and can I trust the number?

    Start with: mlcli eval my.csv
    """
