"""The cells of a table as bins, learned from training rows: what trees of histograms ask for.

Bins 0 to ``known - 1`` of a column hold its values, in their order where they have one; the next one is of missing
cells. A nominal column has a bin for each level; beyond 254 of them, the rarest share one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.models.trees._binning import MOST_BINS, Bins, edges_of
from mlcli.models.trees._features import level_counts, ordered


@dataclass(frozen=True, eq=False)
class Coding:
    """Which bin every possible cell of some columns lies in."""

    thresholds: Array
    """F × 255: x is in the bin with as many thresholds below it; infinite past the last and where nominal."""
    known: Rows
    """How many bins of each column are of values."""
    level_bins: Rows
    """The bins of all levels of the first nominal column, of missing cells in it, of the next one's levels, ..."""

    @staticmethod
    def of(table: Table, weights: Array, most: int) -> tuple[Coding, Bins]:
        """The coding of training rows, and their bins (F × n)."""
        levels, by_threshold = level_counts(table.columns), ordered(table.columns)
        thresholds = np.full((len(levels), MOST_BINS), np.inf)
        known, level_bins = np.zeros(len(levels), np.intp), [np.empty(0, np.intp)]
        for j, cells in enumerate(_columns(table)):
            if by_threshold[j]:
                edges = edges_of(cells, most)
                known[j] = len(edges.lowest)
                thresholds[j, : len(edges.thresholds)] = edges.thresholds
            else:
                known[j], bins = _bins_of_levels(cells, int(levels[j]), weights)
                level_bins.append(bins)
        coding = Coding(thresholds, known, np.concatenate(level_bins))
        return coding, coding.bins(table, np.ones(len(levels), bool))

    def bins(self, table: Table, asked: Flags) -> Bins:
        """The bins (F × n) of rows; those of columns that are not asked for are left 0."""
        from mlcli.kernels.binning import bins_of

        levels, by_threshold = level_counts(table.columns), ordered(table.columns)
        starts = np.cumsum(levels) - levels
        bins = np.zeros((len(levels), len(table)), np.uint8)
        for j, cells in enumerate(_columns(table)):
            if asked[j] and by_threshold[j]:
                bins_of(cells, self.thresholds[j], int(self.known[j]), bins[j])
            elif asked[j]:
                bins[j] = self.level_bins[starts[j] + cells]
        return bins

    def arrays(self) -> dict[str, Any]:
        """Every array by name: what is saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def restored(arrays: Mapping[str, Any]) -> Coding:
        """The coding of saved arrays; ValueError if they are not those of one."""
        if set(arrays) != {field.name for field in fields(Coding)}:
            raise ValueError(f"a coding does not have {sorted(arrays)}")
        return Coding(**arrays)

    def check(self, columns: tuple[Column, ...]) -> None:
        """Refuse (ValueError) what could code a cell of these columns beyond its bins."""
        levels, by_threshold = level_counts(columns), ordered(columns)
        if self.thresholds.shape != (len(columns), MOST_BINS) or self.known.shape != (len(columns),):
            raise ValueError("the saved bins are of other columns")
        if np.isnan(self.thresholds).any() or (self.thresholds[:, 1:] < self.thresholds[:, :-1]).any():
            raise ValueError("the saved thresholds do not ascend")
        if self.known.dtype.kind != "i" or (self.known < 0).any() or (self.known > MOST_BINS).any():
            raise ValueError("the saved bins are too many")
        used = np.isfinite(self.thresholds).sum(axis=1)
        if (used[by_threshold] != np.maximum(self.known[by_threshold] - 1, 0)).any():
            raise ValueError("the saved thresholds do not part so many bins")
        if self.level_bins.shape != (levels.sum(),) or self.level_bins.dtype.kind != "i":
            raise ValueError("the saved bins are of other levels")
        limit = np.repeat(self.known, levels)
        if (self.level_bins < 0).any() or (self.level_bins > limit).any():
            raise ValueError("the saved bins of levels are not there")


def _columns(table: Table) -> Iterator[Any]:
    """The cells of each column: numbers or ranks, NaN where empty; or codes, one past the last where empty."""
    for column, given in table.parts():
        cells: Any = given
        if not column.coded:
            yield np.ascontiguousarray(cells)
        elif column.kind == "ordinal":
            yield np.where(cells < 0, np.nan, cells)
        else:
            yield np.where(cells < 0, len(column.levels), cells)


def _bins_of_levels(codes: Codes, count: int, weights: Array) -> tuple[int, Rows]:
    """How many bins the levels of a nominal column take, and the bin of each; missing cells are the last level."""
    levels = count - 1
    if levels <= MOST_BINS:
        return levels, np.arange(count)
    totals = np.bincount(codes, weights=weights, minlength=count)[:levels]
    bins = np.full(count, MOST_BINS - 1)
    bins[np.argsort(-totals, kind="stable")[: MOST_BINS - 1]] = np.arange(MOST_BINS - 1)
    bins[levels] = MOST_BINS
    return MOST_BINS, bins
