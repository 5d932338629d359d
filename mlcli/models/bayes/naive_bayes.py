"""Naive Bayes: multiplies the prior of each class by the likelihood of every column as if they were independent.

Formula:
    P(k | x) ∝ P(k) Π_j P(x_j | k), summed as logarithms. P(k) is the share of the class in training. For nominal,
    ordinal and boolean columns with V levels and N_k rows of class k, of which n_vk have level v, P(v | k) is

        (n_vk + α) / (N_k + Vα)    `smoothing: alpha`; α = 1 is Laplace's
        n_vk / N_k                 `smoothing: none`
        n_vk / N_k, or ε for 0     `smoothing: epsilon`
        (n_vk + m/V) / (N_k + m)   `smoothing: m-estimate`

    For numeric columns it is the normal density with the mean and the variance of the column in class k.

Assumes:
    Columns independent of each other within each class, numbers normally distributed within each class.

Cost:
    One pass over the cells to fit; rows × columns × classes to predict.

Choices:
    V counts the declared levels, so that a fold which lacks a level changes nothing. Priors are not smoothed
    unless `smooth_prior`. The notes print a sum over all classes in the denominator of Laplace's estimate; that is
    not a distribution. Epsilon is put in the place of 0 without renormalising, and must be below 1/N.

    `zero_variance: add` adds 1e-9 times the largest variance of any column to every variance (the notes add a
    share of a variance to a standard deviation, whose units differ); `drop` leaves out a column that does not vary
    within some class. Variances divide by N unless `ddof` is 1.

    Missing cells are left out of the product. Where a class has no cell of a column to learn from, the column says
    nothing of it: its numbers have the distribution of all rows, and so do levels that are not smoothed. A class
    that is absent in training has prior 0, smoothed or not, unless `priors` say otherwise. A row to which every
    class gives probability 0, as can happen without smoothing, answers the priors, with a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.blocks import row_blocks
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.learn_from_sums import held_out_classes
from mlcli.engines.posteriors import (
    certain_posterior,
    logarithm,
    posterior,
    prior_conflicts,
    refuse_misfitting_priors,
)
from mlcli.engines.training_sums import CellSums, Layout, cells_of_classes
from mlcli.models.bayes._factors import factors_of
from mlcli.models.bayes._likelihoods import ADDED, SMOOTHINGS, log_density, log_likelihood
from mlcli.tasks.classification import Classifier, LabelledRows

FARTHEST = 5e4
"""In units of its spread: a mean that lies farther from 0 has lost digits."""
ROUNDING = 1e-13
IMPOSSIBLE = -1e300
"""A logarithm of 0 that may be multiplied by 0."""
HOW_SMOOTHED = {
    "alpha": "in P(level | class), {0.alpha:g} is added to the count of every level (alpha).",
    "none": "P(level | class) is as counted, not smoothed.",
    "epsilon": "P(level | class) is as counted, with {0.epsilon:g} in the place of 0 (epsilon).",
    "m-estimate": "in P(level | class), {0.m:g} rows are spread over the levels of every class (m).",
}
"""How an explanation puts each way of smoothing."""


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """What each set of rows says of every column by class; leading axes are those sets."""

    priors: Array
    means: Array
    variances: Array
    kept: Flags
    shares: tuple[Array, ...]
    """For each coded column the shares of its levels (levels × ... × classes)."""
    layout: Layout
    far: Flags
    """Whether some mean lies so far from 0 that digits are lost."""

    def answers(self, rows: Array) -> Array:
        """The posteriors (sets × rows × classes); a row that no class makes possible is left to a fit."""
        joint = logarithm(self.priors)[:, None] + log_density(
            rows[..., self.layout.numbers], self.means, self.variances, self.kept
        )
        for places, shares in zip(self.layout.coded, self.shares, strict=True):
            logs = np.maximum(np.moveaxis(logarithm(shares), 0, -2), IMPOSSIBLE)
            joint += np.nan_to_num(rows[..., places]) @ logs
        joint[joint <= IMPOSSIBLE] = -np.inf
        largest = joint.max(axis=-1)
        error = np.where(self.far[:, None], np.inf, ROUNDING * np.abs(largest))
        return certain_posterior(joint, error)


@register("naive-bayes", reference="Witten, Frank & Hall, Data Mining, section 4.2; John & Langley 1995")
@dataclass(kw_only=True, eq=False)
class NaiveBayes(Classifier):
    """Categorical and normal columns together."""

    smoothing: str = param("alpha", "what to do about levels a class never had", choices=SMOOTHINGS)
    alpha: float = param(1.0, "rows added to each level (smoothing: alpha)", gt=0, tune=(0.01, 10.0))
    epsilon: float = param(1e-9, "probability in the place of 0 (smoothing: epsilon)", gt=0, lt=1)
    m: float = param(1.0, "rows added to each class (smoothing: m-estimate)", gt=0, tune=(0.1, 10.0))
    smooth_prior: bool = param(False, "smooth the class shares in the same way")
    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )
    zero_variance: str = param("add", "what to do about numbers that do not vary in a class", choices=ADDED)
    ddof: int = param(0, "what is taken off N in variances", ge=0, le=1)

    priors_: Array = learned()
    likelihoods_: tuple[Array, ...] = learned()
    means_: Array = learned()
    variances_: Array = learned()
    kept_: Flags = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: missing cells drop out of the product."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Given priors add up to 1 and are not smoothed."""
        if self.priors is None:
            return []
        found = ["priors that are given are not smoothed: leave out smooth_prior"] if self.smooth_prior else []
        return [*found, *prior_conflicts(self.priors)]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Count classes and levels, and take the mean and variance of numbers in each class."""
        self._refuse_misfits(data)
        sums = cells_of_classes(data)
        found = self.learn_from(sums)
        self.priors_, self.likelihoods_, self.kept_ = found.priors, found.shares, found.kept
        self.means_, self.variances_ = found.means + sums.origin[sums.layout.numbers], found.variances

    def learn_from(self, sums: CellSums) -> Likelihoods:
        """Shares of classes and levels, means and variances; where a class has no cells, those of all rows."""
        numbers = sums.layout.numbers
        by_class = sums.cells.at(numbers)
        own, overall = by_class.moments(self.ddof), sums.overall.at(numbers).moments(0)
        means = np.where(own.weight > 0, own.mean, overall.mean[..., None, :])
        variances = np.where(own.weight > 0, own.variance, overall.variance[..., None, :])
        variances = variances + ADDED[self.zero_variance](overall)[..., None, None]
        size = means + sums.origin[..., None, numbers]
        far = np.asarray(((size**2 > FARTHEST**2 * variances) & (by_class.squares > 0)).any(axis=(-1, -2)))
        counts = (np.moveaxis((sums.cells.weight * sums.cells.mean)[..., one], -1, 0) for one in sums.layout.coded)
        # Nothing can be added where no column varies; such columns say nothing and are left out, as in "drop".
        kept = np.asarray((variances > 0).all(axis=-2))
        shares = tuple(self._smoothed(of_levels) for of_levels in counts)
        return Likelihoods(self._priors_of(sums.weight), means, variances, kept, shares, sums.layout, far)

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The posteriors of all rows, each by sums of the rows outside its part."""
        self._refuse_misfits(data)
        return held_out_classes(self, data, round_, steps)

    def _smoothed(self, counts: Array) -> Array:
        if len(counts) == 0:
            return counts
        strengths = {"alpha": self.alpha, "epsilon": self.epsilon, "m-estimate": self.m, "none": 0.0}
        return SMOOTHINGS[self.smoothing](counts, strengths[self.smoothing])

    def _refuse_misfits(self, data: LabelledRows) -> None:
        refuse_misfitting_priors(self.id, self.priors, data)
        total = data.weights.sum()
        if self.smoothing == "epsilon" and self.epsilon * total >= 1:
            raise FitError(
                f"naive-bayes: epsilon {self.epsilon:g} is not below 1/N = {1 / total:.3g}",
                hint="a level that was never seen would count as much as one seen once; lower epsilon",
            )

    def _priors_of(self, weight: Array) -> Array:
        if self.priors is not None:
            return np.broadcast_to(np.array(self.priors), weight.shape)
        if self.smooth_prior:
            return np.asarray(np.apply_along_axis(self._smoothed_priors, -1, weight))
        return np.asarray(weight / weight.sum(axis=-1, keepdims=True))

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
        found = np.tile(logarithm(self.priors_), (len(table), 1))
        for rows in row_blocks(*table.numbers.shape):
            found[rows] += log_density(table.numbers[rows], self.means_, self.variances_, self.kept_)
        for shares, codes in zip(self.likelihoods_, table.codes.T, strict=True):
            found += log_likelihood(logarithm(shares), codes)
        return found

    def explain_answers(self, table: Table) -> findings.Explanation:
        """The prior and the factor of each cell, whose product is the joint probability."""
        return factors_of(table, self.log_joint, self.classes_)

    def check_learned(self) -> None:
        """A likelihood for each level and class, a mean and a variance for each number and class."""
        classes, coded = len(self.classes_), [column for column in self.columns_ if column.coded]
        numbers = len(self.columns_) - len(coded)
        expected = [
            (self.priors_, (classes,)),
            (self.means_, (classes, numbers)),
            (self.variances_, (classes, numbers)),
            (self.kept_, (numbers,)),
            *zip(self.likelihoods_, ((len(column.levels), classes) for column in coded), strict=True),
        ]
        if any(np.shape(array) != shape for array, shape in expected):
            raise ValueError("priors or likelihoods that do not fit the columns and classes")

    def explain(self) -> findings.Explanation:
        """The priors, the likelihood of each level, and the mean and deviation of each number, by class."""
        priors = tuple(zip(self.classes_, map(float, self.priors_), strict=True))
        coded = (column for column in self.columns_ if column.coded)
        tables = zip(coded, self.likelihoods_, strict=True)
        return (
            findings.Table("Priors", (self.target_, "prior"), priors, note=self._how_smoothed()),
            *(self._levels_table(column, shares) for column, shares in tables),
            *self._number_tables(),
        )

    def _how_smoothed(self) -> str:
        if not any(column.coded for column in self.columns_):
            return ""
        how = HOW_SMOOTHED[self.smoothing].format(self)
        priors = "The priors are as counted" if self.priors is None else "The priors are as given"
        return how if self.smooth_prior else f"{priors}; {how}"

    def _levels_table(self, column: Column, shares: Array) -> findings.Table:
        levels = zip(column.levels, shares.tolist(), strict=True)
        rows = tuple((level, *by_class) for level, by_class in levels)
        return findings.Table(f"P({column.name} | {self.target_})", (column.name, *self.classes_), rows)

    def _number_tables(self) -> tuple[findings.Table, ...]:
        numeric = [column.name for column in self.columns_ if not column.coded]
        if not numeric:
            return ()
        rows = tuple(
            (name, label, float(self.means_[k, j]), float(np.sqrt(self.variances_[k, j])))
            for j, name in enumerate(numeric)
            for k, label in enumerate(self.classes_)
        )
        dropped = [name for name, kept in zip(numeric, self.kept_, strict=True) if not kept]
        note = f"left out, since they do not vary: {', '.join(dropped)}" if dropped else ""
        header = ("column", self.target_, "mean", "standard deviation")
        return (findings.Table(f"Numbers by {self.target_}", header, rows, note=note),)
