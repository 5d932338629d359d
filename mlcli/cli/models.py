"""models: list the methods, or show all that is known of one."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._console import show_as
from mlcli.cli._options import Format, model_names
from mlcli.core.registry import MODELS

EXAMPLES = (
    "mlcli models",
    "mlcli models knn",
)


def models_command(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="A method, such as knn.", autocompletion=model_names)
    ] = None,
    format: Format = "text",
) -> None:
    """List the methods, or show all that is known of one."""
    from mlcli.report import catalogue

    if name is None:
        every = list(MODELS.entries())
        show_as(format, lambda: catalogue.listing(every), lambda: {"models": list(map(catalogue.as_json, every))})
    else:
        one = MODELS.entry(name)
        show_as(format, lambda: catalogue.page_of(one), lambda: {"models": [catalogue.page_as_json(one)]})
