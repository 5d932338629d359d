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

from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.explanation import Explanation, Section
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.models.bayes._gaussians import ADDED, Gaussians, gaussians_of
from mlcli.models.bayes._held_out import Method, held_out
from mlcli.models.bayes._posterior import impossible, posterior
from mlcli.models.bayes._priors import given_priors, wrong_sum
from mlcli.models.bayes._smoothing import SMOOTHINGS, counts_by_class, log_likelihood
from mlcli.tasks.classification import Classifier, LabelledRows

SAID_OF = {
    "alpha": "in P(level | class), {0.alpha:g} is added to the count of every level (alpha).",
    "none": "P(level | class) is as counted, not smoothed.",
    "epsilon": "P(level | class) is as counted, with {0.epsilon:g} in the place of 0 (epsilon).",
    "m-estimate": "in P(level | class), {0.m:g} rows are spread over the levels of every class (m).",
}
"""How an explanation puts each way of smoothing."""


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
        return [*found, *wrong_sum(self.priors)]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Count classes and levels, and take the mean and variance of numbers in each class."""
        self._refuse_large_epsilon(data)
        self._refuse_other_priors(data)
        self.priors_ = self._priors_of(data.class_totals)
        columns = zip(data.table.code_columns, data.table.codes.T, strict=True)
        self.likelihoods_ = tuple(
            self._smoothed(counts_by_class(codes, data.y, data.weights, len(column.levels), len(data.classes)))
            for column, codes in columns
        )
        gaussians = gaussians_of(data, self.ddof, self.zero_variance)
        self.means_, self.variances_, self.kept_ = gaussians.means, gaussians.variances, gaussians.kept

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The posteriors by the rows outside each part, from spreads and counts of their classes."""
        self._refuse_large_epsilon(data)
        self._refuse_other_priors(data)
        method = Method(self._priors_of, self._smoothed, self.zero_variance == "add", self.ddof)
        return held_out(data, round_, steps, method)

    def _smoothed(self, counts: Array) -> Array:
        if len(counts) == 0:
            return counts
        strengths = {"alpha": self.alpha, "epsilon": self.epsilon, "m-estimate": self.m, "none": 0.0}
        return SMOOTHINGS[self.smoothing](counts, strengths[self.smoothing])

    def _refuse_large_epsilon(self, data: LabelledRows) -> None:
        total = data.weights.sum()
        if self.smoothing == "epsilon" and self.epsilon * total >= 1:
            raise FitError(
                f"naive-bayes: epsilon {self.epsilon:g} is not below 1/N = {1 / total:.3g}",
                hint="a level that was never seen would count as much as one seen once; lower epsilon",
            )

    def _refuse_other_priors(self, data: LabelledRows) -> None:
        if self.priors is not None:
            given_priors(self.id, self.priors, data.classes)

    def _priors_of(self, totals: Array) -> Array:
        return self._counted_priors(totals) if self.priors is None else np.array(self.priors)

    def _counted_priors(self, totals: Array) -> Array:
        priors = totals / totals.sum()
        if self.smooth_prior:
            priors[totals > 0] = self._smoothed(totals[totals > 0, None])[:, 0]
        return np.asarray(priors)

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        log_joint = self.log_joint(table)
        hopeless = impossible(log_joint)
        if hopeless.any():
            log_joint[hopeless] = _log(self.priors_)
            text = f"no class is possible for {int(hopeless.sum())} of {len(table)} rows; they answer the priors"
            warnings.warn(f"{self.id}: {text}", MlcliWarning, stacklevel=2)
        return posterior(log_joint)

    def log_joint(self, table: Table) -> Array:
        """The logarithm of P(k) Π_j P(x_j | k) for each row and class."""
        gaussians = Gaussians(self.means_, self.variances_, self.kept_)
        found = _log(self.priors_) + gaussians.log_likelihood(table.numbers)
        for shares, codes in zip(self.likelihoods_, table.codes.T, strict=True):
            found += log_likelihood(_log(shares), codes)
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
            *zip(self.likelihoods_, ((len(column.levels), classes) for column in coded), strict=True),
        ]
        if any(np.shape(array) != shape for array, shape in expected):
            raise ValueError("priors or likelihoods that do not fit the columns and classes")

    def explain(self) -> Explanation:
        """The priors, the likelihood of each level, and the mean and deviation of each number, by class."""
        priors = tuple(zip(self.classes_, map(float, self.priors_), strict=True))
        coded = (column for column in self.columns_ if column.coded)
        tables = zip(coded, self.likelihoods_, strict=True)
        return (
            Section("Priors", (self.target_, "prior"), priors, note=self._how_smoothed()),
            *(self._levels_section(column, shares) for column, shares in tables),
            *self._numbers_sections(),
        )

    def _how_smoothed(self) -> str:
        if not any(column.coded for column in self.columns_):
            return ""
        said = SAID_OF[self.smoothing].format(self)
        priors = "The priors are as counted" if self.priors is None else "The priors are as given"
        return said if self.smooth_prior else f"{priors}; {said}"

    def _levels_section(self, column: Column, shares: Array) -> Section:
        levels = zip(column.levels, shares.tolist(), strict=True)
        rows = tuple((level, *by_class) for level, by_class in levels)
        return Section(f"P({column.name} | {self.target_})", (column.name, *self.classes_), rows)

    def _numbers_sections(self) -> tuple[Section, ...]:
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
        return (Section(f"Numbers by {self.target_}", header, rows, note=note),)


def _log(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))
