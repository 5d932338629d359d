"""Reports as files: one page of HTML, and pictures by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mlcli.cli._console import remark
from mlcli.cli._declaring import flag, option, shared
from mlcli.cli._outputs import refuse_unlike
from mlcli.core.errors import StoreError, UsageError
from mlcli.core.names import did_you_mean
from mlcli.report.document import Document

PICTURE_FORMATS = ("svg", "png", "pdf")

Pictures = Annotated[Path | None, shared("--pictures", "DIR", "Write each picture of the report as a file.")]
PictureFormat = Annotated[
    str, shared("--picture-format", "NAME", f"One of {', '.join(PICTURE_FORMATS)}.", lambda: list(PICTURE_FORMATS))
]


@dataclass(frozen=True)
class Pages:
    """Where a report is written, if anywhere; what stands in the way is said before anything is run."""

    html: Path | None = option("--html", "FILE", "Write all of it as one page of HTML, with pictures.")
    pictures: Pictures = None
    picture_format: PictureFormat = PICTURE_FORMATS[0]
    force: bool = flag("--force", "Replace such files whatever they are, not only earlier ones.")

    def __post_init__(self) -> None:
        if self.picture_format not in PICTURE_FORMATS:
            what = f"there is no format '{self.picture_format}' of pictures"
            raise UsageError(what, hint=did_you_mean(self.picture_format, PICTURE_FORMATS, "formats"))
        if not self.wanted:
            return
        from mlcli.report.formats.html import refuse_without_extra

        refuse_without_extra()
        for path in filter(None, (self.html, self.pictures)):
            if not path.absolute().parent.is_dir():
                what = f"{path}: there is no folder {path.parent}"
                raise StoreError(what, hint="make it first, or name another")
        if self.html is not None and self.html.is_dir():
            raise StoreError(f"{self.html} is a folder", hint="name the file, such as report.html")
        refuse_unlike(self.html, "page of mlcli", self.force)
        for path in self.pictures.glob(f"[0-9]*-*.{self.picture_format}") if self.pictures else ():
            refuse_unlike(path, "picture of mlcli", self.force)

    @property
    def wanted(self) -> bool:
        """Whether anything is written."""
        return self.html is not None or self.pictures is not None

    def write(self, make: Callable[[], Document], say: Callable[[str], None] = remark) -> None:
        """Write what was asked for, and say where it is."""
        if not self.wanted:
            return
        document = make()
        if self.html is not None:
            from mlcli.core.files import replacing
            from mlcli.report.formats.html import html_of
            from mlcli.report.page import Page

            page = html_of(document, Page())
            with replacing(self.html) as beside:
                beside.write_text(page, encoding="utf-8")
            say(f"wrote {self.html}: open it in a browser")
        if self.pictures is not None:
            from mlcli.report.numbers import counted
            from mlcli.report.pictures.files import save_all

            self.pictures.mkdir(exist_ok=True)
            written = save_all(document, self.pictures, self.picture_format)
            say(f"wrote {counted(len(written), 'picture')} to {self.pictures}")
