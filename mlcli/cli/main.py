"""Where the shell enters: the group of verbs, and what must happen before anything is imported."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from mlcli import __version__
from mlcli.cli._verbs import Verbs
from mlcli.core.threads import pin_blas_from_the_start

OBJECTS_BETWEEN_COLLECTIONS = 100_000

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


def main() -> None:
    """Run the command line."""
    # Imports make many objects and free few: collecting at the usual 700 costs a tenth of the start-up.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    pin_blas_from_the_start()
    app(prog_name="mlcli")
