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
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.blocks import row_blocks
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows, Table
from mlcli.engines.learn_from_sums import held_out_classes
from mlcli.engines.normal_columns import floored, log_density, log_mass, mean_gap
from mlcli.engines.posteriors import logarithm, posterior, prior_conflicts, refuse_misfitting_priors
from mlcli.engines.training_sums import CellSums, cells_of_classes
from mlcli.models.bayes._likelihoods import ADDED, SMOOTHINGS, Likelihoods, log_likelihood
from mlcli.tasks.classification import Classifier, LabelledRows

FARTHEST = 5e4
"""In units of its spread: a mean that lies farther from 0 has lost digits."""
MOST_NAMED = 3
"""How many columns, and classes of each, a warning names."""
HOW_SMOOTHED = {
    "alpha": "in P(level | class), {0.alpha:g} is added to the count of every level (alpha).",
    "none": "P(level | class) is as counted, not smoothed.",
    "epsilon": "P(level | class) is as counted, with {0.epsilon:g} in the place of 0 (epsilon).",
    "m-estimate": "in P(level | class), {0.m:g} rows are spread over the levels of every class (m).",
}
"""How an explanation puts each way of smoothing."""


@register(
    "naive-bayes",
    reference="Witten, Frank & Hall, Data Mining, section 4.2; John & Langley 1995",
    revision=2,
)
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
    zero_variance: str = param("floor", "what to do about numbers that do not vary in a class", choices=ADDED)
    ddof: int = param(0, "what is taken off N in variances", ge=0, le=1)

    priors_: Array = learned()
    likelihoods_: tuple[Array, ...] = learned()
    means_: Array = learned()
    variances_: Array = learned()
    kept_: Flags = learned()
    """The numeric columns whose normal density counts."""
    gaps_: Array = learned()
    """The mean gap of those whose mass over it counts; 0 elsewhere."""

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
        self.gaps_ = np.zeros(len(found.kept))
        self._put_floors(data, np.flatnonzero(found.floored))

    def _put_floors(self, data: LabelledRows, columns: Rows) -> None:
        """Floors below the variances of columns that do not vary in a class, and a warning that names them."""
        said = []
        for j in columns.tolist():
            flat = zip(self.classes_, self.variances_[:, j], strict=True)
            classes = listed([label for label, variance in flat if variance == 0], MOST_NAMED)
            said.append(f"'{data.table.number_columns[j].name}' (in {classes})")
            self.gaps_[j] = mean_gap(data.table.numbers[data.weights > 0, j])
            self.variances_[:, j] = floored(self.variances_[:, j], self.gaps_[j])
        if said:
            text = "numbers that do not vary within a class have a floor below their spread"
            warnings.warn(f"{text}: {listed(said, MOST_NAMED)}", MlcliWarning, stacklevel=3)

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
        kept = np.asarray((variances > 0).all(axis=-2))
        # A column that never varies says nothing, whatever is done about others.
        floored = ~kept & (overall.variance > 0) & (self.zero_variance == "floor")
        shares = tuple(self._smoothed(of_levels) for of_levels in counts)
        priors = self._priors_of(sums.weight)
        return Likelihoods(priors, means, variances, kept, floored, shares, sums.layout, far)

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
        for j in np.flatnonzero(self.gaps_).tolist():
            found += log_mass(table.numbers[:, j], self.means_[:, j], self.variances_[:, j], self.gaps_[j])
        for shares, codes in zip(self.likelihoods_, table.codes.T, strict=True):
            found += log_likelihood(logarithm(shares), codes)
        return found

    def check_learned(self) -> None:
        """A likelihood for each level and class, a mean and a variance for each number and class."""
        classes, coded = len(self.classes_), [column for column in self.columns_ if column.coded]
        numbers = len(self.columns_) - len(coded)
        expected = [
            (self.priors_, (classes,)),
            (self.means_, (classes, numbers)),
            (self.variances_, (classes, numbers)),
            (self.kept_, (numbers,)),
            (self.gaps_, (numbers,)),
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
        dropped = [name for name, used in zip(numeric, self.kept_ | (self.gaps_ > 0), strict=True) if not used]
        note = f"left out, since they do not vary: {', '.join(dropped)}" if dropped else ""
        header = ("column", self.target_, "mean", "standard deviation")
        return (findings.Table(f"Numbers by {self.target_}", header, rows, note=note),)
