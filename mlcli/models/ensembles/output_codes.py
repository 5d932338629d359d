"""Output codes: each binary classifier tells some classes from the others; their answers are bits of a code word.

Formula:
    Class k has a code word M_k of L bits; p_l(x) is the probability that bit l is 1. ``least-squares`` takes
    the P with Σ_k P_k = 1 that minimises Σ_l (p_l − Σ_{k: M_kl = 1} P_k)²; ``distance`` decides on the word
    that is nearest to the decided bits, with P(k | x) in proportion to the number of bits that agree.

Assumes:
    The base can learn sets of classes (a linear one often cannot: a tree or neighbours serve better), and errs
    on different bits for different rows: words at distance d stand up to (d − 1)/2 wrong bits.

Cost:
    L fits of the base to all rows.

Choices:
    Without ``length`` all 2^(K−1) − 1 ways to set classes against each other are used for up to 7 classes, and
    ⌈10 log₂ K⌉ of them beyond, drawn so that no two are the same or each other's opposite. ``sets`` names them
    instead: each is a list of classes that is set against all others, [A, B] against C, D and E. Classes that no
    set tells apart share what is said of them evenly. Least squares below 0 are cut off at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.models.ensembles._coded import Code, Coded
from mlcli.tasks.classification import Classifier

MOST_FOR_ALL = 7
"""So many classes have 63 ways to be set against each other."""


@register("output-codes", reference="Dietterich & Bakiri 1995; Kong & Dietterich 1997 (probabilities)")
class OutputCodes(Coded, Classifier):
    """Problems of sets of classes."""

    length: int | None = param(None, "how many problems; none: all, or ten for each binary digit of K", ge=1)
    sets: tuple[list[str], ...] | None = param(
        None,
        "the sets of classes, each against all others: [[A, B], [A, C]]; none: as many as length",
        if_given=True,
    )
    decode: str = param("least-squares", "how bits become a class", choices=("least-squares", "distance"))

    def conflicts(self) -> list[str]:
        """A number of problems beside the problems themselves, or an empty set."""
        if self.sets is None:
            return []
        found = []
        if self.length is not None:
            found.append("length says how many sets are drawn, sets which they are: give one of them")
        if not all(self.sets):
            found.append("sets: each is a list of one class or more, such as [A, B]")
        return found

    def code(self, classes: int, rng: np.random.Generator) -> Code:
        """Sets of classes against the others: those that are named, all, or some."""
        if self.sets is not None:
            return self._named_code(self.sets)
        whole = 2 ** (classes - 1) - 1
        length = self.length or (whole if classes <= MOST_FOR_ALL else math.ceil(10 * math.log2(classes)))
        numbers = list(range(1, whole + 1)) if length >= whole else _distinct(length, whole, rng)
        bits = [[number >> (classes - 1 - k) & 1 for number in numbers] for k in range(classes)]
        return (2 * np.array(bits, np.int8) - 1).reshape(classes, len(numbers))

    def _named_code(self, sets: Sequence[Sequence[str]]) -> Code:
        """A column for each set that has some of the present classes, but not all."""
        for name in {name for one in sets for name in one if name not in self.classes_}:
            hint = did_you_mean(name, self.classes_, "classes")
            raise FitError(f"sets: there is no class '{name}'", hint=hint)
        present = [self.classes_[k] for k in self.present_]
        sides = np.array([[1 if name in one else -1 for one in sets] for name in present], np.int8)
        code = sides.reshape(len(present), len(sets))
        return code[:, np.abs(code.sum(axis=0, dtype=np.intp)) < len(present)]

    def shares(self, positive: Array) -> Array:
        """How well the bits agree with each word."""
        ones = (self.code_ > 0).astype(np.float64)
        if self.decode == "distance":
            bits = (np.sign(np.round(positive - 0.5, 12)) + 1) / 2
            return self.share_of_sum(bits @ ones.T + (1 - bits) @ (1 - ones).T)
        classes = len(ones)
        system = np.ones((classes + 1, classes + 1))
        system[:classes, :classes], system[classes, classes] = ones @ ones.T, 0.0
        right = np.column_stack([positive @ ones.T, np.ones(len(positive))])
        return self.share_of_sum(np.maximum(right @ np.linalg.pinv(system)[:, :classes], 0.0))


def _distinct(length: int, whole: int, rng: np.random.Generator) -> list[int]:
    """So many different numbers from 1 to ``whole``, which may be too large for an array."""
    found: dict[int, None] = {}
    while len(found) < length:
        number = int.from_bytes(rng.bytes((whole.bit_length() + 7) // 8), "little") & whole
        if number:
            found[number] = None
    return list(found)
