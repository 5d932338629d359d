"""models: list the methods and steps, or show all that is known of one."""

from __future__ import annotations

from mlcli.cli._console import show_as
from mlcli.cli._declaring import argument
from mlcli.cli._options import Format, model_and_step_names
from mlcli.core.errors import UsageError
from mlcli.core.names import nearest
from mlcli.core.registry import IMPORT_PATH, MODELS, STEPS, Entry

EXAMPLES = ("mlcli models", "mlcli models knn", "mlcli models standardise")


def models_command(
    name: str | None = argument(
        "ID", "A method or step, such as knn or impute.", model_and_step_names, default=None
    ),
    format: Format = "text",
) -> None:
    """List the methods and steps, or show all that is known of one."""
    from mlcli.report.views import catalogue

    if name is None:
        show_as(format, catalogue.listing, catalogue.listing_as_json, MODELS.entries(), STEPS.entries())
    else:
        show_as(format, catalogue.pages_of, catalogue.pages_as_json, _entries(name))


def _entries(name: str) -> list[Entry]:
    if IMPORT_PATH.fullmatch(name):
        return [_imported(name)]
    found = [known.entry(name) for known in (MODELS, STEPS) if name in known]
    if found:
        return found
    similar = next((known for known in (MODELS, STEPS) if nearest(name, known.names())), MODELS)
    return [similar.entry(name)]


def _imported(path: str) -> Entry:
    try:
        return MODELS.entry(path)
    except UsageError as no_model:
        try:
            return STEPS.entry(path)
        except UsageError:
            raise no_model from None
