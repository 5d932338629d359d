"""Where metrics are found: every decorated function in ``mlcli/metrics/scores`` is one, under a name.

A metric is one function, its docstring the one-liner. The decorator says what the function returns:
``score`` one value of answers, ``mean_of_rows`` the value of each row, ``share_of_rows`` 0 or 1 for each row, and
``of_counts`` a value of confusion counts; ``class_rate`` in ``averages.py`` averages a rate of one class over all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.core.answers import Answers, LabelAnswers
from mlcli.core.errors import UsageError
from mlcli.core.kinds import KINDS
from mlcli.core.names import did_you_mean
from mlcli.core.tables import Array
from mlcli.metrics.base import Better, Metric, Score, Undefined
from mlcli.metrics.confusion import counts_of, counts_under

METRICS: dict[str, Metric] = {}
OF_ONE_CLASS: dict[str, Callable[[str], Metric]] = {}
"""The metrics that a single class has too, by the name before the bracket."""

Precondition = Callable[[Any], Undefined | None]


def metric_named(name: str, answers: type[Answers], classes: Sequence[str] = ()) -> Metric:
    """The metric of a name such as ``f1-macro`` or ``recall[malignant]``; ``classes`` are checked where given."""
    _load_scores()
    stem, bracket, label = name.partition("[")
    if bracket and label.endswith("]") and stem in OF_ONE_CLASS:
        return _fitting(OF_ONE_CLASS[stem](_known_class(name, label[:-1], classes)), answers)
    if bracket:
        hint = did_you_mean(stem, OF_ONE_CLASS, "metrics that take a class in brackets")
        raise UsageError(f"there is no metric '{name}'", hint=hint)
    if name not in METRICS:
        hint = did_you_mean(name, names_for(answers), "metrics")
        raise UsageError(f"there is no metric '{name}'", hint=hint)
    return _fitting(METRICS[name], answers)


def names_for(answers: type[Answers]) -> list[str]:
    """The names of all metrics of one kind of answers."""
    _load_scores()
    return [name for name, metric in METRICS.items() if issubclass(answers, metric.answers)]


def class_names_for(answers: type[Answers]) -> list[str]:
    """The names that take a class in brackets, as in ``recall[malignant]``."""
    _load_scores()
    return list(OF_ONE_CLASS) if issubclass(answers, LabelAnswers) else []


def declare(metric: Metric) -> Metric:
    """Put a metric into the registry."""
    if metric.name in METRICS:
        raise ValueError(f"there are two metrics named '{metric.name}'")
    METRICS[metric.name] = metric
    return metric


def guarded(metric: Metric, *needs: Precondition) -> Metric:
    """The metric, undefined where one of its preconditions says why."""

    def compute(answers: Answers) -> Score:
        for need in needs:
            missing = need(answers)
            if missing is not None:
                return missing
        return metric.compute(answers)

    return replace(metric, compute=compute)


def rows_judged(answers: Answers) -> Undefined | None:
    """The precondition of every metric: at least one row counts."""
    total = len(answers) if answers.weight is None else answers.weight.sum()
    return None if total > 0 else Undefined("no row with weight was judged")


def score(
    name: str, answers: type[Answers], *, needs: Sequence[Precondition] = (), **declared: Any
) -> Callable[[Callable[[Any], Score]], Callable[[Any], Score]]:
    """Declare a function from answers to a value or ``Undefined``."""

    def mark(function: Callable[[Any], Score]) -> Callable[[Any], Score]:
        metric = Metric(name=name, summary=first_line(function), answers=answers, compute=function, **declared)
        declare(guarded(metric, rows_judged, *needs))
        return function

    return mark


def mean_of_rows(
    name: str, answers: type[Answers], **declared: Any
) -> Callable[[Callable[[Any], Array]], Callable[[Any], Array]]:
    """Declare a function from answers to a value per row, whose weighted mean is the metric."""

    def mark(function: Callable[[Any], Array]) -> Callable[[Any], Array]:
        def mean(answers: Answers) -> float:
            return weighted_mean(function(answers), answers.weight)

        mean.__doc__ = function.__doc__
        described: dict[str, Any] = {"form": "mean of rows", "per_row": function} | declared
        score(name, answers, **described)(mean)
        return function

    return mark


def share_of_rows(
    name: str, answers: type[Answers], *, better: Better
) -> Callable[[Callable[[Any], Array]], Callable[[Any], Array]]:
    """Declare a function from answers to 0 or 1 per row, whose weighted mean is the metric."""
    return mean_of_rows(name, answers, better=better, low=0.0, high=1.0, form="share of rows")


def of_counts(
    name: str, *, why: Callable[[Array], Undefined], **declared: Any
) -> Callable[[Callable[[Array], Array]], Callable[[Array], Array]]:
    """Declare a function from confusion counts (..., K, K) to values (...); ``why`` explains a NaN."""

    def mark(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def compute(answers: LabelAnswers) -> Score:
            counts = counts_of(answers)
            value = float(function(counts))
            return why(counts) if np.isnan(value) else value

        def under(answers: LabelAnswers, weightings: Array) -> Array:
            return function(counts_under(answers, weightings))

        compute.__doc__ = function.__doc__
        score(name, LabelAnswers, under=under, **declared)(compute)
        return function

    return mark


def weighted_mean(values: Array, weight: Array | None) -> float:
    """The mean of values; rows of weight 0 do not count, even where infinite."""
    if weight is None:
        return float(values.mean())
    counting = weight > 0
    return float(np.average(values[counting], weights=weight[counting]))


def first_line(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (function.__doc__ or "").strip().partition("\n")[0]


def _known_class(name: str, label: str, classes: Sequence[str]) -> str:
    if classes and label not in classes:
        raise UsageError(f"there is no class '{label}' for {name}", hint=did_you_mean(label, classes, "classes"))
    return label


def _fitting(metric: Metric, answers: type[Answers]) -> Metric:
    if not issubclass(answers, metric.answers):
        theirs, ours = _kinds_of(metric.answers), _kinds_of(answers)
        hint = f"metrics of {ours}: {', '.join(names_for(answers))}"
        raise UsageError(f"'{metric.name}' is a metric of {theirs}, not of {ours}", hint=hint)
    return metric


def _kinds_of(answers: type[Answers]) -> str:
    names = [kind.name for kind in KINDS if issubclass(kind.answers, answers)]
    return " and ".join(names) or answers.__name__


@cache
def _load_scores() -> None:
    folder = Path(__file__).parent / "scores"
    for path in sorted(folder.glob("[!_]*.py")):
        importlib.import_module(f"mlcli.metrics.scores.{path.stem}")
