"""Where metrics are found by name: every decorated function in a file of ``mlcli/metrics/scores`` is one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mlcli.core.answers import Answers, LabelAnswers
from mlcli.core.errors import UsageError
from mlcli.core.kinds import KINDS
from mlcli.core.names import did_you_mean
from mlcli.metrics.base import Metric
from mlcli.metrics.declaring import METRICS, OF_ONE_CLASS


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
    """The names of all metrics of one kind of answers, in an order that does not depend on what was used first."""
    _load_scores()
    return sorted(name for name, metric in METRICS.items() if issubclass(answers, metric.answers))


def class_names_for(answers: type[Answers]) -> list[str]:
    """The names that take a class in brackets, as in ``recall[malignant]``."""
    _load_scores()
    return list(OF_ONE_CLASS) if issubclass(answers, LabelAnswers) else []


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
