"""Scores of oddness: how anomalies rank among good rows, and what flagging from the chosen threshold on gives.

Labels that no fit has seen judge; rows whose label is not known do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.base import Metric, Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.declaring import OF_THE_FIRST, guarded, rows_judged, score
from mlcli.metrics.scores.probabilities import area_under
from mlcli.tasks.anomaly import ANOMALY, ScoreAnswers
from mlcli.tasks.unsupervised import UNKNOWN

SAME = 64 * float(np.finfo(np.float64).eps)
"""Relative difference below which two scores differ by rounding only, and tie."""
WITHOUT_LABELS = Undefined("the rows have no labels, so nothing judges the scores")


def both_labels(answers: ScoreAnswers) -> Undefined | None:
    """The precondition of rankings: a good row and an anomaly are judged."""
    if not (answers.truth != UNKNOWN).any():
        return WITHOUT_LABELS
    if not _anomalies(answers) > 0:
        return Undefined("no judged row is an anomaly")
    good = answers.weights[answers.truth == 0].sum()
    return None if good > 0 else Undefined("every judged row is an anomaly")


def threshold_chosen(answers: ScoreAnswers) -> Undefined | None:
    """The precondition of flags."""
    if answers.threshold is not None:
        return None
    return Undefined("no threshold was chosen: the protocol good-only chooses one on validation rows")


def auc_under(answers: ScoreAnswers, weightings: Array) -> Array:
    """AUC under each weighting."""
    known, levels = _labelled(answers)
    return area_under(levels / (levels.max() + 1.0), answers.truth[known] == ANOMALY, weightings[:, known])


@score("auc", ScoreAnswers, needs=(both_labels,), better="high", low=0.0, high=1.0, under=auc_under)
def auc(answers: ScoreAnswers) -> Score:
    """How often an anomaly scores above a good row, ties half."""
    return float(auc_under(answers, answers.weights[None, :])[0])


def average_precision_under(answers: ScoreAnswers, weightings: Array) -> Array:
    """Average precision under each weighting."""
    flagged, hits = _from_the_top(answers, weightings)
    found = hits[:, -1]
    precision = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
    return ratio((np.diff(hits, axis=1, prepend=0.0) * precision).sum(axis=1), found)


@score(
    "average-precision",
    ScoreAnswers,
    needs=(both_labels,),
    better="high",
    low=0.0,
    high=1.0,
    under=average_precision_under,
)
def average_precision(answers: ScoreAnswers) -> Score:
    """Mean precision over the anomalies, each taken at its own score as the threshold."""
    return float(average_precision_under(answers, answers.weights[None, :])[0])


def precision_at_n_under(answers: ScoreAnswers, weightings: Array) -> Array:
    """Precision at n under each weighting; rows that tie at the edge count for the share of them that fits."""
    flagged, hits = _from_the_top(answers, weightings)
    wanted = hits[:, -1]
    return ratio(np.array([np.interp(n, *steps) for n, *steps in zip(wanted, flagged, hits, strict=True)]), wanted)


@score(
    "precision-at-n",
    ScoreAnswers,
    needs=(both_labels,),
    better="high",
    low=0.0,
    high=1.0,
    under=precision_at_n_under,
)
def precision_at_n(answers: ScoreAnswers) -> Score:
    """Of the n rows that score highest, the share of anomalies; n is how many anomalies there are."""
    return float(precision_at_n_under(answers, answers.weights[None, :])[0])


def at_the_top(answers: ScoreAnswers, weightings: Array, first: int) -> tuple[Array, Array, Array]:
    """As ``_counts``, where the so many rows that score highest are flagged; ties at the edge count by share."""
    flagged, hits = _from_the_top(answers, weightings)
    wanted = np.minimum(first, flagged[:, -1])
    found = [np.interp(n, *steps) for n, *steps in zip(wanted, _from_0(flagged), _from_0(hits), strict=True)]
    return wanted, np.array(found), hits[:, -1]


def _from_0(sums: Array) -> Array:
    return np.pad(sums, ((0, 0), (1, 0)))


def _precision_of(flagged: Array, hits: Array, anomalies: Array) -> Array:
    return ratio(hits, flagged)


def _precision_under(answers: ScoreAnswers, weightings: Array) -> Array:
    return _precision_of(*_counts(answers, weightings))


@score(
    "precision",
    ScoreAnswers,
    needs=(both_labels, threshold_chosen),
    better="high",
    low=0.0,
    high=1.0,
    under=_precision_under,
)
def precision(answers: ScoreAnswers) -> Score:
    """Of the rows flagged, the share of anomalies."""
    value = float(_precision_under(answers, answers.weights[None, :])[0])
    return Undefined("no row is flagged") if np.isnan(value) else value


def _recall_of(flagged: Array, hits: Array, anomalies: Array) -> Array:
    return ratio(hits, anomalies)


def _recall_under(answers: ScoreAnswers, weightings: Array) -> Array:
    return _recall_of(*_counts(answers, weightings))


@score(
    "recall",
    ScoreAnswers,
    needs=(both_labels, threshold_chosen),
    better="high",
    low=0.0,
    high=1.0,
    under=_recall_under,
)
def recall(answers: ScoreAnswers) -> Score:
    """Of the anomalies, the share that is flagged."""
    return float(_recall_under(answers, answers.weights[None, :])[0])


def _f1_of(flagged: Array, hits: Array, anomalies: Array) -> Array:
    return ratio(2 * hits, flagged + anomalies)


def _f1_under(answers: ScoreAnswers, weightings: Array) -> Array:
    return _f1_of(*_counts(answers, weightings))


@score(
    "f1", ScoreAnswers, needs=(both_labels, threshold_chosen), better="high", low=0.0, high=1.0, under=_f1_under
)
def f1(answers: ScoreAnswers) -> Score:
    """Harmonic mean of precision and recall of the rows flagged."""
    return float(_f1_under(answers, answers.weights[None, :])[0])


def of_the_first(name: str, of: Callable[[Array, Array, Array], Array], summary: str, first: int) -> Metric:
    """The metric of the rows that score highest, so many of them, whatever the threshold."""

    def under(answers: ScoreAnswers, weightings: Array) -> Array:
        return of(*at_the_top(answers, weightings, first))

    def at_once(answers: ScoreAnswers) -> Score:
        return float(under(answers, answers.weights[None, :])[0])

    metric = Metric(
        name=f"{name}@{first}",
        summary=summary.format(first),
        answers=ScoreAnswers,
        compute=at_once,
        better="high",
        low=0.0,
        high=1.0,
        under=under,
    )
    return guarded(metric, rows_judged, both_labels)


PRECISION = "Of the {} rows that score highest, the share of anomalies."
RECALL = "Of the anomalies, the share that is among the {} rows that score highest."
F1 = "Harmonic mean of precision and recall of the {} rows that score highest."
for _name, _of, _summary in (
    ("precision", _precision_of, PRECISION),
    ("recall", _recall_of, RECALL),
    ("f1", _f1_of, F1),
):
    OF_THE_FIRST[ScoreAnswers, _name] = partial(of_the_first, _name, _of, _summary)


def _anomalies(answers: ScoreAnswers) -> float:
    return float(answers.weights[answers.truth == ANOMALY].sum())


def _counts(answers: ScoreAnswers, weightings: Array) -> tuple[Array, Array, Array]:
    """The weight of labelled rows that are flagged, of anomalies among them, and of all anomalies."""
    anomalous = (answers.truth == ANOMALY).astype(np.float64)
    flagged = (answers.flagged & (answers.truth != UNKNOWN)).astype(np.float64)
    return weightings @ flagged, weightings @ (flagged * anomalous), weightings @ anomalous


def _from_the_top(answers: ScoreAnswers, weightings: Array) -> tuple[Array, Array]:
    """Under each weighting the rows, and the anomalies, that score at least the highest, second, ... score."""
    known, levels = _labelled(answers)
    order = np.argsort(-levels, kind="stable")
    weights = weightings[:, known][:, order]
    last_of_equals = np.append(np.diff(levels[order]) != 0, True)
    flagged, hits = (
        np.cumsum(weights, axis=1),
        np.cumsum(weights * (answers.truth[known] == ANOMALY)[order], axis=1),
    )
    return flagged[:, last_of_equals], hits[:, last_of_equals]


def _labelled(answers: ScoreAnswers) -> tuple[Flags, Rows]:
    """The rows whose label is known, and the place of each of their scores among the different ones."""
    known = answers.truth != UNKNOWN
    scores = answers.score[known]
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    rises = np.diff(ascending, prepend=ascending[:1]) > SAME * np.abs(ascending)
    levels = np.empty(len(scores), dtype=np.intp)
    levels[order] = np.cumsum(rises)
    return known, levels
