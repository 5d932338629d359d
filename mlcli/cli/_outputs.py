"""Writing files, which are never replaced without ``--force``: rows, pages and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TextIO

import typer

from mlcli.api import View
from mlcli.cli._console import page_for, remark, results, results_to, show_result
from mlcli.cli._options import OUTPUT_PANEL, Force
from mlcli.core.errors import StoreError, UsageError
from mlcli.core.names import counted, free_name
from mlcli.core.processes import replacing
from mlcli.report.document import Document, grid
from mlcli.report.formats import CSV

Columns = Mapping[str, Sequence[str]]
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How cells begin that spreadsheets run."""

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file instead of standard output.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]


def refuse_to_replace(output: Path | None, force: bool) -> None:
    """Refuse a file that exists, unless it is to be replaced, and one whose folder does not exist."""
    if output is None:
        return
    refuse_missing_folder(output)
    if output.is_dir():
        raise UsageError(f"{output} is a folder", hint="name a file in it")
    refuse_existing(output, force)


def refuse_existing(output: Path | None, force: bool) -> None:
    """Refuse a file that exists, unless it is to be replaced."""
    if output is not None and output.is_file() and not force:
        hint = "name another file, or replace it with --force"
        raise UsageError(f"{output} exists: it was left alone", hint=hint)


def refuse_missing_folder(output: Path) -> None:
    """Refuse a path whose folder does not exist."""
    if not output.parent.is_dir():
        what = f"cannot be written: there is no folder '{output.parent}'"
        raise StoreError(what, where=str(output), hint=f"make it first: mkdir -p {output.parent}")


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
    """Write rows, in CSV with each name and cell as ``cell_text`` has it; report what was written to a file."""
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
        typed = {name: _values(cells) for name, cells in columns.items()}
        numbers = [
            index
            for index, values in enumerate(typed.values())
            if not any(isinstance(value, str) for value in values)
        ]
        view = View(
            lambda: (grid(columns, zip(*columns.values(), strict=True), right=numbers),),
            lambda: [dict(zip(columns, row, strict=True)) for row in zip(*typed.values(), strict=True)],
        )
        show_result(view, format)
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


def _values(cells: Sequence[str]) -> Sequence[float | str | None]:
    """Numbers if all cells are numbers, None for empty cells."""
    for kind in (int, float):
        with suppress(ValueError):
            result = [kind(cell) if cell else None for cell in cells]
            if all(value is None or math.isfinite(value) for value in result):
                return result
    return [cell or None for cell in cells]


@dataclass(frozen=True)
class PageOptions:
    """Where a report is written, if anywhere."""

    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write everything as one HTML page, with pictures.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            metavar="DIR",
            help="Write each picture of the report to this folder, as SVG.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None
    force: Force = False

    def __post_init__(self) -> None:
        """Refuse what cannot be written before anything is run."""
        if not self.wanted:
            return
        from mlcli.report.formats.html import refuse_without_extra

        refuse_without_extra()
        refuse_to_replace(self.html, self.force)
        if self.pictures is not None:
            refuse_to_fill(self.pictures, self.force)

    @property
    def wanted(self) -> bool:
        """Whether anything is written."""
        return self.html is not None or self.pictures is not None

    def write(self, make: Callable[[], Document]) -> None:
        """Write what was requested, and say where it is."""
        if self.wanted:
            document = make()
            if self.html is not None:
                remark(write_page(document, self.html))
            if self.pictures is not None:
                remark(write_pictures(document, self.pictures))


def refuse_to_fill(folder: Path, force: bool) -> None:
    """Refuse a folder for pictures that holds some, unless they are to be replaced."""
    refuse_missing_folder(folder.absolute())
    for picture in sorted(folder.glob("[0-9]*-*.*")):
        refuse_to_replace(picture, force)


def write_page(document: Document, output: Path) -> str:
    """Write a document as HTML; return a sentence that says where it is."""
    from mlcli.report.formats.html import html_of
    from mlcli.report.page import Page

    with replacing(output) as beside:
        beside.write_text(html_of(document, Page()), encoding="utf-8")
    return f"wrote {output}: open it in a browser"


def write_pictures(document: Document, folder: Path, format: str = "svg") -> str:
    """Write the pictures of a document to a folder; return a sentence that says where they are."""
    from mlcli.report.figures import save_all

    folder.mkdir(exist_ok=True)
    return f"wrote {counted(len(save_all(document, folder, format)), 'picture')} to {folder}"
