"""What naive Bayes sees of each row, whatever steps have made of it: numbers with gaps, and codes of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.expansion import NONE, UNSCALED, Coded, Expansion, Number, started, taken_through
from mlcli.tasks.classification import LabelledRows


@dataclass(frozen=True, eq=False)
class Levels:
    """A coded column: the code of each row (-1 in a gap), and the indicators of its levels."""

    codes: Codes
    indicators: Rows
    filled: bool


@dataclass(frozen=True, eq=False)
class SeenColumns:
    """``numbers`` (n × m) are as they stand in the file, before they are filled and scaled; NaN in a gap."""

    numbers: Array
    filled: Flags
    """Which of them are filled in a gap: by the mean, or an indicator by whether its level is most frequent."""
    fills: Rows
    place: Rows
    """Of numbers that indicate a level, where it stands among ``levels``."""
    ddof: Array
    """Where they are standardised; below 0 where not."""
    coded: tuple[Levels, ...]
    levels: Array
    """The indicators of all levels (n × L)."""
    sources: tuple[tuple[int, ...], ...]
    """The levels of each source of fills, by their places."""
    gaps: bool
    """Whether any number is missing."""

    @property
    def scaled(self) -> Flags:
        """Which numbers are standardised."""
        return np.asarray(self.ddof > UNSCALED)

    @property
    def indicates(self) -> Flags:
        """Which numbers are indicators of levels."""
        return np.asarray(self.fills != NONE)

    @classmethod
    def of(cls, data: LabelledRows, steps: Sequence[Step]) -> SeenColumns | None:
        """What steps make of the columns; None where that does not follow from sums and counts."""
        expansion = taken_through(data.table, steps)
        if expansion is None:
            return None
        made = [one for one in expansion.made if isinstance(one, Number)]
        coded = [one for one in expansion.made if isinstance(one, Coded)]
        kept = sorted({level for one in (*expansion.sources, *(one.levels for one in coded)) for level in one})
        places = np.full(expansion.columns.shape[1] + 1, NONE, np.intp)
        places[kept] = np.arange(len(kept))
        numbers = _numbers(data, expansion, made)
        return cls(
            numbers,
            np.array([one.filled and one.gap != NONE for one in made], bool),
            np.array([one.fills for one in made], np.intp),
            np.array([max(places[one.main], 0) for one in made], np.intp),
            np.array([one.ddof for one in made], np.float64),
            tuple(_levels(expansion, one, places) for one in coded),
            expansion.columns[:, kept],
            tuple(tuple(places[list(levels)].tolist()) for levels in expansion.sources),
            bool(np.isnan(numbers).any()),
        )


def _numbers(data: LabelledRows, expansion: Expansion, made: Sequence[Number]) -> Array:
    first = started(data.table).made
    raw = {one.main: data.table.cells(one.column.name) for one in first if isinstance(one, Number)}
    if [one.main for one in made] == list(raw):
        return data.table.numbers
    cells = [raw.get(one.main, _with_gaps(expansion, one)) for one in made]
    return np.column_stack(cells).astype(np.float64) if cells else np.empty((len(data), 0))


def _with_gaps(expansion: Expansion, one: Number) -> Array:
    cells: Array = expansion.columns[:, one.main]
    return cells if one.gap == NONE else np.where(expansion.columns[:, one.gap] > 0, np.nan, cells)


def _levels(expansion: Expansion, one: Coded, places: Rows) -> Levels:
    indicators = np.array(one.levels, np.intp)
    there = expansion.columns[:, indicators]
    codes = np.where(there.any(axis=1), there.argmax(axis=1), -1) if len(indicators) else np.full(len(there), -1)
    return Levels(codes.astype(np.int32), places[indicators], one.filled and one.gap != NONE)
