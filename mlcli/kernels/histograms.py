"""Compiled histograms: what the rows of a node sum up to in each bin of a column."""

from __future__ import annotations

from typing import NamedTuple

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.binning import Bins
from mlcli.kernels.without_counting import compiled

AMOUNT = 0
WEIGHT = 1


class Columns(NamedTuple):
    """The training rows in bins: ``bins`` is F × n, and missing cells of column f are in bin ``known[f]``."""

    bins: Bins
    known: Rows
    ordered: Flags
    lowest: Array
    """F × bins: the smallest value in each bin of an ordered column."""
    highest: Array


class Here(NamedTuple):
    """The rows of one node, from ``begin`` to ``end`` of ``rows``.

    The i-th adds ``parts[i, AMOUNT]`` to the sum number ``slots[i]``, and ``parts[i, WEIGHT]`` to the last sum.
    """

    rows: Codes
    begin: int
    end: int
    slots: Rows
    parts: Array


@compiled
def add_up(columns: Columns, feature: int, here: Here, sums: Array) -> None:
    """Fill ``sums`` (bins × slots, the weight last) with what the rows of a node hold."""
    last = sums.shape[1] - 1
    sums[: columns.known[feature] + 1] = 0.0
    for i in range(here.end - here.begin):
        b = columns.bins[feature, here.rows[here.begin + i]]
        sums[b, here.slots[i]] += here.parts[i, AMOUNT]
        sums[b, last] += here.parts[i, WEIGHT]
