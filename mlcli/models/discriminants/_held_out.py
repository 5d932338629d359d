"""Discriminants for every part of a round at once: what rows with given sums teach, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mlcli.core.held_out import HeldOut
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags
from mlcli.engines.expansion import NONE, Prepared, Recipe, combined, expanded, prepared
from mlcli.engines.sums_before import Sums
from mlcli.models.bayes._posterior import posterior
from mlcli.models.discriminants._classes import ClassSums
from mlcli.models.discriminants._middle import middle
from mlcli.models.discriminants._scores import logarithm
from mlcli.models.discriminants._whitening import LEAST_SPREAD, Whitening, doubts, units_of, whitening_from
from mlcli.tasks.classification import LabelledRows

SURELY_LEFT_OUT = LEAST_SPREAD**2 / 2
SURELY_KEPT = 1e-4
"""From this variance of a direction on, sums answer to ten digits."""
FARTHEST = 1e5
"""In units of the spread within classes: columns that reach farther lose digits, in the plain loop as well."""
ALONE = 1e-9
"""A row that leaves less than this share of the weight of its class is all that the class has."""
ROUNDING = 2e-15
TOLERATED = 1e-10


class Method(Protocol):
    """What differs between methods."""

    @property
    def ddof(self) -> int:
        """What is taken off the weight of a class."""

    @property
    def priors(self) -> tuple[float, ...] | None:
        """Given priors."""

    def scores(self, taught: Taught, log_priors: Array, made: Array) -> Scores | None:
        """Of rows in the model's columns; None where only the rows that are learned from can tell."""

    def left_out(self, task: Task, taught: Taught, by_class: Sequence[Sums]) -> HeldOut | None:
        """The answer to every row by all others; ``taught`` is what all rows teach."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Log joint probabilities (n × K), and how large the numbers are (n) whose differences they come from."""

    values: Array
    size: Array

    def unsettled(self, least: float | Array) -> Flags:
        """The rows whose posterior may lack the tenth digit: large numbers, narrow directions, and a near tie."""
        ordered = np.sort(self.values, axis=1)
        lead = ordered[:, -1] - ordered[:, -2] if self.values.shape[1] > 1 else np.inf
        return np.asarray(self.size * (ROUNDING / least) * np.exp(-np.minimum(lead, 700.0)) > TOLERATED)


@dataclass(frozen=True, eq=False)
class Task:
    """What all parts share: the columns that never change, and what the model's columns are made of."""

    data: LabelledRows
    columns: Array
    recipe: Recipe
    reach: Array
    """How far from 0 the numbers of the recipe go that fill gaps: what fills them is rounded so much."""

    @classmethod
    def of(cls, data: LabelledRows, steps: Sequence[Step]) -> Task | None:
        """The task; None where steps do not follow from sums."""
        expansion = expanded(data.table, steps)
        if expansion is None:
            return None
        recipe = Recipe.of(expansion)
        centre = np.zeros(expansion.columns.shape[1])
        plain = recipe.main[~recipe.has_gap & (recipe.fills == NONE)]
        centre[plain] = middle(expansion.columns[:, plain])
        sizes = {column.name: size for column, size in zip(data.table.number_columns, _sizes(data), strict=True)}
        names = [one.column.name for one in expansion.made]
        reach = np.array([sizes.get(name, 0.0) for name in names]) * recipe.has_gap
        return cls(data, expansion.columns - centre, recipe, reach)

    @property
    def learns_from_others(self) -> bool:
        """Whether what fills gaps depends on which rows are left out; units do not matter."""
        return bool(self.recipe.has_gap.any())


def _sizes(data: LabelledRows) -> Array:
    """The largest number of each numeric column, by size."""
    return np.asarray(np.fmax.reduce(np.abs(data.table.numbers), axis=0, initial=0.0))


@dataclass(frozen=True, eq=False)
class Taught:
    """What some rows teach: the sums of their classes in the columns of the model, and how to see others so."""

    sums: ClassSums
    whitening: Whitening
    shift: Array
    recipe: Recipe

    def made(self, columns: Array) -> Array:
        """Rows in the model's columns."""
        main = columns[:, self.recipe.main]
        filled = self.recipe.has_gap
        main[:, filled] += self.shift[filled] * columns[:, self.recipe.gap[filled]]
        return main


def taught(task: Task, by_class: Sequence[Sums], ddof: int) -> Taught | None:
    """What rows with such sums teach; None where only the rows themselves can tell."""
    total = by_class[0]
    for one in by_class[1:]:
        total = total.merged(one)
    found = prepared(task.recipe, total)
    if found is None or not total.weight:
        return None
    sums = model_sums(task, by_class, found)
    if sums.freedom(ddof) <= 0 or too_far(task, total, found, sums, ddof):
        return None
    whitening = whitening_from(sums, ddof)
    unsure = (whitening.variances > SURELY_LEFT_OUT) & (whitening.variances < SURELY_KEPT)
    if unsure.any() or any(doubts(sums, whitening)):
        return None
    return Taught(sums, whitening, found.shift, task.recipe)


def model_sums(task: Task, by_class: Sequence[Sums], found: Prepared) -> ClassSums:
    """The sums of each class in the columns of the model."""
    recipe, shift = task.recipe, found.shift
    means = np.array([one.mean for one in by_class])
    scatters = [combined(recipe, shift, one.scatter) for one in by_class]
    still = [(one.low >= one.high)[recipe.main] & (one.low >= one.high)[recipe.gap] for one in by_class]
    varies = ~np.all(still, axis=0) & ~found.constant
    in_model = means[:, recipe.main] + shift * np.where(recipe.has_gap, means[:, recipe.gap], 0.0)
    return ClassSums(np.array([one.weight for one in by_class]), in_model, np.array(scatters), varies)


def too_far(task: Task, total: Sums, found: Prepared, sums: ClassSums, ddof: int) -> bool:
    """Whether some column reaches too far to keep its digits."""
    reach = np.maximum(np.abs(total.low), np.abs(total.high))[task.recipe.main] + np.abs(found.shift)
    reach = np.maximum(reach, task.reach)
    return bool((reach[sums.varies] > FARTHEST * units_of(sums, ddof)[sums.varies]).any())


def log_priors(method: Method, weight: Array) -> Array:
    """The logarithms of the priors by the weight of the classes (last axis); one without rows is impossible."""
    counted = weight / weight.sum(axis=-1, keepdims=True)
    shares = counted if method.priors is None else np.array(method.priors)
    return np.where(weight > 0, logarithm(shares), -np.inf)


def log_priors_without_each(data: LabelledRows, weight: Array, method: Method) -> Array:
    """The logarithms of the priors (n × K) that the others have."""
    left = np.tile(weight, (len(data), 1))
    each = np.arange(len(data))
    left[each, data.y] = np.maximum(left[each, data.y] - data.weights, 0.0)
    return log_priors(method, left)


def refusing_unsettled(scores: Scores, least: Array, refused: Flags, route: str) -> HeldOut:
    """The posteriors of rows that each have scores of their own."""
    refused = refused | scores.unsettled(least) | ~np.isfinite(scores.values).any(axis=1)
    values = np.where(refused[:, None], 0.0, scores.values)
    return HeldOut(posterior(values), refused, route)
