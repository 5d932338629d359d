"""What the units of the last layer are to answer for classes and for values, and what their answers mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.moments import quotient
from mlcli.core.tables import Array, Codes
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

RANGES = {"sigmoid": (0.1, 0.9), "tanh": (-0.8, 0.8)}
"""Where the training values lie in the answers of an output that has ends, which only an infinite sum reaches."""


@dataclass(frozen=True, eq=False)
class ClassCoding:
    """A unit for each class that has training rows, on for its own; one unit, on for the second, of two classes.

    With softmax two classes have two units as well.
    """

    output: str
    present: Codes
    shares: Array
    """How much of the training weight each class has."""

    @property
    def single(self) -> bool:
        """Whether one unit tells two classes apart."""
        return len(self.present) == 2 and self.output != "softmax"

    @property
    def units(self) -> int:
        """How many outputs there are."""
        return 1 if self.single else len(self.present)

    def targets(self, data: LabelledRows) -> Array:
        """What the units are to answer to each row."""
        return self.coded(data.outputs)

    def coded(self, indicators: Array) -> Array:
        """1 where a unit is to be on, else 0, of tanh −1."""
        on = indicators[:, self.present[1:]] if self.single else indicators[:, self.present]
        return np.ascontiguousarray(2.0 * on - 1.0 if self.output == "tanh" else on)

    def decoded(self, answers: Array) -> Array:
        """Answers between off and on, made to sum to 1; where every unit is off, the shares of the classes."""
        on = np.clip(0.5 * (answers + 1.0) if self.output == "tanh" else answers, 0.0, 1.0)
        on = np.hstack([1.0 - on, on]) if self.single else on
        total = on.sum(axis=1, keepdims=True)
        found = np.zeros((len(answers), len(self.shares)))
        found[:, self.present] = quotient(on, total)
        return np.where(total > 0, found, self.shares)


@dataclass(frozen=True, eq=False)
class ValueCoding:
    """One unit: values in units of their spread, or brought into the range that the output can answer."""

    centre: float
    """The value, and with ``middle`` the answer, that the others are measured from."""
    unit: float
    """How much value one in the answer stands for; 0 where all training values are equal."""
    middle: float
    units: int = 1

    def __str__(self) -> str:
        """How an answer stands for a value."""
        answer = f"(a − {self.middle:g})" if self.middle else "a"
        return f"the value is {self.centre:g} + {self.unit:g} {answer}"

    @staticmethod
    def of(data: ValuedRows, output: str) -> ValueCoding:
        """The coding of training values for an output."""
        if output not in RANGES:
            centre = float(np.average(data.y, weights=data.weights))
            spread = np.average((data.y - centre) ** 2, weights=data.weights)
            return ValueCoding(centre, float(np.sqrt(spread)), 0.0)
        low, high = RANGES[output]
        least, most = float(data.y.min()), float(data.y.max())
        return ValueCoding(0.5 * (least + most), (most - least) / (high - low), 0.5 * (low + high))

    def targets(self, data: ValuedRows) -> Array:
        """What the unit is to answer."""
        return (self.middle + (data.y - self.centre) / (self.unit or 1.0))[:, None]

    def decoded(self, answers: Array) -> Array:
        """The values that answers stand for."""
        return np.asarray(self.centre + self.unit * (answers[:, 0] - self.middle))
