"""The formats of a report: each renders the same document; ``--format`` takes the name."""

from __future__ import annotations

from collections.abc import Callable

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.report.document import Document
from mlcli.report.page import Page
from mlcli.tasks.table import named

Renderer = Callable[[Document, Page], str]
RENDERERS = {
    "text": "mlcli.report.formats.text:text_of",
    "markdown": "mlcli.report.formats.markdown:markdown_of",
    "latex": "mlcli.report.formats.latex:latex_of",
    "html": "mlcli.report.formats.html:html_of",
    "csv": "mlcli.report.formats.csv:csv_of",
}
"""What turns a document into text, named "module:function" and imported on use."""
TEXT, CSV, JSON = "text", "csv", "json"
"""What a terminal shows; and what is made of the results and not of the document: scripts want every digit."""
FORMATS = (*RENDERERS, JSON)


def renderer_of(format: str) -> Renderer:
    """What turns a document into a format."""
    render: Renderer = named(RENDERERS[format])
    return render


def known_format(format: str) -> str:
    """The name of a format, or an error that says which there are."""
    if format not in FORMATS:
        raise UsageError(f"there is no format '{format}'", hint=did_you_mean(format, FORMATS, "formats"))
    return format
