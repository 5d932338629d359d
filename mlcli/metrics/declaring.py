"""Decorators that make a metric of one function; what is known of it is declared beside its name.

They differ in what the function returns: ``score`` one value of answers, ``weighted_score`` one for each weighting
of their rows, ``mean_of_rows`` the value of each row, ``share_of_rows`` 0 or 1 for each row, ``of_tallies`` a
value of the tallies of classes. ``class_rate`` averages a rate of one class over all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Flags
from mlcli.metrics.base import Better, Metric, Score, Undefined, defined
from mlcli.metrics.confusion import Tallies, ratio, tallies_of, tallies_under
from mlcli.tasks.classification import LabelAnswers

METRICS: dict[tuple[type[Answers], str], Metric] = {}
"""Every metric, by the answers it judges and its name; ``registry.py`` fills it by importing the scores."""
OF_ONE_CLASS: dict[str, Callable[[str], Metric]] = {}
"""The metrics that a single class has too, by the name before the bracket."""
AT_K: dict[tuple[type[Answers], str], Callable[[int], Metric]] = {}
"""The metrics that may look at the first rows only, as ndcg@3, by their answers and the name before the sign."""

F = TypeVar("F", bound=Callable[..., Any])
Precondition = Callable[[Any], Undefined | None]
Why = Undefined | Callable[[Any], Undefined]
"""Why a value is none, or what says so of some answers."""
Under = Callable[[Any, Array], Array]
"""From answers and weightings (B × n) of their rows to the B values of a metric."""
OfTallies = Callable[[Tallies], Array]
CLASS_AVERAGE: dict[str, Any] = {"scale": "rate", "pooling": "where classes are rare", "by_rounds": True}
"""What is declared of a metric that averages over classes."""
SHARE: dict[str, Any] = {"better": "high", "low": 0.0, "high": 1.0}
"""What is declared of a metric that is a share of something good."""


def declare(metric: Metric, *needs: Precondition) -> None:
    """Put a metric into the registry; it is undefined where one of its preconditions says why."""
    if (metric.answers, metric.name) in METRICS:
        raise ValueError(f"there are two metrics named '{metric.name}'")
    METRICS[metric.answers, metric.name] = guarded(metric, *needs)


def guarded(metric: Metric, *needs: Precondition) -> Metric:
    """The metric, undefined where no row counts, or where one of its preconditions says why."""

    def compute(answers: Answers) -> Score:
        for need in (rows_judged, *needs):
            missing = need(answers)
            if missing is not None:
                return missing
        return metric.compute(answers)

    return replace(metric, compute=compute)


def rows_judged(answers: Answers) -> Undefined | None:
    """The precondition of every metric: at least one row counts."""
    total = len(answers) if answers.weight is None else answers.weight.sum()
    return None if total > 0 else Undefined("no row with weight was judged")


def of_weightings(name: str, answers: type[Answers], under: Under, why: Why, **declared: Any) -> Metric:
    """The metric of a function from answers and weightings (B × n) of their rows to B values; ``why`` of a NaN."""

    def compute(answers: Answers) -> Score:
        value = float(under(answers, answers.weights[None, :])[0])
        if not np.isnan(value):
            return value
        return why if isinstance(why, Undefined) else why(answers)

    return Metric(name=name, answers=answers, compute=compute, under=under, **declared)


def function_of_tallies(
    name: str,
    values: Callable[[Tallies, Sequence[str]], Array],
    why: Callable[[LabelAnswers], Undefined],
    **declared: Any,
) -> Metric:
    """The metric of a function from tallies (..., K) of classes to values (...); ``why`` of a NaN."""

    def compute(answers: LabelAnswers) -> Score:
        value = float(values(tallies_of(answers), answers.classes))
        return why(answers) if np.isnan(value) else value

    def under(answers: LabelAnswers, weightings: Array) -> Array:
        return values(tallies_under(answers, weightings), answers.classes)

    described = {**CLASS_AVERAGE, **declared}
    return Metric(name=name, answers=LabelAnswers, compute=compute, under=under, of_tallies=values, **described)


def mean_over_rows(name: str, answers: type[Answers], per_row: Callable[[Any], Array], **declared: Any) -> Metric:
    """The metric that is the weighted mean of a value per row."""

    def compute(answers: Answers) -> float:
        return weighted_mean(per_row(answers), answers.weight)

    described: dict[str, Any] = {"aggregation": "mean of rows"} | declared
    return Metric(name=name, answers=answers, compute=compute, per_row=per_row, **described)


def declaring(metric_of: Callable[[F], Metric], *needs: Precondition) -> Callable[[F], F]:
    """A decorator that declares the metric of a function, which stays as it is."""

    def mark(function: F) -> F:
        declare(metric_of(function), *needs)
        return function

    return mark


def score(
    name: str, answers: type[Answers], *, needs: Sequence[Precondition] = (), **declared: Any
) -> Callable[[Callable[[Any], Score]], Callable[[Any], Score]]:
    """Declare a function from answers to a value or ``Undefined``."""
    return declaring(lambda compute: Metric(name=name, answers=answers, compute=compute, **declared), *needs)


def weighted_score(
    name: str, answers: type[Answers], *, needs: Sequence[Precondition] = (), why: Why, **declared: Any
) -> Callable[[Under], Under]:
    """Declare a function from answers and weightings (B × n) of their rows to B values; ``why`` of a NaN."""
    return declaring(lambda under: of_weightings(name, answers, under, why, **declared), *needs)


def mean_of_rows(
    name: str, answers: type[Answers], *, needs: Sequence[Precondition] = (), **declared: Any
) -> Callable[[Callable[[Any], Array]], Callable[[Any], Array]]:
    """Declare a function from answers to a value per row, whose weighted mean is the metric."""
    return declaring(lambda per_row: mean_over_rows(name, answers, per_row, **declared), *needs)


def share_of_rows(
    name: str, answers: type[Answers], *, better: Better
) -> Callable[[Callable[[Any], Array]], Callable[[Any], Array]]:
    """Declare a function from answers to 0 or 1 per row, whose weighted mean is the metric."""
    return mean_of_rows(name, answers, better=better, low=0.0, high=1.0, aggregation="share of rows", scale="rate")


def of_tallies(
    name: str, *, why: Callable[[Tallies], Undefined], **declared: Any
) -> Callable[[OfTallies], OfTallies]:
    """Declare a function from the tallies (..., K) of classes to values (...); ``why`` explains a NaN."""

    def metric_of(function: OfTallies) -> Metric:
        return function_of_tallies(
            name, lambda tallies, _: function(tallies), lambda answers: why(tallies_of(answers)), **declared
        )

    return declaring(metric_of)


def weighted_mean(values: Array, weight: Array | None) -> float:
    """The mean of values; rows of weight 0 do not count, even where infinite."""
    if weight is None:
        return float(values.mean())
    counting = weight > 0
    return float(np.average(values[counting], weights=weight[counting]))


def defined_values(metric: Metric, splits: Sequence[Answers]) -> Array:
    """The value of a metric in each of some splits, where it is defined in all of them; else none."""
    known = defined(metric.compute(answers) for answers in splits)
    return np.array(known if len(known) == len(splits) else [], np.float64)


def means_under(values: Array, weightings: Array) -> Array:
    """The mean of finite values under each of many weightings (B × n)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(weightings @ values / weightings.sum(axis=1))


# Averages over classes: a rate of one class against the rest becomes its macro, micro and weighted average.
#
# A class that occurs neither as truth nor as answer is left out, as in scikit-learn. A class whose rate is 0/0
# counts with the worst value (0 for rates that should be high, 1 for those that should be low, so that fpr stays
# 1 - specificity) and is marked; a rate that is 0/0 for every class is undefined.

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
