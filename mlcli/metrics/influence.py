"""Influence: how much each judged row moves a score, by which its error over rows or groups of them is known.

The influence of row i is W ∂score/∂wᵢ, W being the sum of all weights: what the score would change by, did rows
like this one take the whole weight (Hampel 1974; Efron 1982, the infinitesimal jackknife). Its weighted mean is 0,
and a mean of row values has the value of the row minus the mean. Of the area under the ROC curve these are the
placements of DeLong, DeLong & Clarke-Pearson 1988; of a function of confusion counts they follow from its
derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.base import Metric
from mlcli.metrics.confusion import counts_of
from mlcli.metrics.declaring import weighted_mean
from mlcli.metrics.pooling import units_of
from mlcli.tasks.anomaly import ScoreAnswers
from mlcli.tasks.classification import LabelAnswers

STEP = 1e-3
"""The share of a count by which it is moved for a derivative; central differences err by its square."""
AT_ONCE = 1 << 20
"""How many numbers of moved counts are looked at together."""
PSEUDO_ROWS = 1.0
"""So many rows more of each class, half of them wrong, stand for errors that were not seen yet."""


def influence(metric: Metric, answers: Any) -> Array | None:
    """The influence of each row on a score; None where only resampling tells."""
    if metric.influence is not None:
        return metric.influence(answers)
    if metric.of_counts is not None:
        return _of_cells(_counted(metric, answers), answers)
    if metric.per_row is None:
        return None
    values = metric.per_row(answers)
    return values - weighted_mean(values, answers.weight)


def variance_when_smoothed(metric: Metric, answers: LabelAnswers) -> tuple[float, float]:
    """A function of counts, and the variance of its influence, with a few errors more than were seen."""
    function, counts = _counted(metric, answers), smoothed(counts_of(answers))
    moved = cell_influence(function, counts)
    return float(function(counts)), float((counts * moved**2).sum() / counts.sum())


def freedom_of_classes(metric: Metric, answers: Any) -> float | None:
    """Welch & Satterthwaite's degrees of freedom where each class has an error of its own; None where none has."""
    has_classes = isinstance(answers, LabelAnswers | ScoreAnswers)
    if metric.pooling != "where classes are rare" or not has_classes:
        return None
    classes, known = len(answers.classes), answers.truth >= 0
    rows = units_by_class(answers)
    if metric.of_counts is not None:
        counts = smoothed(counts_of(answers))
        spread = (counts * cell_influence(_counted(metric, answers), counts) ** 2).sum(axis=1)
    else:
        moved = influence(metric, answers)
        if moved is None:
            return None
        spread = np.bincount(answers.truth[known], (answers.weights * moved)[known] ** 2, classes)
    total, by_class = float(spread.sum()), (spread**2 / np.maximum(rows - 1, 1)).sum()
    return total**2 / float(by_class) if by_class > 0 else None


def units_by_class(answers: LabelAnswers | ScoreAnswers) -> Array:
    """How many rows that count each class has, or groups that hold such a row; unknown classes have none."""
    grouped = units_of(answers)
    units = answers.rows if grouped is None else grouped
    counting, span = (answers.weights > 0) & (answers.truth >= 0), int(units.max(initial=0)) + 1
    pairs = np.unique(answers.truth[counting].astype(np.int64) * span + units[counting])
    return np.bincount(pairs // span, minlength=len(answers.classes)).astype(np.float64)


def _counted(metric: Metric, answers: LabelAnswers) -> Callable[[Array], Array]:
    """A metric as a function of the counts of the classes of some answers."""
    of_counts = metric.of_counts
    assert of_counts is not None
    return lambda counts: of_counts(counts, answers.classes)


def smoothed(counts: Array) -> Array:
    """Counts with some rows more of every class that has rows, half of them right."""
    classes = len(counts)
    right = PSEUDO_ROWS / 2 * np.eye(classes)
    wrong = PSEUDO_ROWS / 2 * (1 - np.eye(classes)) / max(classes - 1, 1)
    return np.asarray(counts + np.where(counts.sum(axis=1) > 0, 1.0, 0.0)[:, None] * (right + wrong))


def cell_influence(function: Callable[[Array], Array], counts: Array) -> Array:
    """The influence of a row in each cell of a confusion matrix (K × K); 0 where there is none."""
    cells = np.argwhere(counts > 0)
    steps = STEP * counts[tuple(cells.T)]
    found = np.zeros_like(counts)
    for some in np.array_split(np.arange(len(cells)), max(1, len(cells) * counts.size // AT_ONCE)):
        up, down = (_moved(counts, cells[some], sign * steps[some]) for sign in (1, -1))
        slopes = (function(up) - function(down)) / (2 * steps[some])
        found[tuple(cells[some].T)] = counts.sum() * slopes
    return np.nan_to_num(found)


def _moved(counts: Array, cells: Rows, by: Array) -> Array:
    """The counts once for each cell, with that cell moved."""
    stacked = np.repeat(counts[None], len(cells), axis=0)
    stacked[(np.arange(len(cells)), *cells.T)] += by
    return stacked


def _of_cells(function: Callable[[Array], Array], answers: LabelAnswers) -> Array:
    return np.asarray(cell_influence(function, counts_of(answers))[answers.truth, answers.predicted])


def of_area(ranks: Rows, positive: Flags, weights: Array) -> Array | None:
    """The influence of rows on the area under the ROC curve of scores with these ranks; None for one class."""
    total, of_positives = float(weights.sum()), float(weights[positive].sum())
    if of_positives <= 0 or of_positives >= total:
        return None
    levels = int(ranks.max(initial=0)) + 1
    negatives = np.bincount(ranks, np.where(positive, 0.0, weights), levels)
    positives = np.bincount(ranks, np.where(positive, weights, 0.0), levels)
    below = (np.cumsum(negatives) - negatives / 2)[ranks] / (total - of_positives)
    above = 1 - (np.cumsum(positives) - positives / 2)[ranks] / of_positives
    area = float(below[positive] @ weights[positive]) / of_positives
    placed = np.where(positive, (below - area) / of_positives, (above - area) / (total - of_positives))
    return np.asarray(total * placed)
