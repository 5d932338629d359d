"""What each row adds to its node as whole numbers, the classes beside each other in few words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows

Words = NDArray[np.int64]
Ids = NDArray[np.uint32]
ROOM = 63
"""How many bits of a word are there for classes."""
FINE = 2**52
"""Into how many units the sum of weights that are not whole is divided."""


@dataclass(frozen=True, eq=False)
class Packed:
    """``parts`` (words × n): the weight of each row in units, at the place of its class."""

    parts: Words
    bits: int
    """How many a class has; 0 of values."""
    classes: int
    """How many have room in a word."""
    unit: float
    counts: Words

    @property
    def inside(self) -> Ids:
        """The rows that have a weight, in an array of their own."""
        return np.flatnonzero(self.counts).astype(np.uint32)

    @property
    def outside(self) -> Ids:
        """The rows that have none."""
        return np.flatnonzero(self.counts == 0).astype(np.uint32)


def packed(slot: Rows, counts: Words, unit: float, slots: int) -> Packed:
    """Numbers of units as words; with one slot there are no classes, only values."""
    if slots == 1:
        return Packed(counts[None, :], 0, 1, unit, counts)
    bits = int(counts.sum()).bit_length()
    classes = ROOM // bits
    if slots <= classes:
        return Packed((counts << (bits * slot))[None, :], bits, classes, unit, counts)
    parts = np.zeros((-(-slots // classes), len(slot)), np.int64)
    parts[slot // classes, np.arange(len(slot))] = counts << (bits * (slot % classes))
    return Packed(parts, bits, classes, unit, counts)


def in_units(weight: Array) -> tuple[Words, float]:
    """Weights as numbers of the smallest, if all are multiples of it, or else of a small part of their sum."""
    unit = float(weight[weight > 0].min())
    multiples = weight / unit
    if (multiples != np.rint(multiples)).any() or multiples.sum() > FINE:
        unit = float(weight.sum()) / FINE
    return np.maximum(np.rint(weight / unit), weight > 0).astype(np.int64), unit
