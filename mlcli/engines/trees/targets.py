"""What each row adds to its node, as numbers and as the whole numbers that compiled loops add."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.tables import Array, Rows

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import PackedTargets, Scale, Words

CLASS_BITS = 63
"""How many bits of a word are there for classes."""
AMOUNT_BITS = 61
"""How many the sum of amounts may take, but for its sign."""
FINE = 2**52
"""Into how many units the sum of weights that are not whole is divided."""


@dataclass(frozen=True, eq=False)
class Targets:
    """A row of class k adds its weight to the k-th sum; a row of value y adds weight × y to the only one."""

    slot: Rows
    output: Array
    slots: int

    @staticmethod
    def of(outputs: Array) -> Targets:
        """From outputs of which each row has one that is not 0."""
        slot = np.abs(outputs).argmax(axis=1)
        return Targets(slot, outputs[np.arange(len(outputs)), slot], outputs.shape[1])

    def packed(self, counts: Words, unit: float) -> PackedTargets:
        """As words, of rows that weigh so many units; with one slot there are no classes, only values."""
        from mlcli.kernels.trees.records import PackedTargets, Scale

        if self.slots == 1:
            away = self.output - (counts @ self.output) / counts.sum()
            fine = 2.0 ** (bit_length(counts @ np.abs(away)) - AMOUNT_BITS)
            parts = np.array([np.rint(counts * away / fine), counts]).astype(np.int64)
            return PackedTargets(parts, self.output, Scale(0, unit, fine))
        bits = int(counts.sum()).bit_length()
        classes = CLASS_BITS // bits
        parts = np.zeros((-(-self.slots // classes), len(self.slot)), np.int64)
        parts[self.slot // classes, np.arange(len(self.slot))] = counts << (bits * (self.slot % classes))
        return PackedTargets(parts, self.output, Scale(bits, unit))


def in_units(weight: Array) -> tuple[Words, float]:
    """Weights as numbers of the smallest, if all are multiples of it, or else of a small part of their sum."""
    unit = float(weight[weight > 0].min())
    multiples = weight / unit
    if (multiples != np.rint(multiples)).any() or multiples.sum() > FINE:
        unit = float(weight.sum()) / FINE
    return np.maximum(np.rint(weight / unit), weight > 0).astype(np.int64), unit


def class_shares(totals: Words, weight: Array, scale: Scale, classes: int) -> Array:
    """The class shares (nodes × K) of the words of nodes that weigh so many units."""
    in_word, mask = CLASS_BITS // scale.bits, (1 << scale.bits) - 1
    places = [(k // in_word, scale.bits * (k % in_word)) for k in range(classes)]
    return np.column_stack([(totals[:, word] >> shift & mask) / weight for word, shift in places])


def bit_length(total: Any) -> int:
    """How many bits hold any whole number up to a total; below 0 for fractions."""
    return math.frexp(float(total))[1]
