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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.calibration import of_all_classes
from mlcli.engines.ensemble import fitted, outputs
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows

Code = NDArray[np.int8]
"""Classes × problems: 1 and −1 for the two sides, 0 for classes that a problem leaves out."""
SIDES = ("against", "for")


@dataclass(kw_only=True, eq=False)
class Coded(Classifier, RowExplainer):
    """A copy of a binary classifier for each column of a code (Allwein et al. 2000).

    A subclass makes the code, which says which classes each problem sets against which, and reads the answers.
    """

    base: Model = model_param("logistic-regression", "the classifier of each binary problem", of=(Classifier,))

    present_: Codes = learned("present")
    """The classes with training rows."""
    code_: Code = learned("present", "problems")
    """Of these classes."""
    models_: tuple[Model, ...] = learned("problems")

    def code(self, classes: int, rng: np.random.Generator) -> Code:
        """Which of so many classes each problem sets against which."""
        raise TypeError(f"{type(self).__name__} does not say how classes are set against each other")

    def shares(self, positive: Array) -> Array:
        """The probabilities of the present classes, from those of the 1 side of each problem (n × problems)."""
        raise TypeError(f"{type(self).__name__} does not say what binary answers mean")

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Fit the base to each binary problem."""
        data = data.counted()
        self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
        self.code_ = self.code(len(self.present_), rng)
        sides = np.zeros((len(data.classes), self.code_.shape[1]), np.int8)
        sides[self.present_] = self.code_
        members = list[Model]()
        for side_of_class, member_rng in zip(sides.T, rng.spawn(self.code_.shape[1]), strict=True):
            side = side_of_class[data.y]
            rows = np.flatnonzero(side)
            binary = replace(data.take(rows), y=(side[rows] > 0).astype(np.int32), classes=SIDES)
            members.append(fitted(self.base, binary, member_rng))
        self.models_ = tuple(members)

    def predict_proba(self, table: Table) -> Array:
        """Probabilities of the classes; one without training rows gets 0."""
        if not self.models_:
            return of_all_classes(np.ones((len(table), len(self.present_))), self.class_totals_)
        positive = np.column_stack([outputs(member, table, CLASSIFICATION)[:, 1] for member in self.models_])
        return of_all_classes(self.shares(positive), self.class_totals_)

    def share_of_sum(self, scores: Array) -> Array:
        """Scores divided by their sum; where all are 0, the shares of the training rows."""
        total = scores.sum(axis=1, keepdims=True)
        of_rows = self.class_totals_[self.present_] / self.class_totals_.sum()
        return np.where(total > 0, scores / np.where(total > 0, total, 1.0), of_rows)

    def check_learned(self) -> None:
        """Binary problems of classes that are there."""
        if not len(self.present_) or not np.isin(self.present_, np.arange(len(self.classes_))).all():
            raise ValueError("classes that are not there")
        binary = all(getattr(model.final, "classes_", None) == SIDES for model in self.models_)
        if not binary or not np.isin(self.code_, (-1, 0, 1)).all():
            raise ValueError("binary problems that are none")

    def explain(self) -> findings.Explanation:
        """The code."""
        title = f"Binary problems, each answered by {self.base.final.id}"
        return (findings.Table(title, ("problem", "classes", "against"), tuple(self._problems())),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What the classifier of each problem says of the row."""
        said = (float(outputs(member, table, CLASSIFICATION)[0, 1]) for member in self.models_)
        rows = tuple((*problem, share) for problem, share in zip(self._problems(), said, strict=True))
        header = ("problem", "classes", "against", "p(classes)")
        return (findings.Table("Answers of the binary classifiers", header, rows),)

    def _problems(self) -> Iterator[tuple[int, str, str]]:
        """The number of each problem, and its two sides."""
        for number, column in enumerate(self.code_.T, start=1):
            pro, contra = (", ".join(self.classes_[k] for k in self.present_[column == side]) for side in (1, -1))
            yield number, pro, contra


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
        result = []
        if self.length is not None:
            result.append("length says how many sets are drawn, sets which they are: give one of them")
        if not all(self.sets):
            result.append("sets: each is a list of one class or more, such as [A, B]")
        return result

    def code(self, classes: int, rng: np.random.Generator) -> Code:
        """Sets of classes against the others: those that are named, all, or some."""
        if self.sets is not None:
            return self._named_code(self.sets)
        whole = 2 ** (classes - 1) - 1
        # seven classes can be split in 63 ways
        length = self.length or (whole if classes <= 7 else math.ceil(10 * math.log2(classes)))
        if length >= whole:
            numbers = list(range(1, whole + 1))
        else:  # different ones, which may be too large for an array
            drawn: dict[int, None] = {}
            while len(drawn) < length:
                number = int.from_bytes(rng.bytes((whole.bit_length() + 7) // 8), "little") & whole
                if number:
                    drawn[number] = None
            numbers = list(drawn)
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
