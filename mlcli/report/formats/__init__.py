"""The formats of a report: each file ``NAME.py`` of this folder has the function ``NAME_of``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.report.document import Document
from mlcli.report.page import Page

Renderer = Callable[[Document, Page], str]
TEXT, CSV, JSON = "text", "csv", "json"
"""Text is for terminals. CSV and JSON are made from the results, not from the document: they keep every digit."""
RENDERED = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))
FORMATS = (*RENDERED, JSON)


def renderer_of(format: str) -> Renderer:
    """The function that turns a document into a format."""
    render: Renderer = getattr(import_module(f"mlcli.report.formats.{format}"), f"{format}_of")
    return render


def known_format(format: str) -> str:
    """The name of a format; an unknown one is an error that lists the others."""
    if format not in FORMATS:
        raise UsageError(f"there is no format '{format}'", hint=did_you_mean(format, FORMATS, "formats"))
    return format
