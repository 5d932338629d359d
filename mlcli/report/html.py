"""Documents as one page of HTML: its style and pictures are in it, no script, nothing from a network.

jinja2 and matplotlib come with the extra ``mlcli[report]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.report.document import Document, Element, Grid, Heading, Lines, Notes, Sentence
from mlcli.report.layout import written
from mlcli.report.page import Page

TEMPLATE = "page.html"
KINDS: dict[type[Any], str] = {Sentence: "sentence", Lines: "lines", Notes: "notes", Grid: "table"}
"""By what the template shows an element; all others are pictures."""
PICTURE = "picture"
NEEDED = ("jinja2", "matplotlib")


@dataclass
class Part:
    """What stands under one heading; below a small one it may stand beside others."""

    heading: Heading | None = None
    elements: list[tuple[str, Any]] = field(default_factory=list)


def html_of(document: Document, page: Page) -> str:
    """The whole document as a page."""
    refuse_without_extra()
    parts = list(_parts(document))
    titles = [part.heading.text for part in parts if part.heading and part.heading.level == 1]
    title = titles[0] if len(titles) == 1 else "mlcli"
    shown: str = _template().render(
        parts=parts, titles=titles, title=title, version=__version__, shown=page.shown, written=written
    )
    return shown


def refuse_without_extra() -> None:
    """Say what is missing, before anything is run for a report."""
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(f"a report needs {' and '.join(missing)}", hint="pip install 'mlcli[report]'")


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(TEMPLATE)


def _parts(document: Document) -> Iterator[Part]:
    """The elements by the headings above them."""
    part, pictures = Part(), 0
    for element in document:
        if isinstance(element, Heading):
            if part.heading or part.elements:
                yield part
            part = Part(element)
            continue
        kind = KINDS.get(type(element), PICTURE)
        pictures += kind == PICTURE
        part.elements.append((kind, _svg(element, pictures) if kind == PICTURE else element))
    yield part


def _svg(picture: Element, number: int) -> str:
    from mlcli.report.pictures import svg_of

    return svg_of(picture, f"p{number}")
