"""Influence: how much each judged row moves a score, by which its error over rows or groups of them is known.

The influence of row i is W ∂score/∂wᵢ, W being the sum of all weights: what the score would change by, did rows
like this one take the whole weight (Hampel 1974; Efron 1982, the infinitesimal jackknife). Its weighted mean is 0,
and a mean of row values has the value of the row minus the mean. Of the area under the ROC curve these are the
placements of DeLong, DeLong & Clarke-Pearson 1988; of a function of the tallies of K classes they follow from its
3 K derivatives, since a row counts among those of its class, those answered as it is, and the right ones if it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.metrics.base import Metric, Ranking
from mlcli.metrics.confusion import Tallies, counts_of, tallies_of
from mlcli.metrics.declaring import weighted_mean
from mlcli.metrics.pooling import units_by_class
from mlcli.tasks.anomaly import ScoreAnswers
from mlcli.tasks.classification import LabelAnswers

STEP = 1e-4
"""The share of a tally by which it is changed for a derivative; central differences err by its square."""
AT_ONCE = 1 << 20
"""How many numbers of changed tallies are looked at together."""
PSEUDO_ROWS = 1.0
"""So many rows more of each class, half of them wrong, stand for errors that were not seen yet."""


def influence(metric: Metric, answers: Any) -> Array | None:
    """The influence of each row on a score; None where only resampling tells."""
    if metric.influence is not None:
        return metric.influence(answers)
    if metric.rankings is not None:
        placed = [found for one in metric.rankings(answers) if (found := _influence_on_area(one)) is not None]
        return np.asarray(answers.weights.sum() * np.mean(placed, axis=0)) if placed else None
    if metric.of_tallies is not None:
        return slopes(_of_classes(metric, answers), tallies_of(answers)).of_rows(answers.truth, answers.predicted)
    if metric.per_row is None:
        return None
    values = metric.per_row(answers)
    return values - weighted_mean(values, answers.weight)


def variance_when_smoothed(metric: Metric, answers: LabelAnswers) -> tuple[float, float]:
    """A function of counts, and the variance of its influence, with a few errors more than were seen."""
    function, counts = _of_classes(metric, answers), smoothed_counts(counts_of(answers))
    tallies = Tallies.of(counts)
    influences = slopes(function, tallies).of_cells()
    return float(function(tallies)), float((counts * influences**2).sum() / counts.sum())


def freedom_of_classes(metric: Metric, answers: Any) -> float | None:
    """Welch & Satterthwaite's degrees of freedom where each class has an error of its own; None where none has."""
    has_classes = isinstance(answers, LabelAnswers | ScoreAnswers)
    if metric.pooling != "where classes are rare" or not has_classes:
        return None
    classes, known = len(answers.classes), answers.truth >= 0
    rows = units_by_class(answers)
    if metric.of_tallies is not None:
        rows = rows + PSEUDO_ROWS
        counts = smoothed_counts(counts_of(answers))
        influences = slopes(_of_classes(metric, answers), Tallies.of(counts)).of_cells()
        spread = (counts * influences**2).sum(axis=1)
    else:
        of_rows = influence(metric, answers)
        if of_rows is None:
            return None
        spread = np.bincount(answers.truth[known], (answers.weights * of_rows)[known] ** 2, classes)
    total, by_class = float(spread.sum()), (spread**2 / np.maximum(rows - 1, 1)).sum()
    return total**2 / float(by_class) if by_class > 0 else None


def _of_classes(metric: Metric, answers: LabelAnswers) -> Callable[[Tallies], Array]:
    """A metric as a function of the tallies of the classes of some answers."""
    of_tallies = metric.of_tallies
    assert of_tallies is not None
    return lambda tallies: of_tallies(tallies, answers.classes)


def smoothed_counts(counts: Array) -> Array:
    """Counts with some rows more of every class that has rows, half of them right."""
    classes = len(counts)
    right = PSEUDO_ROWS / 2 * np.eye(classes)
    wrong = PSEUDO_ROWS / 2 * (1 - np.eye(classes)) / max(classes - 1, 1)
    return np.asarray(counts + np.where(counts.sum(axis=1) > 0, 1.0, 0.0)[:, None] * (right + wrong))


@dataclass(frozen=True, eq=False)
class TallySlopes:
    """By how much a score moves with one right row more of each class, one of it, and one answered with it."""

    right: Array
    actual: Array
    answered: Array

    def of_rows(self, truth: Codes, predicted: Codes) -> Array:
        """The influence of rows of these classes with these answers."""
        right = np.where(truth == predicted, self.right[truth], 0.0)
        return np.asarray(self.actual[truth] + self.answered[predicted] + right)

    def of_cells(self) -> Array:
        """The influence of a row in each cell of a confusion matrix."""
        return np.asarray(self.actual[:, None] + self.answered + np.diag(self.right))


def slopes(function: Callable[[Tallies], Array], tallies: Tallies) -> TallySlopes:
    """The derivatives of a function by the tallies of classes, by central differences; 0 where no row is."""
    point = np.stack([tallies.true_positives, tallies.support, tallies.predicted])
    places = np.argwhere(point > 0)
    steps = STEP * point[point > 0]
    found = np.zeros_like(point)
    for some in np.array_split(np.arange(len(places)), max(1, len(places) * point.size // AT_ONCE)):
        up, down = (function(_changed(point, places[some], sign * steps[some])) for sign in (1, -1))
        found[tuple(places[some].T)] = tallies.support.sum() * (up - down) / (2 * steps[some])
    return TallySlopes(*np.nan_to_num(found))


def _changed(point: Array, places: Rows, by: Array) -> Tallies:
    """The tallies once for each place, with another number there."""
    stacked = np.repeat(point[:, None], len(places), axis=1)
    stacked[places[:, 0], np.arange(len(places)), places[:, 1]] += by
    return Tallies(*stacked)


def _influence_on_area(one: Ranking) -> Array | None:
    """By how much the area would change, did each row weigh a little more; None where only one class counts."""
    positives, negatives = one.by_level
    of_positives, of_negatives = float(positives.sum()), float(negatives.sum())
    if of_positives <= 0 or of_negatives <= 0:
        return None
    share_below = (np.cumsum(negatives) - negatives / 2)[one.ranks] / of_negatives
    share_above = 1 - (np.cumsum(positives) - positives / 2)[one.ranks] / of_positives
    area = float(share_below[one.positive] @ one.weights[one.positive]) / of_positives
    placed = np.where(one.positive, (share_below - area) / of_positives, (share_above - area) / of_negatives)
    return np.where(one.weights > 0, placed, 0.0)


def share_of_ties(rankings: Sequence[Ranking]) -> float:
    """The share of pairs of a row of the class and another that tie, the mean of rankings that have pairs."""
    sides = [one.by_level for one in rankings]
    ties, pairs = np.array([(of_class @ rest, of_class.sum() * rest.sum()) for of_class, rest in sides]).T
    return float((ties[pairs > 0] / pairs[pairs > 0]).mean())
