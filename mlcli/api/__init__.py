"""mlcli from Python and notebooks: the work of the commands, with data frames in and out.

A report is what a command shows: a document for people and a record for programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.core.errors import UsageError
from mlcli.core.processes import replacing
from mlcli.core.serialise import plain
from mlcli.report.document import Document
from mlcli.report.formats import CSV, JSON, known_format, renderer_of
from mlcli.report.page import Page

if TYPE_CHECKING:
    from mlcli.experiment.run.batch_state import OnProgress
    from mlcli.experiment.spec.cells import Cell

Watch = Callable[["Sequence[Cell]"], "AbstractContextManager[OnProgress | None]"]
"""Shows the progress of work on some cells."""


def unwatched(cells: Sequence[Cell]) -> AbstractContextManager[None]:
    """Show no progress."""
    return nullcontext()


class Report:
    """A document that shows itself: as text where it is printed, as HTML in a notebook."""

    @property
    def document(self) -> Document:
        """What is shown, before a format renders it."""
        raise TypeError(f"{type(self).__name__} does not say what it shows")

    @property
    def record(self) -> object:
        """The same as ``--json`` prints it: a dataclass, or plain values."""
        raise TypeError(f"{type(self).__name__} has no record")

    @property
    def rows(self) -> Document:
        """What ``--format csv`` prints: the document, or one table in its place."""
        return self.document

    def to(self, format: str) -> str:
        """The result in a format of ``--format``, such as markdown or json."""
        if known_format(format) == JSON:
            import json

            return json.dumps(plain(self.record), indent=2, ensure_ascii=False)
        return renderer_of(format)(self.rows if format == CSV else self.document, Page())

    def write(self, path: str | Path) -> None:
        """Write the report; the suffix says how: html, md, tex, txt or json."""
        path = Path(path)
        formats = {".html": "html", ".md": "markdown", ".tex": "latex", ".txt": "text", ".json": JSON}
        if path.suffix not in formats:
            raise UsageError(f"no report ends in '{path.suffix}'", hint=f"one of {', '.join(formats)}")
        text = self.to(formats[path.suffix])
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return renderer_of("text")(self.document, Page(100))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        """For a notebook, which shows the text where there is no jinja2."""
        from mlcli.report.formats.html import fragment_of

        return None if find_spec("jinja2") is None else fragment_of(self.document, Page())


@dataclass(frozen=True, eq=False, repr=False)
class View(Report):
    """A report whose document and record are only made when they are shown."""

    make_document: Callable[[], Document]
    make_record: Callable[[], object]
    make_rows: Callable[[], Document] | None = None
    """What ``--format csv`` prints, where that is not the document."""
    failed: bool = False
    """Whether the command ends with an exit code that says so: a serious issue, or a difference, was found."""

    @property
    def document(self) -> Document:
        """What is shown, before a format renders it."""
        return self.make_document()

    @property
    def record(self) -> object:
        """The same as ``--json`` prints it."""
        return self.make_record()

    @property
    def rows(self) -> Document:
        """What ``--format csv`` prints."""
        return self.document if self.make_rows is None else self.make_rows()
