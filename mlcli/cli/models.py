"""models: list the methods and steps, or show all that is known of one."""

from __future__ import annotations

from itertools import chain

from mlcli.cli._console import show_as
from mlcli.cli._declaring import argument
from mlcli.cli._options import Format, model_and_step_names
from mlcli.core.errors import UsageError
from mlcli.core.names import nearest
from mlcli.core.registry import IMPORT_PATH, MODELS, PROTOCOLS, STEPS, Entry

EXAMPLES = ("mlcli models", "mlcli models knn", "mlcli models standardise", "mlcli models gini")


def models_command(
    name: str | None = argument(
        "ID", "A method or step, such as knn or impute, or a word to look for.", model_and_step_names, default=None
    ),
    format: Format = "text",
) -> None:
    """List the methods and steps, show all that is known of one, or those that speak of a word."""
    from mlcli.report.views import catalogue, mentions

    if name is None:
        show_as(format, catalogue.listing, catalogue.listing_as_json, MODELS.entries(), STEPS.entries())
    elif entries := _entries(name):
        show_as(format, catalogue.pages_of, catalogue.pages_as_json, entries)
    elif name not in PROTOCOLS and (found := mentions.mentions(name, chain(MODELS.entries(), STEPS.entries()))):
        show_as(format, mentions.listing, mentions.as_json, name, found)
    else:
        similar = next((known for known in (MODELS, STEPS) if nearest(name, known.names())), MODELS)
        similar.entry(name)


def _entries(name: str) -> list[Entry]:
    """The method and the step of an id, also in capitals or with spaces."""
    if IMPORT_PATH.fullmatch(name):
        return [_imported(name)]
    spellings = (name, name.lower().replace(" ", "-"))
    return [known.entry(one) for known in (MODELS, STEPS) for one in known.names() if one in spellings]


def _imported(path: str) -> Entry:
    try:
        return MODELS.entry(path)
    except UsageError as no_model:
        try:
            return STEPS.entry(path)
        except UsageError:
            raise no_model from None
