"""Many classes by binary problems: a matrix says which classes each sets against which (Allwein et al. 2000)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.calibration import of_all_classes
from mlcli.engines.ensemble import fitted, outputs
from mlcli.tasks.classification import CLASSIFICATION, Classifier, LabelledRows

Code = NDArray[np.int8]
"""Classes × problems: 1 and −1 for the two sides, 0 for classes that a problem leaves out."""
SIDES = ("against", "for")


@dataclass(kw_only=True, eq=False)
class Coded(Classifier, RowExplainer):
    """A copy of a binary classifier for each column of a code; a subclass makes the code and reads the answers."""

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
        of_class = np.zeros((len(data.classes), self.code_.shape[1]), np.int8)
        of_class[self.present_] = self.code_
        own = rng.spawn(self.code_.shape[1])
        self.models_ = tuple(
            fitted(self.base, _binary(data, sides), one) for sides, one in zip(of_class.T, own, strict=True)
        )

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
        if not np.isin(self.code_, (-1, 0, 1)).all() or any(_classes_of(one) != SIDES for one in self.models_):
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


def _binary(data: LabelledRows, side_of_class: Code) -> LabelledRows:
    """The rows of the classes that a problem sets against each other, with two classes."""
    side = side_of_class[data.y]
    rows = np.flatnonzero(side)
    return replace(data.take(rows), y=(side[rows] > 0).astype(np.int32), classes=SIDES)


def _classes_of(member: Any) -> tuple[str, ...]:
    classes: tuple[str, ...] = member.final.classes_
    return classes
