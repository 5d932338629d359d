"""Rows that a command gives, as CSV or otherwise: to a file, whole or not at all, or to standard output."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

from mlcli.cli._console import page_for, remark, show_as
from mlcli.core.files import replacing
from mlcli.report.document import Document, grid
from mlcli.report.formats.table import CSV
from mlcli.report.numbers import counted

Columns = Mapping[str, Sequence[str]]


def give(columns: Columns, output: Path | None, format: str = CSV) -> None:
    """Write rows; what was written to a file is said."""
    if output is None:
        _print(columns, format)
        return
    with (
        replacing(output) as beside,
        beside.open("w", encoding="utf-8", newline="") as target,
        redirect_stdout(target),
    ):
        _print(columns, format)
    remark(f"wrote {counted(len(next(iter(columns.values()), ())), 'row')} to {output}")


def _print(columns: Columns, format: str) -> None:
    if format != CSV:
        show_as(format, _table, _records, columns)
        return
    import csv

    writer = csv.writer(_PrintableStream(sys.stdout) if sys.stdout.isatty() else sys.stdout, lineterminator="\n")
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
