"""Metrics: decorators that make one of a function, and where it is found by its name.

The decorators differ in what the function returns: ``score`` one value of answers, ``weighted_score`` one for each
weighting of their rows, ``mean_of_rows`` the value of each row, ``share_of_rows`` 0 or 1 for each row,
``of_tallies`` a value of the tallies of classes. ``class_rate`` averages a rate of one class over all classes.
The table of kinds lists the files of ``mlcli/metrics/scores`` for each kind of task.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypedDict, TypeVar, Unpack

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean, likely_names
from mlcli.core.tables import Array, Flags
from mlcli.metrics.base import (
    Aggregation,
    Better,
    Marks,
    Metric,
    Pooling,
    RowInfluence,
    Scale,
    Score,
    ScoreAcrossSplits,
    Undefined,
    defined,
)
from mlcli.metrics.confusion import COST, Tallies, costs_named, ratio, tallies_of, tallies_under
from mlcli.tasks.supervised import LabelAnswers
from mlcli.tasks.table import KINDS, location_of

METRICS: dict[tuple[type[Answers], str], Metric] = {}
"""Every metric, by its kind of answers and its name; ``registry.py`` fills it by importing the scores."""
OF_ONE_CLASS: dict[str, Callable[[str], Metric]] = {}
"""The metrics that a single class has too, by the name before the bracket."""
AT_K: dict[tuple[type[Answers], str], Callable[[int], Metric]] = {}
"""The metrics that may look at the first rows only, as ndcg@3, by their answers and the name before the sign."""

A = TypeVar("A", bound=Answers)
Precondition = Callable[[A], Undefined | None]
Why = Undefined | Callable[[A], Undefined]
"""Why a value is NaN, or a function that tells it for some answers."""
Under = Callable[[A, Array], Array]
"""From answers and weightings (B × n) of their rows to the B values of a metric."""
OfTallies = Callable[[Tallies], Array]


class Options(TypedDict, total=False):
    """What a metric declares beside its name and function; see the fields of ``Metric``."""

    better: Better
    low: float
    high: float
    aggregation: Aggregation
    scale: Scale
    pooling: Pooling
    by_rounds: bool
    across: ScoreAcrossSplits
    influence: RowInfluence
    without: Callable[[Sequence[str]], Metric]
    unseen: Callable[..., float]
    when_infinite: str
    marks: Marks


class ScoreOptions(Options, total=False):
    """The same for a metric whose function takes no weightings."""

    under: Callable[..., Array]


class Share(TypedDict):
    """The options of a metric that is a share of something good."""

    better: Better
    low: float
    high: float


class ClassAverage(TypedDict):
    """The options of a metric that averages over classes."""

    scale: Scale
    pooling: Pooling
    by_rounds: bool


CLASS_AVERAGE: ClassAverage = {"scale": "rate", "pooling": "where classes are rare", "by_rounds": True}
SHARE: Share = {"better": "high", "low": 0.0, "high": 1.0}


def declare(metric: Metric, *needs: Precondition[A]) -> None:
    """Put a metric into the registry; it is undefined where one of its preconditions says why."""
    if (metric.answers, metric.name) in METRICS:
        raise ValueError(f"there are two metrics named '{metric.name}'")
    METRICS[metric.answers, metric.name] = guarded(metric, *needs)


def guarded(metric: Metric, *needs: Precondition[A]) -> Metric:
    """The metric, undefined where no row counts, or where one of its preconditions says why."""

    def compute(answers: A) -> Score:
        total = len(answers) if answers.weight is None else answers.weight.sum()
        if not total > 0:
            return Undefined("no test row has weight")
        for need in needs:
            undefined = need(answers)
            if undefined is not None:
                return undefined
        return metric.compute(answers)

    return replace(metric, compute=compute)


def of_weightings(name: str, answers: type[A], under: Under[A], why: Why[A], **options: Unpack[Options]) -> Metric:
    """The metric of a function from answers and weightings (B × n) of their rows to B values; ``why`` of a NaN."""

    def compute(answers: A) -> Score:
        value = float(under(answers, answers.weights[None, :])[0])
        if not np.isnan(value):
            return value
        return why if isinstance(why, Undefined) else why(answers)

    return Metric(name=name, answers=answers, compute=compute, under=under, **options)


def function_of_tallies(
    name: str,
    values: Callable[[Tallies, Sequence[str]], Array],
    why: Callable[[LabelAnswers], Undefined],
    **options: Unpack[Options],
) -> Metric:
    """The metric of a function from tallies (..., K) of classes to values (...); ``why`` of a NaN."""

    def compute(answers: LabelAnswers) -> Score:
        value = float(values(tallies_of(answers), answers.classes))
        return why(answers) if np.isnan(value) else value

    def under(answers: LabelAnswers, weightings: Array) -> Array:
        return values(tallies_under(answers, weightings), answers.classes)

    all_options: Options = {**CLASS_AVERAGE, **options}
    return Metric(name=name, answers=LabelAnswers, compute=compute, under=under, of_tallies=values, **all_options)


def mean_over_rows(
    name: str, answers: type[A], per_row: Callable[[A], Array], **options: Unpack[Options]
) -> Metric:
    """The metric that is the weighted mean of a value per row."""

    def compute(answers: A) -> float:
        return weighted_mean(per_row(answers), answers.weight)

    all_options: Options = {"aggregation": "mean of rows", **options}
    return Metric(name=name, answers=answers, compute=compute, per_row=per_row, **all_options)


def score(
    name: str, answers: type[A], *, needs: Sequence[Precondition[A]] = (), **options: Unpack[ScoreOptions]
) -> Callable[[Callable[[A], Score]], Callable[[A], Score]]:
    """Declare a function from answers to a value or ``Undefined``."""

    def decorate(compute: Callable[[A], Score]) -> Callable[[A], Score]:
        declare(Metric(name=name, answers=answers, compute=compute, **options), *needs)
        return compute

    return decorate


def weighted_score(
    name: str, answers: type[A], *, needs: Sequence[Precondition[A]] = (), why: Why[A], **options: Unpack[Options]
) -> Callable[[Under[A]], Under[A]]:
    """Declare a function from answers and weightings (B × n) of their rows to B values; ``why`` of a NaN."""

    def decorate(under: Under[A]) -> Under[A]:
        declare(of_weightings(name, answers, under, why, **options), *needs)
        return under

    return decorate


def mean_of_rows(
    name: str, answers: type[A], *, needs: Sequence[Precondition[A]] = (), **options: Unpack[Options]
) -> Callable[[Callable[[A], Array]], Callable[[A], Array]]:
    """Declare a function from answers to a value per row, whose weighted mean is the metric."""

    def decorate(per_row: Callable[[A], Array]) -> Callable[[A], Array]:
        declare(mean_over_rows(name, answers, per_row, **options), *needs)
        return per_row

    return decorate


def share_of_rows(
    name: str, answers: type[A], *, better: Better
) -> Callable[[Callable[[A], Array]], Callable[[A], Array]]:
    """Declare a function from answers to 0 or 1 per row, whose weighted mean is the metric."""
    return mean_of_rows(name, answers, better=better, low=0.0, high=1.0, aggregation="share of rows", scale="rate")


def of_tallies(
    name: str, *, why: Callable[[Tallies], Undefined], **options: Unpack[Options]
) -> Callable[[OfTallies], OfTallies]:
    """Declare a function from the tallies (..., K) of classes to values (...); ``why`` explains a NaN."""

    def decorate(function: OfTallies) -> OfTallies:
        metric = function_of_tallies(
            name, lambda tallies, _: function(tallies), lambda answers: why(tallies_of(answers)), **options
        )
        declare(metric)
        return function

    return decorate


def weighted_mean(values: Array, weight: Array | None) -> float:
    """The mean of values; rows of weight 0 do not count, even where infinite."""
    if weight is None:
        return float(values.mean())
    counting = weight > 0
    return float(np.average(values[counting], weights=weight[counting]))


def defined_values(metric: Metric, splits: Sequence[Answers]) -> Array:
    """The value of a metric in each of some splits, if it is defined in all of them; else an empty array."""
    values = defined(metric.compute(answers) for answers in splits)
    return np.array(values if len(values) == len(splits) else [], np.float64)


def means_under(values: Array, weightings: Array) -> Array:
    """The mean of finite values under each of many weightings (B × n)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(weightings @ values / weightings.sum(axis=1))


# Averages over classes: a rate of one class against the rest becomes its macro, micro and weighted average.
#
# A class that occurs neither as truth nor as prediction is left out, as in scikit-learn. A class whose rate is 0/0
# counts with the worst value (0 for rates that should be high, 1 for those that should be low, so that fpr stays
# 1 - specificity) and is marked; a rate that is 0/0 for every class is undefined.

Quotient = Callable[[Tallies], tuple[Array, Array]]
Average = Literal["macro", "micro", "weighted"]
AVERAGES: tuple[Average, ...] = ("macro", "micro", "weighted")


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

    def average(self, tallies: Tallies, how: Average) -> Array:
        """The mean over the classes that occur; NaN where the rate of each is 0/0.

        macro: every class counts the same; weighted: as often as it is true; micro: numerators and denominators
        are summed over the classes.
        """
        occurring = tallies.occurring
        if how == "micro":
            numerator, denominator = self.quotient(tallies)
            return ratio((numerator * occurring).sum(axis=-1), (denominator * occurring).sum(axis=-1))
        weights = tallies.support if how == "weighted" else occurring.astype(np.float64)
        rates = self.of_classes(tallies)
        is_defined = ~np.isnan(rates)
        mean = ratio((np.where(is_defined, rates, self.worst) * weights).sum(axis=-1), weights.sum(axis=-1))
        return np.where((is_defined & occurring).any(axis=-1), mean, np.nan)

    def marks(self, tallies: Tallies, how: Average, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Which classes count with the worst value, and which are left out of an average."""
        if how == "micro":
            return ()
        counted = tallies.support > 0 if how == "weighted" else tallies.occurring
        empty = np.flatnonzero(np.isnan(self.of_classes(tallies)) & counted)
        consequence = f"its {self.name} 0/0 counts as {self.worst:.0f}"
        marks = tuple(f"{self.empty.format(labels[code])}: {consequence}" for code in empty)
        return marks + (_left_out(tallies.occurring, labels) if how == "macro" else ())

    def undefined(self, label: str, rate: str) -> Undefined:
        """The reason if there is nothing to average."""
        return Undefined(f"{self.empty.format(label)}: {rate} is 0/0", self.hint)


def class_rate(
    name: str, *, better: Literal["high", "low"], empty: str, hint: str
) -> Callable[[Quotient], Quotient]:
    """Declare a rate of one class, its averages (``-macro``, ``-micro``, ``-weighted``) and ``name[class]``."""

    def decorate(quotient: Quotient) -> Quotient:
        rate = ClassRate(name, quotient, better, empty, hint)
        declare(_averaged(rate, name, "macro"))
        for average in AVERAGES:
            declare(_averaged(rate, f"{name}-{average}", average))
        OF_ONE_CLASS[name] = partial(_of_one_class, rate)
        return quotient

    return decorate


def _averaged(rate: ClassRate, name: str, how: Average) -> Metric:
    def values(tallies: Tallies, classes: Sequence[str]) -> Array:
        return rate.average(tallies, how)

    def why(answers: LabelAnswers) -> Undefined:
        first = int(np.flatnonzero(tallies_of(answers).occurring)[0])
        return rate.undefined(answers.classes[first], rate.name)

    def marks(answers: LabelAnswers) -> tuple[str, ...]:
        return rate.marks(tallies_of(answers), how, answers.classes)

    return function_of_tallies(name, values, why, better=rate.better, low=0.0, high=1.0, marks=marks)


def _of_one_class(rate: ClassRate, label: str) -> Metric:
    def values(tallies: Tallies, classes: Sequence[str]) -> Array:
        return rate.of_classes(tallies)[..., classes.index(label)]

    def why(answers: LabelAnswers) -> Undefined:
        return rate.undefined(label, f"its {rate.name}")

    metric = function_of_tallies(f"{rate.name}[{label}]", values, why, better=rate.better, low=0.0, high=1.0)
    return guarded(metric, class_known(label))


def class_known(label: str) -> Precondition[LabelAnswers]:
    """A precondition: the answers know this class."""
    return lambda answers: None if label in answers.classes else Undefined(f"there is no class '{label}' here")


def absent_classes(answers: LabelAnswers, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The marks of a mean over the true classes: those that no row has, except ``without``."""
    present = (tallies_of(answers).support > 0) | np.isin(answers.classes, without)
    return _left_out(present, answers.classes)


def _left_out(present: Flags, labels: tuple[str, ...]) -> tuple[str, ...]:
    consequence = "it is left out of the mean over classes"
    return tuple(f"no test row is {labels[code]}: {consequence}" for code in np.flatnonzero(~present))


_LOADED: set[type[Answers]] = set()
"""The answers whose scores have been imported."""


class SimilarMetricError(UsageError):
    """An unknown metric, or class of one, while a valid name is similar."""


def metric_named(name: str, answers: type[Answers], classes: Sequence[str] = ()) -> Metric:
    """The metric of a name such as ``f1-macro`` or ``recall[malignant]``; ``classes`` are checked where given."""
    stem, bracket, label = name.partition("[")
    if bracket and label.endswith("]") and stem in class_names_for(answers):
        label = label[:-1]
        if classes and label not in classes:
            what, hint = f"there is no class '{label}' for {name}", did_you_mean(label, classes, "classes")
            raise (SimilarMetricError if likely_names(label, classes) else UsageError)(what, hint=hint)
        return OF_ONE_CLASS[stem](label)
    if bracket and label.endswith("]") and stem == COST and stem in names_for(answers):
        from mlcli.metrics.scores.labels import cost_metric

        return cost_metric(costs_named(label[:-1]), classes)
    # rates of a kind with a positive class are those of the last class, so that naming it changes nothing
    rates_last_class = any(kind.has_positive_class for kind in KINDS if kind.answers_at == location_of(answers))
    if rates_last_class and tuple(classes[-1:]) == (label.removesuffix("]"),):
        name = stem
    _load_scores(answers, name)
    for judged in answers.__mro__:  # metrics of a special form of answers, then those of its base classes
        if issubclass(judged, Answers) and (judged, name) in METRICS:
            return METRICS[judged, name]
    stem, _, number = name.partition("@")
    if re.fullmatch("[1-9][0-9]{0,8}", number) and stem in at_k_names_for(answers):
        return AT_K[answers, stem](int(number))
    raise _unknown_name(name, answers)


def names_for(answers: type[Answers]) -> list[str]:
    """The names of all metrics of one kind of answers, in an order that does not depend on what was used first."""
    _load_scores(answers)
    return sorted({name for judged, name in METRICS if issubclass(answers, judged)})


def class_names_for(answers: type[Answers]) -> list[str]:
    """The names that take a class in brackets, as in ``recall[malignant]``."""
    _load_scores(answers)
    return list(OF_ONE_CLASS) if issubclass(answers, LabelAnswers) else []


def at_k_names_for(answers: type[Answers]) -> list[str]:
    """The names that take how many rows count, as in ``ndcg@3``."""
    _load_scores(answers)
    return sorted(name for judged, name in AT_K if issubclass(answers, judged))


def _unknown_name(name: str, answers: type[Answers]) -> UsageError:
    """The error for an unknown name; it tells which kind of task has the metric, or a similar name."""
    stem, bracket, _ = name.partition("[")
    stem = stem.partition("@")[0]
    others = [kind for kind in KINDS if stem in (class_names_for if bracket else names_for)(kind.answers)]
    if others and not any(kind.answers is answers for kind in others):
        names = [kind.name for kind in KINDS if kind.answers is answers]
        ours = " and ".join(names) or answers.__name__
        defaults = [name for kind in KINDS if kind.answers is answers for name in kind.metrics]
        hint = f"such as {', '.join(defaults)}; docs/metrics.md has all {len(names_for(answers))} of {ours}"
        # not the kinds whose answers are a special form of those of another kind, and share its metrics
        general = [
            kind.name
            for kind in others
            if not any(
                issubclass(kind.answers, other.answers) and kind.answers is not other.answers for other in others
            )
        ]
        theirs = " and ".join(general)
        return UsageError(f"'{name}' is a metric of {theirs}, not of {ours}", hint=hint)
    unknown, valid_names, noun = name, names_for(answers), "metrics"
    if bracket:
        unknown, valid_names, noun = stem, class_names_for(answers), "metrics that take a class in brackets"
    error = SimilarMetricError if likely_names(unknown, valid_names) else UsageError
    hint = did_you_mean(unknown, valid_names, noun)
    several = [part.strip() for part in name.split(",")]
    if len(several) > 1 and all(part in names_for(answers) for part in several):
        hint = f"metrics are named one by one: {' '.join(f'--metric {part}' for part in several)}"
    return error(f"there is no metric '{name}'", hint=hint)


def _load_scores(answers: type[Answers], until: str = "") -> None:
    """Import the scores of the kinds that have these answers, ``until`` the metric of a name is known, if given.

    Where no kind is listed with these answers, the scores of all kinds are imported.
    """
    if answers in _LOADED:
        return
    requested = [kind for kind in KINDS if kind.answers_at == location_of(answers)] or KINDS
    for kind in requested:
        for stem in kind.scores:
            if (answers, until) in METRICS:
                return
            importlib.import_module(f"mlcli.metrics.scores.{stem}")
    _LOADED.add(answers)
