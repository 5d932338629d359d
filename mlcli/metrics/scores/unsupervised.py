"""Scores of clusterings, densities, projections and association rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mlcli.core.moments import entropy_of_counts
from mlcli.core.tables import Array, Codes
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.registry import SHARE, Under, mean_of_rows, means_under, score, weighted_mean, weighted_score
from mlcli.tasks.association import UNKNOWN, RuleAnswers
from mlcli.tasks.clustering import ClusterAnswers
from mlcli.tasks.density import DensityAnswers
from mlcli.tasks.projection import ProjectionAnswers

ROUNDING = 1e-24
"""Within-cluster squares below this share of the between-cluster squares are rounding: clusters are points."""
ROUNDED = 1e-14
"""Differences of sums of squares below this share of the sums are rounding."""


def more_than_one(answers: ClusterAnswers) -> Undefined | None:
    """Precondition: at least two clusters have rows."""
    return None if len(np.unique(answers.cluster)) > 1 else Undefined("all rows are in one cluster")


def labels_known(answers: ClusterAnswers) -> Undefined | None:
    """Precondition: at least one test row has a label."""
    return None if (answers.truth >= 0).any() else Undefined("the rows have no labels")


def sampled(answers: ClusterAnswers) -> tuple[str, ...]:
    """The mark of a silhouette that was computed for a sample of the rows."""
    computed = int((~np.isnan(answers.silhouette)).sum())
    if not 0 < computed < len(answers):
        return ()
    return (f"of {computed:,} of {len(answers):,} rows, each compared with all of them",)


@weighted_score(
    "silhouette",
    ClusterAnswers,
    needs=(more_than_one,),
    why=Undefined("no row whose silhouette is known has weight"),
    better="high",
    low=-1.0,
    high=1.0,
    marks=sampled,
)
def silhouette(answers: ClusterAnswers, weightings: Array) -> Array:
    """How much nearer rows are to their own cluster than to the next: mean of (b - a) / max(a, b).

    For more than 5,000 rows, the mean of 5,000 at even steps, each compared with all rows.
    """
    computed = ~np.isnan(answers.silhouette)
    return means_under(answers.silhouette[computed], weightings[:, computed])


@score("wcss", ClusterAnswers, better="low", low=0.0)
def wcss(answers: ClusterAnswers) -> Score:
    """Sum of squared distances of rows to the centre of their cluster."""
    return float(answers.weights @ answers.to_centre)


@score("centre-distance", ClusterAnswers, better="low", low=0.0)
def centre_distance(answers: ClusterAnswers) -> Score:
    """Mean distance of rows to the centre of their cluster."""
    return weighted_mean(np.sqrt(answers.to_centre), answers.weight)


@score("bcss", ClusterAnswers, better="high", low=0.0)
def bcss(answers: ClusterAnswers) -> Score:
    """Sum of squared distances of the centres to the centre of all rows, each counted by its rows."""
    return float(answers.weights @ answers.centre_to_all)


@score("calinski-harabasz", ClusterAnswers, better="high", low=0.0, needs=(more_than_one,))
def calinski_harabasz(answers: ClusterAnswers) -> Score:
    """(BCSS / (k - 1)) / (WCSS / (n - k)), k being the clusters that have rows."""
    k, n = len(np.unique(answers.cluster)), float(answers.weights.sum())
    within = float(answers.weights @ answers.to_centre)
    between = float(answers.weights @ answers.centre_to_all)
    if within <= ROUNDING * between or len(answers) <= k:
        return Undefined("every cluster is one point")
    if n <= k:
        return Undefined("all rows together weigh no more than one row for each cluster")
    return between / (k - 1) / (within / (n - k))


@score("homogeneity", ClusterAnswers, needs=(labels_known,), **SHARE)
def homogeneity(answers: ClusterAnswers) -> Score:
    """1 - H(label given cluster) / H(label): 1 when no cluster mixes labels."""
    return _explained_entropy(contingency(answers))


@score("completeness", ClusterAnswers, needs=(labels_known,), **SHARE)
def completeness(answers: ClusterAnswers) -> Score:
    """1 - H(cluster given label) / H(cluster): 1 when no label is split over clusters."""
    return _explained_entropy(contingency(answers).T)


@score("v-measure", ClusterAnswers, needs=(labels_known,), **SHARE)
def v_measure(answers: ClusterAnswers) -> Score:
    """Harmonic mean of homogeneity and completeness."""
    counts = contingency(answers)
    h, c = _explained_entropy(counts), _explained_entropy(counts.T)
    return 2.0 * h * c / (h + c) if h + c > 0 else 0.0


@score("adjusted-rand", ClusterAnswers, better="high", low=-1.0, high=1.0, needs=(labels_known,))
def adjusted_rand(answers: ClusterAnswers) -> Score:
    """Pairs of rows on which clusters and labels agree, so scaled that chance gives 0."""
    value = _adjusted_rand(contingency(answers), contingency(answers, _own_pairs(answers.weights)))
    return Undefined("there are fewer than two labelled rows") if value is None else value


def stability_of(splits: Sequence[ClusterAnswers]) -> Sequence[float] | Undefined:
    """The mean adjusted Rand index of each split with every other, over the rows that both have clustered."""
    if any(more_than_one(answers) for answers in splits):
        return Undefined("all rows of some split are in one cluster")
    result = np.full((len(splits), len(splits)), np.nan)
    for a, b in combinations(range(len(splits)), 2):
        _, first, second = np.intersect1d(splits[a].rows, splits[b].rows, return_indices=True)
        clusters = splits[a].cluster[first], splits[b].cluster[second]
        shape = splits[a].clusters, splits[b].clusters
        weights = splits[a].weights[first]
        index = _adjusted_rand(
            _cross_table(*clusters, shape, weights), _cross_table(*clusters, shape, _own_pairs(weights))
        )
        if index is None:
            return Undefined("some splits share fewer than two rows", "protocol: bootstrap-whole")
        result[a, b] = result[b, a] = index
    return tuple(np.nanmean(result, axis=1).tolist())


@score("stability", ClusterAnswers, across=stability_of, better="high", low=-1.0, high=1.0)
def stability(answers: ClusterAnswers) -> Score:
    """How similar the clusterings of several splits are; undefined for a single split."""
    return Undefined("there is one clustering to compare", "protocol: bootstrap-whole")


def contingency(answers: ClusterAnswers, weights: Array | None = None) -> Array:
    """The weights of rows, or other numbers, summed by label and cluster; rows without a label do not count."""
    labelled = answers.truth >= 0
    shape = (len(answers.classes), answers.clusters)
    weights = answers.weights if weights is None else weights
    return _cross_table(answers.truth[labelled], answers.cluster[labelled], shape, weights[labelled])


def _cross_table(values: Codes, other: Codes, shape: tuple[int, int], weights: Array) -> Array:
    """Weights summed by two codes."""
    cells = values.astype(np.intp) * shape[1] + other
    counts = np.bincount(cells, weights=weights, minlength=shape[0] * shape[1])
    return np.asarray(counts.reshape(shape), dtype=np.float64)


def _adjusted_rand(counts: Array, own: Array) -> float | None:
    """The adjusted Rand index of the rows and columns of a table of counts; None for fewer than two rows.

    ``own`` is what pairs of a row with itself would add to the square of each count.
    """
    tables = ((counts, own), (counts.sum(1), own.sum(1)), (counts.sum(0), own.sum(0)), (counts.sum(), own.sum()))
    squares = [float((summed**2).sum()) for summed, _ in tables]
    pairs, by_row, by_column, total = (
        (square - float(alone.sum())) / 2.0 for square, (_, alone) in zip(squares, tables, strict=True)
    )
    if total <= ROUNDED * squares[-1]:
        return None
    expected = by_row * by_column / total
    most = (by_row + by_column) / 2.0
    if most - expected <= ROUNDED * (squares[1] + squares[2]):
        return 1.0
    return (pairs - expected) / (most - expected)


def _explained_entropy(counts: Array) -> float:
    """The share of the entropy of rows that columns explain; 1 if there is no entropy."""
    entropy = entropy_of_counts(counts.sum(1))
    if entropy == 0:
        return 1.0
    shares = counts.sum(0) / counts.sum()
    conditional = sum(share * entropy_of_counts(column) for share, column in zip(shares, counts.T, strict=True))
    return float(1.0 - conditional / entropy)


def _own_pairs(weights: Array) -> Array:
    """The part of a squared weight that is no pair: w copies pair with each other, no copy with itself."""
    return np.minimum(weights, weights**2)


# Densities: the likelihood of test rows, and of the fit with a penalty for its parameters.


@mean_of_rows("log-likelihood", DensityAnswers, better="high")
def log_likelihood(answers: DensityAnswers) -> Array:
    """Mean natural logarithm of the density at a row."""
    return answers.log_density


@score("bic", DensityAnswers, better="low", aggregation="of the fit")
def bic(answers: DensityAnswers) -> Score:
    """Bayesian information criterion of the fit: k ln n - 2 ln L over its k parameters and n training rows."""
    return answers.free_parameters * math.log(answers.fit_rows) - 2 * answers.fit_log_likelihood


@score("aic", DensityAnswers, better="low", aggregation="of the fit")
def aic(answers: DensityAnswers) -> Score:
    """Akaike's information criterion of the fit: 2 k - 2 ln L over its k parameters."""
    return 2 * answers.free_parameters - 2 * answers.fit_log_likelihood


# Projections: what is lost in fewer columns.


@mean_of_rows("reconstruction-error", ProjectionAnswers, better="low", low=0.0)
def reconstruction_error(answers: ProjectionAnswers) -> Array:
    """Mean squared distance of a row to its reconstruction."""
    return answers.error


@score("explained-variance", ProjectionAnswers, better="high", high=1.0)
def explained_variance(answers: ProjectionAnswers) -> Score:
    """Share of the variance that is kept: 1 minus squared error over squared distance from the training mean."""
    spread = float(answers.weights @ answers.spread)
    if spread == 0:
        return Undefined("the test rows all lie on the mean of the training rows")
    return 1 - float(answers.weights @ answers.error) / spread


# Association rules: how often they apply to test rows, how often they hold there, and how much beyond chance.
#
# Of a rule A → B, a = share of the test rows that have A, b those that have B, s those that have both.

LOWER_LIMITS = "a lower min_support or min_confidence would find some"
SILENT = "rules that apply to none of the test rows, or expect what none has, are left out of the mean"


def rule_shares(answers: RuleAnswers, weightings: Array) -> tuple[Array, Array, Array]:
    """s, a and b of every rule (B × rules) under weightings (B × n), over the splits whose fit has the rule."""
    has_rule = (answers.fires != UNKNOWN).astype(np.float64)
    fires, holds = (
        np.where(answers.fires == UNKNOWN, 0, part).astype(np.float64) for part in (answers.fires, answers.holds)
    )
    total = weightings @ has_rule
    s, a, b = (ratio(weightings @ part, total) for part in (fires * holds, fires, holds))
    return s, a, b


def some_rule(answers: RuleAnswers) -> Undefined | None:
    """Precondition: at least one rule was found."""
    return None if answers.when else Undefined("no rule was found", LOWER_LIMITS)


def mean_over_rules(values: Under[RuleAnswers]) -> Under[RuleAnswers]:
    """The mean of a value of rules under each weighting; rules without a value are left out."""

    def under(answers: RuleAnswers, weightings: Array) -> Array:
        result = values(answers, weightings)
        defined = ~np.isnan(result)
        return ratio(np.where(defined, result, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))

    return under


def _silent(answers: RuleAnswers) -> tuple[str, ...]:
    s, a, b = rule_shares(answers, answers.weights[None, :])
    return (SILENT,) if np.isnan(ratio(s, a * b)).any() else ()


NO_RULE_APPLIES = Undefined("no rule applies to a test row")


@weighted_score(
    "lift", RuleAnswers, better="high", low=0.0, needs=(some_rule,), why=NO_RULE_APPLIES, marks=_silent
)
@mean_over_rules
def lift(answers: RuleAnswers, weightings: Array) -> Array:
    """S / (a b): 1 if condition and consequence are independent."""
    s, a, b = rule_shares(answers, weightings)
    return ratio(s, a * b)


@weighted_score("confidence", RuleAnswers, needs=(some_rule,), why=NO_RULE_APPLIES, marks=_silent, **SHARE)
@mean_over_rules
def confidence(answers: RuleAnswers, weightings: Array) -> Array:
    """S / a: how often a rule holds where it applies."""
    s, a, _ = rule_shares(answers, weightings)
    return ratio(s, a)


def why_no_conviction(answers: RuleAnswers) -> Undefined:
    """Why conviction is undefined: no rule applies, or none is ever wrong."""
    applies = not np.isnan(confidence(answers, answers.weights[None, :])[0])
    return Undefined("no rule is ever wrong") if applies else NO_RULE_APPLIES


@weighted_score(
    "conviction", RuleAnswers, needs=(some_rule,), why=why_no_conviction, better="high", low=0.0, marks=_silent
)
def conviction(answers: RuleAnswers, weightings: Array) -> Array:
    """How many times as often rules would be wrong by chance: the mean of 1 - b over that of 1 - confidence."""
    s, a, b = rule_shares(answers, weightings)
    wrong = 1.0 - ratio(s, a)
    applies = ~np.isnan(wrong)
    expected, observed = (np.where(applies, part, 0.0).sum(axis=1) for part in (1.0 - b, wrong))
    return ratio(expected, observed)


@weighted_score("support", RuleAnswers, needs=(some_rule,), why=NO_RULE_APPLIES, **SHARE)
@mean_over_rules
def support(answers: RuleAnswers, weightings: Array) -> Array:
    """s: the share of rows that have all items of a rule."""
    return rule_shares(answers, weightings)[0]


@weighted_score(
    "support-error", RuleAnswers, needs=(some_rule,), why=NO_RULE_APPLIES, better="low", low=0.0, high=1.0
)
@mean_over_rules
def support_error(answers: RuleAnswers, weightings: Array) -> Array:
    """The absolute difference between the support in test rows and in training rows."""
    distances: Array = np.abs(rule_shares(answers, weightings)[0] - np.array(answers.support))
    return distances


@score("rules", RuleAnswers, better="high", low=0.0)
def rules(answers: RuleAnswers) -> Score:
    """How many rules were found."""
    return float(len(answers.when))
