"""Naive Bayes: multiplies the prior of each class by the likelihood of every column as if they were independent.

Formula:
    By Bayes' rule the posterior P(k | x) ∝ P(k) Π_j P(x_j | k), summed as logarithms. The prior P(k) is the share
    of the class in training. For nominal, ordinal and boolean columns with V levels and N_k rows of class k, of
    which n_vk have level v, P(v | k) is

        (n_vk + α) / (N_k + Vα)    `smoothing: alpha`; α = 1 is the Laplace estimator
        n_vk / N_k                 `smoothing: none`, maximum likelihood (MLE)
        n_vk / N_k, or ε for 0     `smoothing: epsilon`
        (n_vk + m p_v) / (N_k + m) `smoothing: m-estimate`; p_v = 1/V, or as `level_priors` say

    For numeric columns it is the normal density with the mean and the variance of the column in class k, or what
    `distributions` names: `bernoulli`, θ_k where x > 0 and 1 − θ_k elsewhere; `binomial`, θ_k^x (1 − θ_k)^(n−x)
    for n `trials`; `count`, θ_k^x, where the θ_k of all such columns add up to 1 (multinomial), so that one alone
    says nothing. A θ_k is smoothed as a level is: one of two, or one of as many as there are such columns.

Assumes:
    Columns independent of each other within each class, numbers normally distributed there unless said otherwise.

Cost:
    One pass over the cells to fit; rows × columns × classes to predict.

Choices:
    V counts the declared levels, so that a fold which lacks a level changes nothing. Priors are not smoothed
    unless `smooth_prior`. The notes print a sum over all classes in the denominator of Laplace's estimate; that is
    not a distribution. Epsilon is put in the place of 0 without renormalising, and must be below 1/N.

    A column that does not vary within some class has no normal density there. With `zero_variance: floor` its
    numbers count as measured to the mean gap between its distinct training values: no deviation is below a sixth
    of that gap, and for every class the mass of the normal within half a gap of the number takes the place of the
    density, which could outweigh all other columns. `add` adds 1e-9 times the largest variance of any column to
    every variance, as scikit-learn does (the notes add a share of a variance to a standard deviation, whose units
    differ); `drop` leaves such columns out. Variances divide by N unless `ddof` is 1.

    Missing cells are left out of the product. Where a class has no cell of a column to learn from, the column says
    nothing of it: its numbers have the distribution of all rows, and so do levels that are not smoothed. A class
    that is absent in training has prior 0, smoothed or not, unless `priors` say otherwise. A row to which every
    class gives probability 0, as can happen without smoothing, answers the priors, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence, LeaveOneOut, RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.leave_one_out import LeaveOneOutTable
from mlcli.core.moments import from_origin, spreads
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table, blocks_of
from mlcli.engines.posteriors import (
    certain_posterior,
    log_sum,
    logarithm,
    posterior,
    prior_conflicts,
    prior_table,
    priors_of,
    refuse_misfitting_priors,
)
from mlcli.models.bayes._likelihoods import (
    ADDED,
    ROUNDING,
    SMOOTHINGS,
    drawn_levels,
    drawn_normals,
    event_columns,
    events_table,
    factors_of,
    level_counts,
    levels_table,
    log_likelihood,
    log_likelihood_of_events,
    log_mass,
    log_normal_density,
    normals_table,
    own_log_density,
    put_floors,
    refuse_misfitting_distributions,
    refuse_misfitting_level_priors,
    split,
    with_prior,
    wrong_distributions,
    wrong_level_priors,
)
from mlcli.tasks.classification import Classifier, LabelledRows


@register(
    "naive-bayes", reference="Witten, Frank & Hall, Data Mining, section 4.2; John & Langley 1995", revision=2
)
class NaiveBayes(Classifier, CountsParameters, Generative, GivesEvidence, LeaveOneOut, RowExplainer):
    """Categorical and normal columns together."""

    smoothing: str = param("alpha", "what to do about levels a class never had", choices=SMOOTHINGS)
    alpha: float = param(
        1.0,
        "rows added to each level (smoothing: alpha)",
        gt=0,
        tune=log_range(0.01, 10, simpler="high"),
        matters_when={"smoothing": "alpha"},
    )
    epsilon: float = param(
        1e-9,
        "probability in the place of 0 (smoothing: epsilon)",
        gt=0,
        lt=1,
        matters_when={"smoothing": "epsilon"},
    )
    m: float = param(
        1.0,
        "rows added to each class (smoothing: m-estimate)",
        gt=0,
        tune=log_range(0.1, 10, simpler="high"),
        matters_when={"smoothing": "m-estimate"},
    )
    level_priors: dict[str, Any] | None = param(
        None,
        "of columns the prior probability p of each level: {outlook: {sunny: 0.5, rainy: 0.5}}; 1/V if none",
        if_given=True,
        matters_when={"smoothing": "m-estimate"},
    )
    smooth_prior: bool = param(
        False, "smooth the class shares in the same way", matters_when={"smoothing": ("alpha", "m-estimate")}
    )
    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )
    zero_variance: str = param("floor", "what to do about numbers that do not vary in a class", choices=ADDED)
    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)
    distributions: dict[str, Any] | None = param(
        None, "columns or kinds with other distributions: {clicks: count, numeric: bernoulli}", if_given=True
    )
    trials: int | None = param(
        None, "of how many trials a binomial column has the hits; its largest number if none", ge=1, if_given=True
    )

    priors_: Array = learned("classes")
    likelihoods_: tuple[Array, ...] = learned()
    means_: Array = learned("classes", "measured")
    variances_: Array = learned("classes", "measured")
    kept_: Flags = learned("measured")
    """The numeric columns whose normal density counts."""
    gaps_: Array = learned("measured")
    """The mean gap of those whose mass over it counts; 0 elsewhere."""
    events_: Array = learned(2, "events", "classes")
    """The chance that an event of a column does and does not happen (2 × columns × classes)."""
    trials_: Array = learned("events")

    accepts = Accepts(nominal=True, missing=True, weights=True, large=True)

    def conflicts(self) -> list[str]:
        """Given priors add up to 1 and are not smoothed; distributions are such, and trials are of one."""
        result = [*wrong_distributions(self._chosen), *prior_conflicts(self.priors)]
        result += wrong_level_priors(self.level_priors or {})
        if self.priors is not None and self.smooth_prior:
            result.append("priors that are given are not smoothed: leave out smooth_prior")
        if self.trials is not None and "binomial" not in self._chosen.values():
            result.append("trials are of binomial columns: name one in distributions, or leave them out")
        return result

    @property
    def _chosen(self) -> dict[str, Any]:
        return self.distributions or {}

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Count classes and levels, and take the mean and variance of numbers in each class."""
        self._refuse_misfits(data)
        events, numbers, others = split(data.table, self._chosen)
        by_class = data.weights[:, None] * (data.y[:, None] == np.arange(len(data.classes)))
        self.trials_, self.events_ = events.learn(numbers, by_class, self.trials, self._smoothed)
        self._learn_others(data.with_table(others))

    def _learn_others(self, data: LabelledRows) -> None:
        """Priors, the shares of levels, and means and variances; where a class has no cells, those of all rows."""
        self.priors_ = self._priors_of(data.class_totals)
        coded = zip(data.table.code_columns, data.table.codes.T, strict=True)
        self.likelihoods_ = tuple(
            self._smoothed(level_counts(data, column, codes), column) for column, codes in coded
        )
        numbers, origin = from_origin(data.table.numbers)
        by_class = spreads(numbers, data.weights, data.y, len(data.classes))
        own, overall = by_class.moments(self.ddof), by_class.together().moments(0)
        self.means_ = np.where(own.weight > 0, own.mean, overall.mean) + origin
        variances = np.where(own.weight > 0, own.variance, overall.variance) + ADDED[self.zero_variance](overall)
        self.kept_ = np.asarray((variances > 0).all(axis=0))
        # A column that never varies says nothing, whatever is done about others.
        floored = ~self.kept_ & (overall.variance > 0) & (self.zero_variance == "floor")
        self.variances_, self.gaps_ = put_floors(data, variances, np.flatnonzero(floored))

    def leave_one_out(self, rows: LabelledRows, steps: Sequence[Step]) -> Array | None:
        """The posteriors of each row: without it only its own class has other counts, means and variances."""
        self._refuse_misfits(rows)
        seen = LeaveOneOutTable.behind(rows.table, steps)
        if seen is None or self.distributions or self.level_priors or self.zero_variance == "add":
            return None
        rows, model = rows.with_table(seen.table), self.fresh()
        model.columns_ = seen.table.columns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a column that does not vary in a class is left to fits, which warn
            model.fit(rows, np.random.default_rng(0))
        varies = np.ptp(rows.table.numbers, axis=0) > 0
        if (model.gaps_ > 0).any() or (varies & ~model.kept_).any():
            return None
        index, y = np.arange(len(rows)), rows.y
        own, known = own_log_density(rows, model.means_, model.variances_, model.kept_, self.ddof)
        for column, codes in zip(rows.table.code_columns, rows.table.codes.T, strict=True):
            counts = level_counts(rows, column, codes)[:, y]
            counts[codes, index] -= 1
            own += logarithm(self._smoothed(counts, column)[codes, index])
        likelihood = model.log_joint(rows.table) - logarithm(model.priors_)
        likelihood[index, y] = own
        joint = likelihood + logarithm(self._priors_of(rows.class_totals - rows.outputs))
        known &= rows.class_totals[y] > 1
        return certain_posterior(joint, np.where(known, ROUNDING * np.abs(joint.max(axis=1)), np.inf))

    def _smoothed(self, counts: Array, column: Column | None = None) -> Array:
        smoothing = SMOOTHINGS[self.smoothing]
        given = self.level_priors or {}
        if self.smoothing == "m-estimate" and column is not None and column.name in given:
            return with_prior(counts, self.m, np.array([given[column.name][level] for level in column.levels]))
        return smoothing.shares(counts, getattr(self, smoothing.parameter, 0.0)) if len(counts) else counts

    def _refuse_misfits(self, data: LabelledRows) -> None:
        refuse_misfitting_priors(self.id, self.priors, data)
        refuse_misfitting_distributions(self._chosen, data.table.columns)
        refuse_misfitting_level_priors(self.level_priors or {}, data.table.columns)
        total = data.weights.sum()
        if self.smoothing == "epsilon" and self.epsilon * total >= 1:
            what = f"naive-bayes: epsilon {self.epsilon:g} is not below 1/N = {1 / total:.3g}"
            hint = "a level that was never seen would count as much as one seen once; lower epsilon"
            raise FitError(what, hint=hint)

    def _priors_of(self, weight: Array) -> Array:
        if self.smooth_prior:
            return np.asarray(np.apply_along_axis(self._smoothed_priors, -1, weight))
        return priors_of(weight, self.priors)

    def _smoothed_priors(self, weight: Array) -> Array:
        priors = np.zeros(len(weight))
        priors[weight > 0] = self._smoothed(weight[weight > 0, None])[:, 0]
        return priors

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        log_joint = self.log_joint(table)
        hopeless = np.isneginf(log_joint).all(axis=1)
        if hopeless.any():
            log_joint[hopeless] = logarithm(self.priors_)
            text = f"no class is possible for {int(hopeless.sum())} of {len(table)} rows; they answer the priors"
            warnings.warn(f"{self.id}: {text}", MlcliWarning, stacklevel=2)
        return posterior(log_joint)

    def log_joint(self, table: Table) -> Array:
        """The logarithm of P(k) Π_j P(x_j | k) for each row and class."""
        result = np.tile(logarithm(self.priors_), (len(table), 1))
        events, numbers, table = split(table, self._chosen)
        events.refuse_what_is_no_count(numbers, self.trials)
        result += log_likelihood_of_events(events.happened(numbers, self.trials_), self.events_)
        for rows in blocks_of(len(table), table.numbers.shape[1], 2**14):  # what fits a cache
            result[rows] += log_normal_density(table.numbers[rows], self.means_, self.variances_, self.kept_)
        for j in np.flatnonzero(self.gaps_).tolist():
            result += log_mass(table.numbers[:, j], self.means_[:, j], self.variances_[:, j], self.gaps_[j])
        for shares, codes in zip(self.likelihoods_, table.codes.T, strict=True):
            result += log_likelihood(logarithm(shares), codes)
        return result

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of Σ_k P(k) Π_j P(x_j | k), over the cells that are known."""
        return log_sum(self.log_joint(table).T)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """A class by its prior, then each cell by the distribution of its column in that class."""
        classes = rng.choice(len(self.priors_), n, p=self.priors_ / self.priors_.sum()).astype(np.int32)
        events = event_columns(self.columns_, self._chosen)
        hits = dict(zip(events.names, events.drawn(self.events_[0], self.trials_, classes, rng), strict=True))
        normals = iter(drawn_normals(self.means_, self.variances_, classes, rng))
        levels = (drawn_levels(shares, classes, rng) for shares in self.likelihoods_)
        cells = (
            next(levels) if column.coded else hits[column.name] if column.name in hits else next(normals)
            for column in self.columns_
        )
        return self.drawn(cells, classes)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The prior and the factor of each cell, whose product is the joint probability."""
        return (factors_of(table, self.log_joint, self.classes_),)

    def check_learned(self) -> None:
        """A likelihood for each level and class, a mean and a variance for each number."""
        coded = [column for column in self.columns_ if column.coded]
        events = len(event_columns(self.columns_, self._chosen).names)
        likelihoods = [(len(column.levels), len(self.classes_)) for column in coded]
        if [len(self.trials_), len(self.kept_)] != [events, len(self.columns_) - len(coded) - events]:
            raise ValueError("likelihoods of other columns")
        if [np.shape(array) for array in self.likelihoods_] != likelihoods:
            raise ValueError("likelihoods that do not fit the levels and classes")

    def adjustable_parameters(self, table: Table) -> float | None:
        """Means, variances, and of shares that add up to 1 one less than there are."""
        classes = len(self.classes_)
        shares = sum(likelihood.size - classes for likelihood in self.likelihoods_)
        return float(classes - 1 + shares + self.means_.size + self.variances_.size)

    def explain(self) -> findings.Explanation:
        """The priors, the chances of levels and events, and the mean and deviation of each number, by class."""
        coded = (column for column in self.columns_ if column.coded)
        tables = zip(coded, self.likelihoods_, strict=True)
        levels = (levels_table(column, shares, self.target_, self.classes_) for column, shares in tables)
        priors = prior_table(self.target_, self.classes_, self.priors_, self._how_smoothed())
        return (priors, *levels, *self._number_tables())

    def _how_smoothed(self) -> str:
        if not any(column.coded for column in self.columns_) and not self.events_.size:
            return ""
        how = SMOOTHINGS[self.smoothing].words.format(self)
        if self.smoothing == "m-estimate" and self.level_priors:
            how = f"{how.rstrip('.')}; those of {listed(list(self.level_priors))} as level_priors say."
        priors = "The priors are as counted" if self.priors is None else "The priors are as given"
        return how if self.smooth_prior else f"{priors}; {how}"

    def _number_tables(self) -> Iterator[findings.Table]:
        events = event_columns(self.columns_, self._chosen)
        numbers = [column.name for column in self.columns_ if not column.coded and column.name not in events.names]
        if events.names:
            yield events_table(events, self.events_, self.target_, self.classes_)
        if numbers:
            deviations, used = np.sqrt(self.variances_), self.kept_ | (self.gaps_ > 0)
            yield normals_table(numbers, self.means_, deviations, used, self.target_, self.classes_)
