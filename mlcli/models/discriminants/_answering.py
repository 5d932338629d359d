"""LDA and QDA as methods of which all parts of a round may be asked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.held_out import HeldOut, Round
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.engines.sums_before import Sums
from mlcli.models.discriminants._bells import Bells, bells_of
from mlcli.models.discriminants._by_parts import by_parts
from mlcli.models.discriminants._classes import rows_by_class
from mlcli.models.discriminants._filled import filled_without_each
from mlcli.models.discriminants._held_out import SURELY_KEPT, Method, Scores, Task, Taught, taught
from mlcli.models.discriminants._left_out import linear_without_each, quadratic_without_each, squares
from mlcli.tasks.classification import LabelledRows

FAR_ABOVE = 2.0
"""A class lies surely above the floor from this many times it on."""


@dataclass(frozen=True)
class Linear:
    """One covariance."""

    ddof: int
    priors: tuple[float, ...] | None

    def scores(self, taught: Taught, log_priors: Array, made: Array) -> Scores:
        """Linear in the row."""
        transform, centre = taught.whitening.transform, taught.sums.centre
        inside, means = (made - centre) @ transform, (taught.sums.mean - centre) @ transform
        lengths = squares(means)
        size = np.sqrt(squares(inside) * lengths.max(initial=0.0)) + lengths.max(initial=0.0)
        return Scores(inside @ means.T - 0.5 * lengths + log_priors, size)

    def left_out(self, task: Task, taught: Taught, by_class: Sequence[Sums]) -> HeldOut | None:
        """By Sherman-Morrison, or by a factor for each row where gaps are filled."""
        if not task.learns_from_others:
            return linear_without_each(task, taught, self)
        shared = np.sum([one.scatter for one in by_class], axis=0)
        return filled_without_each(task, taught, self, by_class, shared[None])


@dataclass(frozen=True)
class Quadratic:
    """A covariance for each class."""

    ddof: int
    priors: tuple[float, ...] | None
    shrinkage: float
    floor: float

    def scores(self, taught: Taught, log_priors: Array, made: Array) -> Scores | None:
        """Quadratic in the row; a class that lies flat is left to the rows themselves."""
        transform = taught.whitening.transform
        bells = bells_of(taught.sums, transform, self.ddof, self.shrinkage, self.floor)
        if not self._stand_alone(bells, taught):
            return None
        densities = bells.log_densities(made @ transform)
        return Scores(
            densities + log_priors, np.abs(densities).max(axis=1, initial=0.0) / bells.least_of(taught.sums)
        )

    def left_out(self, task: Task, taught: Taught, by_class: Sequence[Sums]) -> HeldOut | None:
        """By Sherman-Morrison, or by factors for each row; not where a class leans on the others."""
        bells = bells_of(taught.sums, taught.whitening.transform, self.ddof, 0.0, 0.0)
        if self.shrinkage or not self._stand_alone(bells, taught):
            return None
        if not task.learns_from_others:
            return quadratic_without_each(task, taught, self, bells, self.floor)
        scatters = np.array([one.scatter for one in by_class])
        return filled_without_each(task, taught, self, by_class, scatters)

    def _stand_alone(self, bells: Bells, taught: Taught) -> bool:
        """Whether each class has a covariance of its own, wide enough in all directions."""
        return not bells.borrowed.any() and bells.least_of(taught.sums) >= max(SURELY_KEPT, FAR_ABOVE * self.floor)


def held_out(data: LabelledRows, round_: Round, steps: Sequence[Step], method: Method) -> HeldOut | None:
    """The answers to every part of a round by what the rows outside it teach."""
    task = Task.of(data, steps)
    if task is None:
        return None
    if not round_.one_by_one:
        return by_parts(task, method, round_)
    by_class = rows_by_class(task.columns, data.y, data.weight, len(data.classes))
    whole = taught(task, by_class, method.ddof)
    return None if whole is None else method.left_out(task, whole, by_class)
