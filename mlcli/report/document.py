"""What is shown, before anyone decides how: headings, sentences, tables, notes and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mlcli.core import findings
from mlcli.core.findings import Finding
from mlcli.core.findings import Picture as Picture
from mlcli.report.numbers import are_numbers, column_of
from mlcli.report.page import height

Style = Literal["", "strong", "best", "weak", "bad"]
Side = Literal["left", "right"]


@dataclass(frozen=True)
class GridCell:
    """One piece of text and what it means; no meaning is carried by colour alone."""

    text: str
    style: Style = ""
    heights: tuple[float, ...] = ()
    """In the place of text, a picture as small as a word: heights from 0 to 1."""
    shade: float | None = None
    """From 0 to 1, how strongly the cell is shaded in the colour of its style."""
    mark: str = ""
    """A sign before the text, such as a star at the best score."""
    reach: str = ""
    """The half-width of an interval, behind its sign."""
    ends: tuple[str, str] | None = None
    """The ends of an interval, where it has no single half-width."""

    @property
    def written(self) -> str:
        """The text with its mark and interval; a picture as small as a word is drawn."""
        interval = f" ±{self.reach}" if self.reach else f" [{self.ends[0]}, {self.ends[1]}]" if self.ends else ""
        return "".join(map(height, self.heights)) or f"{self.mark}{self.text}{interval}"


Content = str | GridCell
"""What may be given as one cell of a table."""


@dataclass(frozen=True)
class Heading:
    """The title of what follows; level 1 is a whole dataset, level 2 a part of it."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Sentence:
    """A paragraph."""

    text: str
    style: Style = ""


@dataclass(frozen=True)
class Preformatted:
    """Lines that keep their breaks and their leading spaces, such as a tree."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Notes:
    """Remarks about what stands above, each with its mark or none."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Legend:
    """What the marks, signs and columns of a table mean: each with its meaning."""

    items: tuple[tuple[str, str], ...]

    def as_notes(self, without: str = "") -> Notes:
        """One note with all meanings, but that of a sign."""
        texts = (f"{sign} {meaning}" for sign, meaning in self.items if sign != without)
        return notes(" · ".join(texts))


@dataclass(frozen=True)
class Grid:
    """A table; the first ``keys`` columns are repeated where it must be cut to fit a width."""

    header: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    sides: tuple[Side, ...]
    keys: int = 1

    def columns(self, indices: Sequence[int]) -> Grid:
        """Some of the columns, in the order given."""
        return replace(
            self,
            header=tuple(self.header[index] for index in indices),
            rows=tuple(tuple(row[index] for index in indices) for row in self.rows),
            sides=tuple(self.sides[index] for index in indices),
        )


Element = Heading | Sentence | Preformatted | Notes | Legend | Grid | Picture
Document = tuple[Element, ...]


def strong(text: str) -> GridCell:
    """The name of what a row or a fact is about."""
    return GridCell(text, "strong")


def grid(
    header: Iterable[str], rows: Iterable[Iterable[Content]], right: Iterable[int] = (), keys: int = 1
) -> Grid:
    """A grid from plain text or cells; ``right`` are the columns of numbers."""
    titles, numbers = tuple(header), frozenset(right)
    cells = tuple(tuple(item if isinstance(item, GridCell) else GridCell(item) for item in row) for row in rows)
    sides: tuple[Side, ...] = tuple("right" if index in numbers else "left" for index in range(len(titles)))
    return Grid(titles, cells, sides, keys)


def grid_of_numbers(header: Iterable[str], rows: Iterable[Sequence[Content]], keys: int = 1) -> Grid:
    """A grid that begins with a name in strong letters, and holds numbers behind its ``keys`` columns."""
    titles = tuple(header)
    named = ((strong(name) if isinstance(name, str) else name, *cells) for name, *cells in rows)
    return grid(titles, named, range(keys, len(titles)), keys)


def notes(*items: str, mark: str = "") -> Notes:
    """Notes, all of them with a mark or without."""
    return Notes(tuple((mark, item) for item in items))


def explained(explanation: Iterable[Finding]) -> Document:
    """The findings in order, each under its title, with its note below."""
    elements: list[Element] = []
    for finding in explanation:
        if finding.title:
            elements.append(Heading(finding.title))
        if isinstance(finding, findings.Table):
            elements.append(_table_grid(finding.header, finding.rows))
        elif isinstance(finding, findings.Choices):
            remarks = [f"the {edge} that was tried" if edge else "" for edge in finding.edges]
            error = "" if finding.error is None else f"± {finding.error:.3g}"
            chosen = list(zip(finding.names, finding.values, remarks, strict=True))
            score = (f"inner {finding.metric}", finding.score, error)
            elements.append(_table_grid(("what", "chosen", "remark"), (*chosen, score)))
        elif isinstance(finding, findings.Lines):
            elements.append(Preformatted(finding.lines))
        elif isinstance(finding, Picture):
            elements.append(finding)
        if finding.note:
            elements.append(notes(finding.note))
    return tuple(elements)


def _table_grid(header: Sequence[str], rows: Sequence[Sequence[findings.Entry]]) -> Grid:
    """A table whose rows may be shorter than its header, or longer."""
    width = max(map(len, rows), default=len(header))
    columns = list(zip(*((*row, *[None] * (width - len(row))) for row in rows), strict=True))
    titles = (*header, *[""] * (width - len(header)))
    right = [index for index, cells in enumerate(columns) if are_numbers(cells)]
    return grid(titles, zip(*map(column_of, columns), strict=True), right=right)
