"""Averages over classes: a rate of one class against the rest becomes its macro, micro and weighted average.

A class that occurs neither as truth nor as answer is left out, as in scikit-learn. A class whose rate is 0/0
counts with the worst value (0 for rates that should be high, 1 for those that should be low, so that fpr stays
1 - specificity) and is marked; a rate that is 0/0 for every class is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from mlcli.core.tables import Array, Flags
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.confusion import Tallies, ratio, tallies_of
from mlcli.metrics.declaring import OF_ONE_CLASS, Precondition, declare, function_of_tallies, guarded
from mlcli.tasks.classification import LabelAnswers

Quotient = Callable[[Tallies], tuple[Array, Array]]


@dataclass(frozen=True)
class ClassRate:
    """A rate of each class against the rest: numerator and denominator from the tallies."""

    name: str
    quotient: Quotient
    better: Literal["high", "low"]
    empty: str
    """When a class is 0/0, with {} for its name."""
    hint: str

    @property
    def worst(self) -> float:
        """What 0/0 counts as."""
        return 0.0 if self.better == "high" else 1.0

    def of_classes(self, tallies: Tallies) -> Array:
        """The rate of each class, NaN for 0/0."""
        return ratio(*self.quotient(tallies))

    def when_empty(self, label: str) -> str:
        """Why the rate of a class is 0/0."""
        return self.empty.format(label)

    def undefined(self, label: str, what: str) -> Undefined:
        """What is said where that leaves nothing to average."""
        return Undefined(f"{self.when_empty(label)}: {what} is 0/0", self.hint)


@dataclass(frozen=True)
class Average:
    """One way to average the rates of classes: its values, and what a reader must know of them."""

    values: Callable[[ClassRate, Tallies], Array]
    marks: Callable[[ClassRate, Tallies, tuple[str, ...]], tuple[str, ...]]


def class_rate(
    name: str, *, better: Literal["high", "low"], empty: str, hint: str
) -> Callable[[Quotient], Quotient]:
    """Declare a rate of one class, its averages (``-macro``, ``-micro``, ``-weighted``) and ``name[class]``."""

    def mark(quotient: Quotient) -> Quotient:
        rate = ClassRate(name, quotient, better, empty, hint)
        declare(_averaged(rate, name, MACRO))
        for suffix, average in AVERAGES.items():
            declare(_averaged(rate, f"{name}-{suffix}", average))
        OF_ONE_CLASS[name] = partial(_of_one_class, rate)
        return quotient

    return mark


def macro(rate: ClassRate, tallies: Tallies) -> Array:
    """Every class that occurs counts the same."""
    return _mean_over_classes(rate, tallies, tallies.occurring.astype(np.float64))


def weighted(rate: ClassRate, tallies: Tallies) -> Array:
    """Every class counts as often as it is true."""
    return _mean_over_classes(rate, tallies, tallies.support)


def micro(rate: ClassRate, tallies: Tallies) -> Array:
    """Numerators and denominators are summed over the classes that occur."""
    numerator, denominator = rate.quotient(tallies)
    return ratio((numerator * tallies.occurring).sum(axis=-1), (denominator * tallies.occurring).sum(axis=-1))


def absent_classes(answers: LabelAnswers, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The marks of a mean over the classes among the truth: those that no row has, but for some."""
    accounted_for = (tallies_of(answers).support > 0) | np.isin(answers.classes, without)
    return _left_out(accounted_for, answers.classes)


def class_known(label: str) -> Precondition:
    """A precondition: the answers know this class."""

    def needs(answers: LabelAnswers) -> Undefined | None:
        return None if label in answers.classes else Undefined(f"there is no class '{label}' here")

    return needs


def _mean_over_classes(rate: ClassRate, tallies: Tallies, share: Array) -> Array:
    rates = rate.of_classes(tallies)
    known = ~np.isnan(rates)
    mean = ratio((np.where(known, rates, rate.worst) * share).sum(axis=-1), share.sum(axis=-1))
    return np.where((known & tallies.occurring).any(axis=-1), mean, np.nan)


def _marks_of_macro(rate: ClassRate, tallies: Tallies, labels: tuple[str, ...]) -> tuple[str, ...]:
    return _counted_as_worst(rate, tallies, labels, tallies.occurring) + _left_out(tallies.occurring, labels)


def _marks_of_weighted(rate: ClassRate, tallies: Tallies, labels: tuple[str, ...]) -> tuple[str, ...]:
    return _counted_as_worst(rate, tallies, labels, tallies.support > 0)


def _counted_as_worst(rate: ClassRate, tallies: Tallies, labels: tuple[str, ...], among: Flags) -> tuple[str, ...]:
    empty = np.isnan(rate.of_classes(tallies)) & among
    consequence = f"its {rate.name} 0/0 counts as {rate.worst:.0f}"
    return tuple(f"{rate.when_empty(labels[code])}: {consequence}" for code in np.flatnonzero(empty))


def _left_out(present: Flags, labels: tuple[str, ...]) -> tuple[str, ...]:
    consequence = "it is left out of the mean over classes"
    return tuple(f"no judged row is {labels[code]}: {consequence}" for code in np.flatnonzero(~present))


MACRO = Average(macro, _marks_of_macro)
AVERAGES = {
    "macro": MACRO,
    "micro": Average(micro, lambda rate, tallies, labels: ()),
    "weighted": Average(weighted, _marks_of_weighted),
}


def _averaged(rate: ClassRate, name: str, average: Average) -> Metric:
    def values(tallies: Tallies, _: Sequence[str]) -> Array:
        return average.values(rate, tallies)

    def why(answers: LabelAnswers) -> Undefined:
        occurring = np.flatnonzero(tallies_of(answers).occurring)
        return rate.undefined(answers.classes[occurring[0]], rate.name)

    def marks(answers: LabelAnswers) -> tuple[str, ...]:
        return average.marks(rate, tallies_of(answers), answers.classes)

    return function_of_tallies(name, values, why, better=rate.better, low=0.0, high=1.0, marks=marks)


def _of_one_class(rate: ClassRate, label: str) -> Metric:
    def values(tallies: Tallies, classes: Sequence[str]) -> Array:
        return rate.of_classes(tallies)[..., classes.index(label)]

    def why(answers: LabelAnswers) -> Undefined:
        return rate.undefined(label, f"its {rate.name}")

    metric = function_of_tallies(f"{rate.name}[{label}]", values, why, better=rate.better, low=0.0, high=1.0)
    return guarded(metric, class_known(label))
