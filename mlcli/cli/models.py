"""models: list the methods and steps, or show all that is known of one."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._console import show, show_json
from mlcli.cli._options import AsJson, model_and_step_names
from mlcli.core.names import nearest
from mlcli.core.registry import MODELS, STEPS, Entry

EXAMPLES = (
    "mlcli models",
    "mlcli models knn",
    "mlcli models standardise",
)


def models_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="A method or step, such as knn or impute.", autocompletion=model_and_step_names
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and steps, or show all that is known of one."""
    from mlcli.report import catalogue

    if as_json and name is not None:
        show_json({"models": [catalogue.page_as_json(entry) for entry in _entries(name)]})
    elif as_json:
        known = {"models": MODELS, "steps": STEPS}
        show_json({key: [catalogue.as_json(entry) for entry in one.entries()] for key, one in known.items()})
    elif name is None:
        show(catalogue.listing(MODELS.entries(), STEPS.entries()))
    else:
        show(tuple(block for entry in _entries(name) for block in catalogue.page_of(entry)))


def _entries(name: str) -> list[Entry]:
    """The method, the step, or both of one id."""
    found = [known.entry(name) for known in (MODELS, STEPS) if name in known]
    if found:
        return found
    similar = next((known for known in (MODELS, STEPS) if nearest(name, known.names())), MODELS)
    return [similar.entry(name)]
