"""Scores of groups: how tight and how far apart they lie, and how they agree with labels that no fit has seen."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.core.unsupervised_answers import ClusterAnswers
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.declaring import score, weighted_mean


def more_than_one(answers: ClusterAnswers) -> Undefined | None:
    """The precondition of separation: at least two groups have rows."""
    return None if len(np.unique(answers.cluster)) > 1 else Undefined("all rows are in one group")


def labels_known(answers: ClusterAnswers) -> Undefined | None:
    """The precondition of agreement: some judged row has a label."""
    return None if (answers.truth >= 0).any() else Undefined("the rows have no labels")


@score("silhouette", ClusterAnswers, better="high", low=-1.0, high=1.0, needs=(more_than_one,))
def silhouette(answers: ClusterAnswers) -> Score:
    """How much nearer rows are to their own group than to the next: mean of (b - a) / max(a, b)."""
    known = ~np.isnan(answers.silhouette)
    weight = None if answers.weight is None else answers.weight[known]
    return weighted_mean(answers.silhouette[known], weight)


@score("wcss", ClusterAnswers, better="low", low=0.0)
def wcss(answers: ClusterAnswers) -> Score:
    """Sum of squared distances of rows to the centre of their group."""
    return float(answers.weights @ answers.to_centre)


@score("bcss", ClusterAnswers, better="high", low=0.0)
def bcss(answers: ClusterAnswers) -> Score:
    """Sum of squared distances of the centres to the centre of all rows, each counted by its rows."""
    return float(answers.weights @ answers.centre_to_all)


@score("calinski-harabasz", ClusterAnswers, better="high", low=0.0, needs=(more_than_one,))
def calinski_harabasz(answers: ClusterAnswers) -> Score:
    """(BCSS / (k - 1)) / (WCSS / (n - k)), k being the groups that have rows."""
    k, n = len(np.unique(answers.cluster)), float(answers.weights.sum())
    within = float(answers.weights @ answers.to_centre)
    if n <= k or within == 0:
        return Undefined("every group is one point")
    return float(answers.weights @ answers.centre_to_all) / (k - 1) / (within / (n - k))


@score("homogeneity", ClusterAnswers, better="high", low=0.0, high=1.0, needs=(labels_known,))
def homogeneity(answers: ClusterAnswers) -> Score:
    """1 - H(label given group) / H(label): 1 when no group mixes labels."""
    return _explained(contingency(answers))


@score("completeness", ClusterAnswers, better="high", low=0.0, high=1.0, needs=(labels_known,))
def completeness(answers: ClusterAnswers) -> Score:
    """1 - H(group given label) / H(group): 1 when no label is split over groups."""
    return _explained(contingency(answers).T)


@score("v-measure", ClusterAnswers, better="high", low=0.0, high=1.0, needs=(labels_known,))
def v_measure(answers: ClusterAnswers) -> Score:
    """Harmonic mean of homogeneity and completeness."""
    counts = contingency(answers)
    h, c = _explained(counts), _explained(counts.T)
    return 2.0 * h * c / (h + c) if h + c > 0 else 0.0


@score("adjusted-rand", ClusterAnswers, better="high", low=-1.0, high=1.0, needs=(labels_known,))
def adjusted_rand(answers: ClusterAnswers) -> Score:
    """Pairs of rows on which groups and labels agree, so scaled that chance gives 0."""
    counts = contingency(answers)
    pairs, by_label, by_group = (float(_pairs(c).sum()) for c in (counts, counts.sum(1), counts.sum(0)))
    total = float(_pairs(counts.sum()))
    if total <= 0:
        return Undefined("there are fewer than two labelled rows")
    expected = by_label * by_group / total
    most = (by_label + by_group) / 2.0
    return 1.0 if most == expected else (pairs - expected) / (most - expected)


def contingency(answers: ClusterAnswers) -> Array:
    """Rows counted by label and group; those without a label do not count."""
    known = answers.truth >= 0
    shape = (len(answers.classes), answers.clusters)
    cells = answers.truth[known].astype(np.intp) * shape[1] + answers.cluster[known]
    counts = np.bincount(cells, weights=answers.weights[known], minlength=shape[0] * shape[1])
    return np.asarray(counts.reshape(shape), dtype=np.float64)


def _explained(counts: Array) -> float:
    """The share of the entropy of the rows of a table that its columns take away; 1 where there is none."""
    entropy = _entropy(counts.sum(1))
    if entropy == 0:
        return 1.0
    shares = counts.sum(0) / counts.sum()
    left = sum(share * _entropy(column) for share, column in zip(shares, counts.T, strict=True))
    return float(1.0 - left / entropy)


def _entropy(counts: Array) -> float:
    present = counts[counts > 0] / max(counts.sum(), np.finfo(float).tiny)
    return float(-(present * np.log(present)).sum())


def _pairs(counts: Array) -> Array:
    return np.asarray(counts * (counts - 1.0) / 2.0)
