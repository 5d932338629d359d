"""models: list methods and steps, or show one in detail."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._console import show_result
from mlcli.cli._options import CodeOptions, Format, model_and_step_names

EXAMPLES = ("mlcli models", "mlcli models knn", "mlcli models standardise", "mlcli models gini")


def models_command(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="A method or step, such as knn or impute, or a word to search for.",
            autocompletion=model_and_step_names,
        ),
    ] = None,
    format: Format = "text",
    code: CodeOptions,
) -> None:
    """List methods and steps, or show one in detail.

    A word that is no id is searched for in the descriptions of all.
    """
    from mlcli.api.catalogue import describe_methods

    show_result(describe_methods(name), format)
