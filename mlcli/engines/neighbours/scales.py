"""What steps make of columns without each row in turn: what fills gaps, and what a unit is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.held_out import Round
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.entries import Entries, entries_of
from mlcli.engines.split_sums import Batch, NotFromSumsError, SplitRows, one_by_one

LARGEST_SCALES = 2e7
"""How many numbers the units without each row may be."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Columns (n × m), filled as most rows would have it, and how it differs without each row (n × m)."""

    columns: Array
    gaps: Array
    """1 where a cell was empty."""
    fill: Array
    """What is to be added where a cell was empty."""
    unit: Array
    """Infinite where a column is constant without the row."""
    size: Array
    """What a filling was taken from may be so large (n × m, in units): it rounds accordingly."""
    refused: Flags

    @cached_property
    def filled(self) -> bool:
        """Whether any cell was empty."""
        return bool(self.gaps.any())

    @cached_property
    def exact(self) -> bool:
        """Whether the columns are the cells as they stand, whichever row is left out."""
        return not self.filled and bool((self.unit == 1.0).all())


def scales_without_each(table: Table, steps: Sequence[Step], weights: Array, round_: Round) -> Scales | None:
    """The scales without each row; None where only fits can tell, or there would be too many."""
    entries = Entries.of(table, weights)
    if round_.parts * entries.width > LARGEST_SCALES:
        return None
    rows = SplitRows(entries, np.zeros(len(table), np.intp), 1, round_, steps)
    try:
        batches = list(one_by_one(rows))
    except NotFromSumsError:
        return None
    coded = any(place.column.coded for place in batches[0].known.places)
    return None if coded else _scales(table, entries, batches)


def _scales(table: Table, entries: Entries, batches: Sequence[Batch]) -> Scales | None:
    """The scales; None where gaps are left."""
    features = entries_of(batches[0].known.places)
    numbers = table.numbers.shape[1]
    cells = np.column_stack([table.numbers, entries.rows(slice(None))[:, numbers:]])[:, features]
    with_gaps: Flags = np.asarray(np.isnan(cells).any(axis=0))
    varies = np.asarray(with_gaps | (np.ptp(cells, axis=0) > 0), bool)
    features, cells, with_gaps = features[varies], cells[:, varies], with_gaps[varies]
    known = ((batch.known.offset, batch.known.scale, batch.known.fill) for batch in batches)
    offset, scale, fill = (np.concatenate(parts)[:, features] for parts in zip(*known, strict=True))
    if np.isnan(fill[:, with_gaps]).any():
        return None
    refused = np.concatenate([batch.doubtful for batch in batches])
    scale[refused] = 1.0
    flat = scale == 0
    unit = np.where(flat, np.inf, 1.0 / np.where(flat, 1.0, scale))
    filled = entries.origin_of(features) + offset + fill / np.where(flat, 1.0, scale)
    filled = np.where(with_gaps & ~flat, filled, 0.0)
    usual = np.median(filled, axis=0)
    filled[refused] = usual
    gaps = np.isnan(cells)
    largest = np.abs(table.numbers[:, np.isnan(table.numbers).any(axis=0)])
    size = np.nanmax(largest, initial=0.0) * (with_gaps & (features < numbers)) / unit
    return Scales(np.where(gaps, usual, cells), gaps.astype(np.float64), filled - usual, unit, size, refused)
