"""Documents as one page of HTML, or as a piece of it for a notebook: no script, nothing from a network.

jinja2 and matplotlib come with the extra ``mlcli[report]``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.report.characters import drawn
from mlcli.report.document import Document, Element, Grid, Heading, Legend, Notes, Picture, Preformatted, Sentence
from mlcli.report.page import Page

if TYPE_CHECKING:
    from jinja2 import Template

MACROS: dict[type[Element], str] = {
    Sentence: "sentence", Preformatted: "lines", Notes: "notes", Grid: "table",
}  # fmt: skip
"""The macro of the template that shows an element; all others are pictures."""


class SvgPicture(NamedTuple):
    """A picture as SVG, with its title."""

    title: str
    svg: str


@dataclass
class Section:
    """What stands under one heading; below a small one it may stand beside others."""

    heading: Heading | None = None
    elements: list[tuple[str, Element | SvgPicture]] = field(default_factory=list)


def html_of(document: Document, page: Page) -> str:
    """The whole document as a page."""
    refuse_without_extra()
    sections = list(_sections(document, "p"))
    titles = [section.heading.text for section in sections if section.heading and section.heading.level == 1]
    title = titles[0] if len(titles) == 1 else "mlcli"
    return _template("page.html").render(
        shown=page.shown, sections=sections, titles=titles, title=title, version=__version__
    )


def fragment_of(document: Document, page: Page) -> str:
    """The document for the cell of a notebook; pictures are drawn in characters where matplotlib is not there."""
    name = f"m{hashlib.sha256(repr(document).encode()).hexdigest()[:12]}"
    return _template("fragment.html").render(shown=page.shown, sections=_sections(document, name))


def refuse_without_extra() -> None:
    """Say what is missing, before anything is run for a report."""
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise UsageError(f"a report needs {' and '.join(missing)}", hint="pip install 'mlcli[report]'")


@lru_cache
def _template(name: str) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _sections(document: Document, name: str) -> Iterator[Section]:
    """The elements by the headings above them; the ids of pictures begin with the name."""
    section, has_pictures = Section(), find_spec("matplotlib") is not None
    for index, element in enumerate(document):
        if isinstance(element, Heading):
            if section.heading or section.elements:
                yield section
            section = Section(element)
        elif isinstance(element, Picture) and has_pictures:
            from mlcli.report.figures import svg_of

            title = section.heading.text if section.heading else "picture"
            section.elements.append(("picture", SvgPicture(title, svg_of(element, f"{name}{index}"))))
        else:
            shown: Element = element.as_notes() if isinstance(element, Legend) else element
            shown = drawn(shown, None) if isinstance(shown, Picture) else shown
            section.elements.append((MACROS[type(shown)], shown))
    yield section
