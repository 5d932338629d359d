"""Each class against the rest: its rates, its rows, and how much more or less often it is answered than true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.metrics.averages import Quotient
from mlcli.metrics.confusion import ratio, tallies_of
from mlcli.metrics.scores.labels import f1, fnr, fpr, precision, recall, specificity
from mlcli.tasks.classification import LabelAnswers


@dataclass(frozen=True)
class ClassRates:
    """The rates of one class; None where a rate is 0/0."""

    label: str
    precision: float | None
    recall: float | None
    f1: float | None
    specificity: float | None
    fpr: float | None
    fnr: float | None
    support: float
    """Rows of this class (their weight)."""
    predicted: float
    """Rows answered with this class (their weight)."""
    lean: float
    """Share of the answers minus share of the truth: above 0, the model leans towards this class."""
    true_positives: float = 0.0
    false_positives: float = 0.0
    false_negatives: float = 0.0
    true_negatives: float = 0.0


RATES: dict[str, Quotient] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "specificity": specificity,
    "fpr": fpr,
    "fnr": fnr,
}


def one_against_rest(answers: LabelAnswers) -> tuple[ClassRates, ...]:
    """The rates of every class, in the order of the classes."""
    tallies = tallies_of(answers)
    rates = {name: ratio(*parts(tallies)) for name, parts in RATES.items()}
    total = max(float(tallies.support.sum()), np.finfo(np.float64).tiny)
    lean = (tallies.predicted - tallies.support) / total
    return tuple(
        ClassRates(
            label=label,
            support=float(tallies.support[code]),
            predicted=float(tallies.predicted[code]),
            true_positives=float(tallies.true_positives[code]),
            false_positives=float(tallies.false_positives[code]),
            false_negatives=float(tallies.false_negatives[code]),
            true_negatives=float(tallies.true_negatives[code]),
            lean=float(lean[code]),
            **{name: _known(values[code]) for name, values in rates.items()},
        )
        for code, label in enumerate(answers.classes)
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
