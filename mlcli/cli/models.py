"""models: list methods and steps, or show one in detail."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

import typer

from mlcli.cli._console import show_as
from mlcli.cli._options import CodeOptions, Format, model_and_step_names
from mlcli.core.aliases import other_names
from mlcli.core.errors import UsageError
from mlcli.core.names import nearest
from mlcli.core.plugins import IMPORT_PATH, allow_imports
from mlcli.core.registry import ALL, MODELS, PROTOCOLS, STEPS, Catalogue, Entry

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
    from mlcli.report.views import catalogue

    if name is None:
        show_as(format, catalogue.listing, catalogue.catalogue_record, MODELS.entries(), STEPS.entries())
    elif entries := _entries(name):
        show_as(format, catalogue.pages_of, catalogue.pages_record, entries)
    elif known := _called_otherwise(name):
        known.entry(name)
    elif matches := catalogue.mentions(name, chain(MODELS.entries(), STEPS.entries())):
        show_as(format, catalogue.mentions_of, catalogue.mentions_record, name, matches)
    else:
        similar = next((known for known in ALL if nearest(name, known.names())), MODELS)
        similar.entry(name)


def _entries(name: str) -> list[Entry]:
    """The method and the step of an id, also in capitals, with spaces or in the plural."""
    if IMPORT_PATH.fullmatch(name):
        return [_imported(name)]
    plain = name.lower().replace(" ", "-")
    spellings = (name, plain, plain.removesuffix("s"))
    return [known.entry(name) for known in (MODELS, STEPS) for name in known.names() if name in spellings]


def _imported(path: str) -> Entry:
    allow_imports([path])
    try:
        return MODELS.entry(path)
    except UsageError as no_model:
        try:
            return STEPS.entry(path)
        except UsageError:
            raise no_model from None


def _called_otherwise(name: str) -> Catalogue | None:
    """What refuses a name that stands for one thing with what that is called here; a metric is refused at once."""
    if name in PROTOCOLS:
        return MODELS
    spellings = (name.lower().replace(" ", "-"), *other_names(name))
    if metric := next((spelling for spelling in spellings if spelling in _metrics()), ""):
        raise UsageError(f"there is no model '{name}'", hint=f"it is a metric: --metric {metric}")
    catalogues = [known for known in ALL if any(spelling in known for spelling in spellings)]
    return catalogues[0] if len(catalogues) == 1 else None


def _metrics() -> set[str]:
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import KINDS

    return {name for kind in KINDS for name in names_for(kind.answers)}
