"""What each row adds to its node, as numbers and as the whole numbers that compiled loops add."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows

Words = NDArray[np.int64]
Ids = NDArray[np.uint32]
Bits = NDArray[np.uint8]
ROOM = 63
"""How many bits of a word are there for classes."""
AMOUNTS = 61
"""How many bits the amounts of all rows may sum up to."""
FINE = 2**52
"""Into how many units the sum of weights that are not whole is divided."""


@dataclass(frozen=True, eq=False)
class Targets:
    """A row of class k adds its weight to the k-th sum; a row of value y adds weight × y to the only one."""

    slot: Rows
    output: Array
    weight: Array
    slots: int

    @staticmethod
    def of(outputs: Array, weight: Array) -> Targets:
        """From outputs of which each row has one that is not 0."""
        slot = np.abs(outputs).argmax(axis=1)
        return Targets(slot, outputs[np.arange(len(outputs)), slot], weight, outputs.shape[1])


@dataclass(frozen=True, eq=False)
class Packed:
    """``parts`` (words × n): the weight of each row in units, at the place of its class; or amount and weight.

    The weight stands ``shift`` bits above the curvature of rows that have one.
    """

    parts: Words
    bits: int
    """How many a class has; 0 of values."""
    unit: float
    """Of weights."""
    amount: float
    """The unit of amounts."""
    curvature: float = 1.0
    shift: int = 0

    @property
    def gain_unit(self) -> float:
        """Of gains: without the ½ of losses as quadratics, if that is what they are."""
        return 0.5 if self.shift else self.unit

    @property
    def counts(self) -> Words:
        """The weight of each row in units; of classes, no more than whether it is 0."""
        counts: Words = self.parts[1] if self.bits == 0 else np.bitwise_or.reduce(self.parts, axis=0)
        return counts

    @property
    def inside(self) -> Ids:
        """The rows that have a weight, in an array of their own."""
        return np.flatnonzero(self.counts).astype(np.uint32)

    @property
    def outside(self) -> Bits:
        """The rows that have none, a bit for each row."""
        return np.packbits(self.counts == 0)

    @property
    def units(self) -> Packed:
        """The same of no rows: all that it takes to read words."""
        return replace(self, parts=self.parts[:, :0].copy())

    def shares(self, totals: Words, weight: Array, slots: int) -> Array:
        """The class shares (nodes × K) of the words of nodes that weigh so many units."""
        classes, mask = ROOM // self.bits, (1 << self.bits) - 1
        places = [(k // classes, self.bits * (k % classes)) for k in range(slots)]
        return np.column_stack([(totals[:, word] >> shift & mask) / weight for word, shift in places])


def packed(targets: Targets, counts: Words, unit: float) -> Packed:
    """Numbers of units as words; with one slot there are no classes, only values."""
    if targets.slots == 1:
        away = targets.output - (counts @ targets.output) / counts.sum()
        fine = math.ldexp(1.0, math.frexp(float(counts @ np.abs(away)))[1] - AMOUNTS)
        return Packed(np.array([np.rint(counts * away / fine), counts]).astype(np.int64), 0, unit, fine)
    bits = int(counts.sum()).bit_length()
    classes, slot = ROOM // bits, targets.slot
    parts = np.zeros((-(-targets.slots // classes), len(slot)), np.int64)
    parts[slot // classes, np.arange(len(slot))] = counts << (bits * (slot % classes))
    return Packed(parts, bits, unit, 1.0)


def in_units(weight: Array) -> tuple[Words, float]:
    """Weights as numbers of the smallest, if all are multiples of it, or else of a small part of their sum."""
    unit = float(weight[weight > 0].min())
    multiples = weight / unit
    if (multiples != np.rint(multiples)).any() or multiples.sum() > FINE:
        unit = float(weight.sum()) / FINE
    return np.maximum(np.rint(weight / unit), weight > 0).astype(np.int64), unit
