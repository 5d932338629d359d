"""Dates: turns columns of dates, such as 2024-02-29, into numbers: year, month, day and so on.

Formula:
    `year`, `month` (1 to 12), `day` (1 to 31), `weekday` (1 Monday to 7 Sunday), `day-of-year` (1 to 366), `days`
    since 1970-01-01.

Assumes:
    ISO dates (YYYY-MM-DD), as levels of a nominal column; what follows them, such as a time of day, is left out.

Cost:
    A look-up per cell.

Choices:
    A column is converted if all its levels are dates; others stay as they are. The parts replace the column. A
    date that does not occur in the training file is unknown, like every new level: its parts are missing. Months
    are numbers, so December is far from January: for trees this does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged

PARTS: dict[str, Callable[[date], int]] = {
    "year": lambda day: day.year,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
    "weekday": lambda day: day.isoweekday(),
    "day-of-year": lambda day: day.timetuple().tm_yday,
    "days": lambda day: day.toordinal() - date(1970, 1, 1).toordinal(),
}


@register("dates", reference="ISO 8601")
class Dates(ByColumn):
    """Parts of dates as numbers."""

    parts: tuple[str, ...] = param(("year", "month", "day", "weekday"), "the parts of each date", choices=PARTS)

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """A numeric column for each part of a date."""
        days = _dates(column)
        if days is None:
            yield column, unchanged
            return
        for part in self.parts:
            # The last number is for the code -1.
            of_levels = np.array([*(PARTS[part](day) for day in days), np.nan], np.float64)
            yield Column(f"{column.name} {part}", missing=column.missing), of_levels.__getitem__

    def explain(self) -> Explanation:
        """The columns of dates."""
        names = [column.name for column in self.columns_ if _dates(column) is not None]
        return (Lines(f"{len(names)} columns of dates", (listed(names, 30) or "no column holds dates only",)),)


def _dates(column: Column) -> list[date] | None:
    """The levels of a column as dates; None if one of them is not a date."""
    if not column.levels or column.kind != "nominal":
        return None
    try:
        return [date.fromisoformat(level[:10]) for level in column.levels]
    except ValueError:
        return None
