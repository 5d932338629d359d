"""models: list the methods, or show all that is known of one."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._console import show, show_json
from mlcli.cli._options import AsJson, model_names
from mlcli.core.registry import MODELS

EXAMPLES = (
    "mlcli models",
    "mlcli models knn",
)


def models_command(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="A method, such as knn.", autocompletion=model_names)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods, or show all that is known of one."""
    from mlcli.report import catalogue

    if as_json and name is not None:
        show_json({"models": [catalogue.page_as_json(MODELS.entry(name))]})
    elif as_json:
        show_json({"models": [catalogue.as_json(entry) for entry in MODELS.entries()]})
    elif name is None:
        show(catalogue.listing(MODELS.entries()))
    else:
        show(catalogue.page_of(MODELS.entry(name)))
