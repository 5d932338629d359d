"""What is shown, before a format draws it: headings, sentences, tables, notes, pictures, and numbers as text.

Numbers have as many digits as mean something, and the same in one column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from mlcli.core import findings
from mlcli.core.findings import Entry, Finding
from mlcli.core.findings import Picture as Picture
from mlcli.report.page import height

if TYPE_CHECKING:
    from mlcli.metrics.base import Metric

DIGITS = 4
UNIT_DECIMALS = 3
"""Of rates, shares and other scores that are bounded."""
LARGE = 1e7
NOISE = 1e-12
"""What is this much smaller than the largest of its column is rounding, and looks like 0."""


def decimals_for(sizes: Iterable[float]) -> int:
    """Decimals that show three to four digits of the typical size."""
    known = sorted(abs(size) for size in sizes if size and math.isfinite(size))
    if not known:
        return DIGITS - 1
    power = math.floor(math.log10(known[len(known) // 2]))
    return min(8, max(0, DIGITS - 1 - power if power >= 0 else DIGITS - 2 - power))


def fixed(value: float, decimals: int | None) -> str:
    """A number with so many decimals; a huge one with an exponent, and by its own size where none are said."""
    if decimals is None:
        return f"{value:.{DIGITS}g}"
    if abs(value) >= LARGE:
        return f"{value:.3g}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def short(value: float) -> str:
    """A single number in few characters, whole ones without a point."""
    if math.isfinite(value) and value == int(value) and abs(value) < LARGE:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def lined_up(values: Sequence[float | None]) -> list[str]:
    """The numbers of one column with the same decimals, unless their sizes differ too much; gaps stay empty.

    The decimals show four digits of the typical size and two of the smallest.
    """
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    sizes = sorted(size for size in finite if size > NOISE * max(finite))
    decimals = None
    if sizes and sizes[-1] < LARGE and not all(size == int(size) for size in sizes):
        typical, smallest = (math.floor(math.log10(size)) for size in (sizes[len(sizes) // 2], sizes[0]))
        decimals = max(0, DIGITS - 1 - typical, 1 - smallest)
    if decimals is None or decimals > 6:
        return ["" if value is None else short(value) for value in values]
    return ["" if value is None else fixed(value, decimals) for value in values]


def are_numbers(cells: Sequence[Entry]) -> bool:
    """Whether there is a number among some cells, and nothing else but gaps."""
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, int | float) for cell in known)


def column_of(cells: Sequence[Entry]) -> list[str]:
    """The cells of one column as text, numbers with the same decimals where it holds nothing else."""
    if are_numbers(cells):
        return lined_up([cell if isinstance(cell, int | float) else None for cell in cells])
    return ["" if cell is None else short(cell) if isinstance(cell, float) else str(cell) for cell in cells]


def share(part: float, whole: float) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def rate_text(rate: float | None) -> str:
    """A rate; none where there is no row that it could be of."""
    return "0/0" if rate is None else fixed(rate, UNIT_DECIMALS)


def p_text(p: float | None) -> str:
    """A probability of chance, the smallest ones as a bound."""
    if p is None:
        return "-"
    return f"{p:.{DIGITS}f}" if p >= 10**-DIGITS else f"< {10**-DIGITS:.{DIGITS}f}"


def short_p(p: float | None) -> str:
    """A probability of chance in two decimals, as in a table."""
    if p is None:
        return "-"
    return f"{p:.2f}" if p >= 0.095 else f"{p:.3f}" if p >= 0.001 else "<.001"


def as_equation(p: float | None) -> str:
    """A probability of chance behind the letter p."""
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"


class Estimate(Protocol):
    """A mean with its interval, such as a ``Summary``."""

    @property
    def mean(self) -> float | None:
        """The mean; None where it is undefined."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""


def decimals_of(metric: Metric, summaries: Sequence[Estimate]) -> int | None:
    """Decimals for scores of one metric: three where it is bounded, else by the size of score and interval.

    None where no number of decimals suits scores that are so large, or so unlike.
    """
    if metric.low is not None and metric.high is not None:
        return UNIT_DECIMALS
    means = [
        abs(summary.mean) for summary in summaries if summary.mean is not None and math.isfinite(summary.mean)
    ]
    largest = max(means, default=0.0)
    smallest = min((mean for mean in means if mean > NOISE * largest), default=0.0)
    decimals = decimals_for(max(abs(summary.mean or 0.0), reach_of(summary) or 0.0) for summary in summaries)
    if largest >= 1:
        # six digits of the largest score; a column whose others are small shows fewer of theirs
        decimals = min(decimals, max(0, 5 - math.floor(math.log10(largest))))
    looks_like_zero = metric.better != "zero" and smallest > 0 == round(smallest, decimals)
    return None if largest >= LARGE or looks_like_zero else decimals


def reach_of(summary: Estimate) -> float | None:
    """How far the interval reaches from the mean, on its longer side."""
    if summary.mean is None or summary.low is None or summary.high is None:
        return None
    reach = max(summary.high - summary.mean, summary.mean - summary.low)
    return reach if math.isfinite(reach) else None


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
