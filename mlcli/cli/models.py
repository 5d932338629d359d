"""models: list the methods and steps, those whose pages mention some words, or show all that is known of one."""

from __future__ import annotations

from mlcli.cli._console import show_as
from mlcli.cli._declaring import argument
from mlcli.cli._options import Format, model_and_step_names
from mlcli.core.aliases import other_names
from mlcli.core.errors import UsageError
from mlcli.core.names import nearest
from mlcli.core.registry import ALL, IMPORT_PATH, MODELS, PROTOCOLS, STEPS, Catalogue, Entry

EXAMPLES = ("mlcli models", "mlcli models knn", "mlcli models standardise", "mlcli models hinge")


def models_command(
    name: str | None = argument(
        "ID", "A method or step, such as knn or impute; or a word of its page.", model_and_step_names, default=None
    ),
    format: Format = "text",
) -> None:
    """List the methods and steps, or show all that is known of one.

    Of a word that names none, such as hinge or Viterbi: those whose pages say it.
    """
    from mlcli.report.views import catalogue

    if name is None:
        show_as(format, catalogue.listing, catalogue.listing_as_json, MODELS.entries(), STEPS.entries())
    elif mentioned := _mentioning(name):
        show_as(format, catalogue.listing, catalogue.listing_as_json, *mentioned)
    else:
        show_as(format, catalogue.pages_of, catalogue.pages_as_json, _entries(name))


def _mentioning(words: str) -> tuple[list[Entry], ...]:
    """The methods and the steps whose pages have words that name nothing."""
    if _meaning(words):
        return ()
    if metric := next((name for name in _spellings(words) if name in _metrics()), ""):
        raise UsageError(f"there is no model '{words}'", hint=f"it is a metric: --metric {metric}")
    found = MODELS.mentioning(words), STEPS.mentioning(words)
    return found if any(found) else ()


def _meaning(name: str) -> list[Catalogue]:
    """The catalogues that have the name, or what it is called here."""
    return [known for known in ALL if any(one in known for one in _spellings(name))]


def _spellings(name: str) -> tuple[str, ...]:
    return (name, "-".join(name.lower().split()), *other_names(name))


def _metrics() -> set[str]:
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import KINDS

    return {name for kind in KINDS for name in names_for(kind.answers)}


def _entries(name: str) -> list[Entry]:
    if IMPORT_PATH.fullmatch(name):
        return [_imported(name)]
    found = [known.entry(name) for known in (MODELS, STEPS) if name in known]
    if found:
        return found
    similar = _meaning(name) or [known for known in ALL if nearest(name, known.names())]
    wanted = similar[0] if similar and name not in PROTOCOLS else MODELS
    return [wanted.entry(name)]


def _imported(path: str) -> Entry:
    try:
        return MODELS.entry(path)
    except UsageError as no_model:
        try:
            return STEPS.entry(path)
        except UsageError:
            raise no_model from None
