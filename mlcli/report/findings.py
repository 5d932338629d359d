"""What a model says of itself, as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlcli.core import findings
from mlcli.core.findings import Finding, Picture
from mlcli.report.document import Document, Element, Grid, Heading, Lines, grid, notes
from mlcli.report.numbers import are_numbers, column_of


def explained(explanation: Iterable[Finding]) -> Document:
    """The findings in order."""
    return tuple(element for finding in explanation for element in _elements(finding))


def _elements(finding: Finding) -> Iterator[Element]:
    """A finding under its title, with its note below."""
    if finding.title:
        yield Heading(finding.title)
    if isinstance(finding, findings.Table):
        yield _table(finding)
    elif isinstance(finding, findings.Lines):
        yield Lines(finding.lines)
    else:
        assert isinstance(finding, Picture)
        yield finding
    if finding.note:
        yield notes(finding.note)


def _table(table: findings.Table) -> Grid:
    """A table whose rows may be shorter than its header, or longer."""
    width = max(map(len, table.rows), default=len(table.header))
    rows = [(*row, *[None] * (width - len(row))) for row in table.rows]
    columns = list(zip(*rows, strict=True))
    header = (*table.header, *[""] * (width - len(table.header)))
    right = [place for place, cells in enumerate(columns) if are_numbers(cells)]
    return grid(header, zip(*map(column_of, columns), strict=True), right=right)
