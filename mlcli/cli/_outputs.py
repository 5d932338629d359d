"""What commands write: rows, pages and pictures; where ``-o`` points, and what it may not replace."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

from mlcli.cli._console import page_for, remark, results, results_to, show_as
from mlcli.cli._declaring import flag, option, shared
from mlcli.core.errors import StoreError, UsageError
from mlcli.core.files import replacing
from mlcli.core.names import counted, did_you_mean, free_name
from mlcli.report.document import Document, grid
from mlcli.report.formats._registry import CSV

Columns = Mapping[str, Sequence[str]]
PICTURE_FORMATS = ("svg", "png", "pdf")


def in_a_folder(output: Path | None) -> Path | None:
    """A file to write, unless its folder is not there: that is said before any work is done."""
    if output is not None and not output.parent.is_dir():
        what = f"cannot be written: there is no folder '{output.parent}'"
        raise StoreError(what, where=str(output), hint=f"make it first: mkdir -p {output.parent}")
    return output


Output = Annotated[
    Path | None, shared("--output -o", "FILE", "Write here instead of standard output.", callback=in_a_folder)
]
Force = Annotated[bool, shared("--force", None, "Replace FILE if it is there.")]
INSTEAD = "name another file, or replace it with --force"
EARLIER = {
    "answers of mlcli predict": rb"row,|\| *row\b|\[\s*{\s*\"row\":",
    "page of mlcli": rb"\s*<!DOCTYPE html>.*?<meta name=\"generator\" content=\"mlcli ",
    "picture of mlcli": rb".*?Matplotlib v|%PDF-1\.\d\n%\xac\xdc \xab\xba",
    "JUnit XML": rb"<\?xml[^>]*>\s*<testsuites\b",
}
"""How files begin that may be replaced by another of their kind."""
BEGINNING = 2048
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How cells begin that spreadsheets run."""


def refuse_to_replace(output: Path | None, force: bool) -> None:
    """Refuse a file that is there, unless it is to be replaced."""
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists: it was left alone", hint=INSTEAD)


def refuse_unlike(output: Path | None, what: str, force: bool = False, instead: str = INSTEAD) -> None:
    """Refuse a file that is nothing earlier of the same kind, and whatever a link leads to."""
    if output is None or force:
        return
    if output.is_symlink() and (output.is_file() or not output.exists()):
        raise UsageError(f"{output} is a link to {output.resolve()}: it was left alone", hint=instead)
    if output.is_file():
        with output.open("rb") as file:
            beginning = file.read(BEGINNING)
        if beginning and not re.match(EARLIER[what], beginning, re.DOTALL):
            raise UsageError(f"{output} exists and holds no {what}: it was left alone", hint=instead)


def refuse_to_overwrite(output: Path, data: str, model: Path | None = None) -> None:
    """Refuse an output that is the data, their sidecar or the model, by whatever path or link it is named."""
    from mlcli.data.new_rows import STANDARD_INPUT
    from mlcli.data.shipped import find
    from mlcli.data.sidecar import sidecar_places

    rows = Path("/dev/stdin") if data == STANDARD_INPUT else find(data)
    read = {rows: "the file that the rows are read from"}
    read |= dict.fromkeys(sidecar_places(rows), f"where the sidecar of {rows} belongs")
    read |= {model: "the model that is asked"} if model is not None else {}
    for path, what in read.items():
        if _are_same(output, path):
            raise UsageError(f"{output} is {what}: it was left alone", hint="name another file with -o FILE")


def _are_same(output: Path, path: Path) -> bool:
    """A sidecar that is not there yet has a place already: what is written there would be read as one."""
    if output.is_file() and path.is_file():
        return os.path.samefile(output, path)
    return not output.exists() and os.path.realpath(output) == os.path.realpath(path)


def without_controls(cell: str) -> str:
    """A cell with its control characters escaped; tabs and line ends stay."""
    return cell if cell.isprintable() else cell.translate(CONTROLS)


def safe_cell(cell: str) -> str:
    """The same, with an apostrophe before what a spreadsheet would run as a formula; numbers stay."""
    cell = without_controls(cell)
    if cell.startswith(FORMULAS):
        try:
            float(cell)
        except ValueError:
            return f"'{cell}"
    return cell


def write_rows(
    columns: Columns, output: Path | None, format: str = CSV, cell_text: Callable[[str], str] = str
) -> None:
    """Write rows, in CSV with each name and cell as ``cell_text`` has it; what was written to a file is said."""
    if format == CSV and cell_text is not str:
        texts: dict[str, Sequence[str]] = {}
        for name, cells in columns.items():
            texts[free_name(cell_text(name), texts)] = list(map(cell_text, cells))
        columns = texts
    if output is None:
        _print(columns, format)
        return
    with (
        replacing(output) as beside,
        beside.open("w", encoding="utf-8", newline="") as target,
        results_to(target),
    ):
        _print(columns, format)
    remark(f"wrote {counted(len(next(iter(columns.values()), ())), 'row')} to {output}")


def _print(columns: Columns, format: str) -> None:
    if format != CSV:
        show_as(format, _table, _records, columns)
        return
    import csv

    stream = results()
    writer = csv.writer(_PrintableStream(stream) if stream.isatty() else stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


class _PrintableStream:
    """A terminal that is sent no control characters; files and pipes get every cell as it was."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal, self._page = terminal, page_for(terminal)

    def write(self, line: str) -> int:
        """Write a line of CSV."""
        return self._terminal.write(self._page.shown(line.removesuffix("\n")) + "\n")


def _table(columns: Columns) -> Document:
    texts = [any(isinstance(one, str) for one in _values(cells)) for cells in columns.values()]
    numbers = [place for place, is_text in enumerate(texts) if not is_text]
    return (grid(columns, zip(*columns.values(), strict=True), right=numbers),)


def _records(columns: Columns) -> list[dict[str, Any]]:
    typed = map(_values, columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*typed, strict=True)]


def _values(cells: Sequence[str]) -> list[Any]:
    """Numbers where all cells are numbers, and None where there is none."""
    for kind in (int, float):
        with suppress(ValueError):
            found = [kind(cell) if cell else None for cell in cells]
            if all(one is None or math.isfinite(one) for one in found):
                return found
    return [cell or None for cell in cells]


Pictures = Annotated[Path | None, shared("--pictures", "DIR", "Write each picture of the report as a file.")]
PictureFormat = Annotated[
    str, shared("--picture-format", "NAME", f"One of {', '.join(PICTURE_FORMATS)}.", lambda: list(PICTURE_FORMATS))
]


@dataclass(frozen=True)
class PageOptions:
    """Where a report is written, if anywhere; what stands in the way is said before anything is run."""

    html: Path | None = option("--html", "FILE", "Write all of it as one page of HTML, with pictures.")
    pictures: Pictures = None
    picture_format: PictureFormat = PICTURE_FORMATS[0]
    force: bool = flag("--force", "Replace such files whatever they are, not only earlier ones.")

    def __post_init__(self) -> None:
        if self.picture_format not in PICTURE_FORMATS:
            what = f"there is no format '{self.picture_format}' of pictures"
            raise UsageError(what, hint=did_you_mean(self.picture_format, PICTURE_FORMATS, "formats"))
        if self.picture_format != PICTURE_FORMATS[0] and self.pictures is None:
            what = f"--picture-format {self.picture_format}: no pictures are asked for"
            raise UsageError(what, hint="say where they go, with --pictures DIR")
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
            from mlcli.core.names import counted
            from mlcli.report.pictures.files import save_all

            self.pictures.mkdir(exist_ok=True)
            written = save_all(document, self.pictures, self.picture_format)
            say(f"wrote {counted(len(written), 'picture')} to {self.pictures}")
