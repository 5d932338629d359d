"""Metrics of anomaly scores: how anomalies rank among good rows, and how well the chosen threshold flags them.

Labels that no fit has seen give the scores; rows whose label is not known do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mlcli.core.moments import summed_from_the_top
from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.base import Metric, Pooling, Ranking, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.registry import AT_K, SHARE, declare, guarded, of_weightings, weighted_score
from mlcli.metrics.scores.probabilities import area, ranks_but_for_rounding
from mlcli.tasks.anomaly import ANOMALY, GOOD, ScoreAnswers
from mlcli.tasks.unsupervised import UNKNOWN

SAME = 64 * float(np.finfo(np.float64).eps)
"""Relative difference below which two scores differ by rounding only, and tie."""
NO_VALUE = Undefined("no labelled row has weight")
WITHOUT_LABELS = Undefined("the rows have no labels, so the scores cannot be evaluated")


def both_labels(answers: ScoreAnswers) -> Undefined | None:
    """Precondition of rankings: there is a good row and an anomaly."""
    if (undefined := good_rows(answers)) is not None:
        return undefined
    if not answers.weights[answers.truth == ANOMALY].sum() > 0:
        return Undefined("no test row is an anomaly; specificity needs good rows only")
    return None


def good_rows(answers: ScoreAnswers) -> Undefined | None:
    """Precondition of rates of good rows: there is one."""
    if not (answers.truth != UNKNOWN).any():
        return WITHOUT_LABELS
    good = answers.weights[answers.truth == GOOD].sum()
    return None if good > 0 else Undefined("every test row is an anomaly")


def threshold_chosen(answers: ScoreAnswers) -> Undefined | None:
    """Precondition of flags: a threshold was chosen."""
    if answers.threshold is not None:
        return None
    return Undefined("no threshold was chosen: the protocol good-only chooses one on validation rows")


def rankings(answers: ScoreAnswers) -> list[Ranking]:
    """The rows by their scores; rows without a label do not count."""
    known, levels = _labelled(answers)
    ranks = np.zeros(len(answers), np.intp)
    ranks[known] = levels
    return [Ranking(ranks, answers.truth == ANOMALY, np.where(known, answers.weights, 0.0))]


declare(area("auc", ScoreAnswers, rankings, NO_VALUE), both_labels)


@weighted_score("average-precision", ScoreAnswers, needs=(both_labels,), why=NO_VALUE, pooling="always", **SHARE)
def average_precision(answers: ScoreAnswers, weightings: Array) -> Array:
    """Mean precision over the anomalies, each taken at its own score as the threshold.

    Of few anomalies it is much too high, so that small splits are taken together.
    """
    flagged, hits = _from_the_top(answers, weightings)
    precision = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
    return ratio((np.diff(hits, axis=1, prepend=0.0) * precision).sum(axis=1), hits[:, -1])


@weighted_score("precision-at-n", ScoreAnswers, needs=(both_labels,), why=NO_VALUE, pooling="always", **SHARE)
def precision_at_n(answers: ScoreAnswers, weightings: Array) -> Array:
    """Of the n rows with the highest scores, the share of anomalies; n is the number of anomalies."""
    flagged, hits = _from_the_top(answers, weightings)
    return ratio(_hits_among(hits[:, -1], flagged, hits), hits[:, -1])


Rate = Callable[[Array, Array, Array], Array]
"""From the weight of the flagged rows, of the anomalies among them, and of all anomalies."""


def precision(flagged: Array, hits: Array, anomalies: Array) -> Array:
    """Of the flagged rows, the share of anomalies."""
    return ratio(hits, flagged)


def recall(flagged: Array, hits: Array, anomalies: Array) -> Array:
    """Of the anomalies, the share that is flagged."""
    return ratio(hits, anomalies)


def f1(flagged: Array, hits: Array, anomalies: Array) -> Array:
    """Harmonic mean of precision and recall."""
    return ratio(2 * hits, flagged + anomalies)


def of_the_flagged(name: str, rate: Rate, pooling: Pooling) -> Metric:
    """A rate of the rows that score at least the threshold.

    Where its denominator is how many rows happen to be flagged, small splits are taken together: a quotient of two
    chances is too high on average, and undefined where nothing is flagged.
    """

    def under(answers: ScoreAnswers, weightings: Array) -> Array:
        anomalous = (answers.truth == ANOMALY).astype(np.float64)
        flagged = (answers.flagged & (answers.truth != UNKNOWN)).astype(np.float64)
        return rate(weightings @ flagged, weightings @ (flagged * anomalous), weightings @ anomalous)

    why = Undefined("no row is flagged")
    return of_weightings(name, ScoreAnswers, under, why, pooling=pooling, **SHARE)


@weighted_score("specificity", ScoreAnswers, needs=(good_rows, threshold_chosen), why=NO_VALUE, **SHARE)
def specificity(answers: ScoreAnswers, weightings: Array) -> Array:
    """Of the good rows, the share that is not flagged; it needs no anomalies."""
    good = (answers.truth == GOOD).astype(np.float64)
    return ratio(weightings @ (good * ~answers.flagged), weightings @ good)


def at_k(name: str, rate: Rate, first: int) -> Metric:
    """A rate of the rows that score highest, so many of them, whatever the threshold."""

    def under(answers: ScoreAnswers, weightings: Array) -> Array:
        flagged, hits = _from_the_top(answers, weightings)
        limit = np.minimum(first, flagged[:, -1])
        return rate(limit, _hits_among(limit, flagged, hits), hits[:, -1])

    return guarded(of_weightings(f"{name}@{first}", ScoreAnswers, under, NO_VALUE, **SHARE), both_labels)


RATES: tuple[tuple[str, Rate, Pooling], ...] = (
    ("precision", precision, "always"),
    ("recall", recall, "never"),
    ("f1", f1, "always"),
)
for _name, _rate, _pooling in RATES:
    declare(of_the_flagged(_name, _rate, _pooling), both_labels, threshold_chosen)
    AT_K[ScoreAnswers, _name] = partial(at_k, _name, _rate)


def _hits_among(first: Array, flagged: Array, hits: Array) -> Array:
    """The anomalies among the highest scores; rows that tie at the limit count by the share that fits."""
    steps = zip(first, *(np.pad(sums, ((0, 0), (1, 0))) for sums in (flagged, hits)), strict=True)
    return np.array([np.interp(n, *step) for n, *step in steps])


def _from_the_top(answers: ScoreAnswers, weightings: Array) -> tuple[Array, Array]:
    """Under each weighting the rows, and the anomalies, that score at least the highest, second, ... score."""
    known, levels = _labelled(answers)
    weights = weightings[:, known]
    flagged, hits = summed_from_the_top(levels, weights, weights * (answers.truth[known] == ANOMALY))[1]
    return flagged, hits


def _labelled(answers: ScoreAnswers) -> tuple[Flags, Rows]:
    """The labelled rows, and the rank of each of their scores among the distinct ones."""
    known = answers.truth != UNKNOWN
    return known, ranks_but_for_rounding(answers.score[known], lambda ascending: SAME * np.abs(ascending))
