"""What ``mlcli models`` shows: the list of methods and steps, pages of some, or what a search finds."""

from __future__ import annotations

from itertools import chain

from mlcli.api import View
from mlcli.core.errors import UsageError
from mlcli.core.names import nearest, other_names
from mlcli.core.registry import ALL, IMPORT_PATH, MODELS, PROTOCOLS, STEPS, Catalogue, Entry, allow_imports
from mlcli.report.views import catalogue


def describe_methods(name: str | None = None) -> View:
    """All methods and steps; with a name, those of this id, or those whose descriptions mention it."""
    if name is None:
        models, steps = MODELS.entries(), STEPS.entries()
        return View(lambda: catalogue.listing(models, steps), lambda: catalogue.catalogue_record(models, steps))
    if entries := _entries(name):
        return View(lambda: catalogue.pages_of(entries), lambda: catalogue.pages_record(entries))
    if other_catalogue := _catalogue_of_another_name(name):
        other_catalogue.entry(name)  # raises an error with the name that it has here
    mentions = catalogue.mentions(name, chain(MODELS.entries(), STEPS.entries()))
    if not mentions:
        similar = next((known for known in ALL if nearest(name, known.names())), MODELS)
        similar.entry(name)  # raises an error with the similar names
    return View(lambda: catalogue.mentions_of(name, mentions), lambda: catalogue.mentions_record(name, mentions))


def _entries(name: str) -> list[Entry]:
    """The method and the step of an id, which may be in capitals, with spaces or in the plural, or of a class."""
    if IMPORT_PATH.fullmatch(name):
        allow_imports([name])
        try:
            return [MODELS.entry(name)]
        except UsageError as no_model:
            try:
                return [STEPS.entry(name)]
            except UsageError:
                raise no_model from None
    plain = name.lower().replace(" ", "-")
    spellings = (name, plain, plain.removesuffix("s"))
    return [known.entry(id) for known in (MODELS, STEPS) for id in known.names() if id in spellings]


def _catalogue_of_another_name(name: str) -> Catalogue | None:
    """The catalogue that knows what a name of other programs is called here; a metric is refused at once."""
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import KINDS

    if name in PROTOCOLS:
        return MODELS
    spellings = (name.lower().replace(" ", "-"), *other_names(name))
    metrics = {metric for kind in KINDS for metric in names_for(kind.answers)}
    if metric := next((spelling for spelling in spellings if spelling in metrics), ""):
        raise UsageError(f"there is no model '{name}'", hint=f"it is a metric: --metric {metric}")
    catalogues = [known for known in ALL if any(spelling in known for spelling in spellings)]
    return catalogues[0] if len(catalogues) == 1 else None
