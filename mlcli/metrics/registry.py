"""Where metrics are found by name: the kinds table says which files of ``mlcli/metrics/scores`` judge what."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import NoReturn

from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean, likely_names
from mlcli.metrics.base import Metric
from mlcli.metrics.confusion import COST, costs_named
from mlcli.metrics.declaring import AT_K, METRICS, OF_ONE_CLASS
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.table import KINDS, Kind, location_of

_LOADED: set[type[Answers]] = set()
"""The answers whose scores have been imported."""


class SimilarMetricError(UsageError):
    """An unknown metric, or class of one, while a valid name is similar."""


def metric_named(name: str, answers: type[Answers], classes: Sequence[str] = ()) -> Metric:
    """The metric of a name such as ``f1-macro`` or ``recall[malignant]``; ``classes`` are checked where given."""
    _load_scores(answers)
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
    return _known(answers, name) or _at_k(answers, name) or _refused(name, answers)


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


def _at_k(answers: type[Answers], name: str) -> Metric | None:
    """The metric of a name with a number of rows, such as ``ndcg@3``."""
    stem, _, first = name.partition("@")
    known = re.fullmatch("[1-9][0-9]{0,8}", first) and stem in at_k_names_for(answers)
    return AT_K[answers, stem](int(first)) if known else None


def _known(answers: type[Answers], name: str) -> Metric | None:
    """The metric of a name for some answers, or for what they are a kind of."""
    judged = (METRICS.get((cls, name)) for cls in answers.__mro__ if issubclass(cls, Answers))
    return next((metric for metric in judged if metric is not None), None)


def _refused(name: str, answers: type[Answers]) -> NoReturn:
    """Say whether another kind of task knows the metric, or which name is near."""
    stem, bracket, _ = name.partition("[")
    stem = stem.partition("@")[0]
    others = [kind for kind in KINDS if stem in (class_names_for if bracket else names_for)(kind.answers)]
    if others and not any(kind.answers is answers for kind in others):
        names = [kind.name for kind in KINDS if kind.answers is answers]
        ours = " and ".join(names) or answers.__name__
        defaults = [name for kind in KINDS if kind.answers is answers for name in kind.metrics]
        hint = f"such as {', '.join(defaults)}; docs/metrics.md has all {len(names_for(answers))} of {ours}"
        theirs = " and ".join(kind.name for kind in others if not _is_special(kind, others))
        raise UsageError(f"'{name}' is a metric of {theirs}, not of {ours}", hint=hint)
    unknown, valid_names, noun = name, names_for(answers), "metrics"
    if bracket:
        unknown, valid_names, noun = stem, class_names_for(answers), "metrics that take a class in brackets"
    error = SimilarMetricError if likely_names(unknown, valid_names) else UsageError
    hint = did_you_mean(unknown, valid_names, noun)
    several = [part.strip() for part in name.split(",")]
    if len(several) > 1 and all(part in names_for(answers) for part in several):
        hint = f"metrics are named one by one: {' '.join(f'--metric {part}' for part in several)}"
    raise error(f"there is no metric '{name}'", hint=hint)


def _is_special(kind: Kind, others: Sequence[Kind]) -> bool:
    """Whether its answers are a special form of those of another kind, whose metrics it has anyway."""
    return any(issubclass(kind.answers, other.answers) and kind.answers is not other.answers for other in others)


def _load_scores(answers: type[Answers]) -> None:
    """Import the scores of the kinds that have these answers; of all kinds, where none is said to have them."""
    if answers in _LOADED:
        return
    _LOADED.add(answers)
    requested = [kind for kind in KINDS if kind.answers_at == location_of(answers)] or KINDS
    for kind in requested:
        for stem in kind.scores:
            importlib.import_module(f"mlcli.metrics.scores.{stem}")
