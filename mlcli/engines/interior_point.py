"""An interior point method for losses with corners: ½ Σ q w² + Σ cost_k max(0, m_k − d_k·w) + a line.

A hinge is one such term; |u| is 2 max(0, u) − u, so that absolute errors and absolute penalties are a term and
a line each. Every term has a share 0 < α < cost in q·w = Dᵀα − slope and a slack: d·w − m = ahead − behind. At
the minimum α·ahead = 0 and (cost − α)·behind = 0. The steps are Newton's towards equations with a small number in
place of 0, which Mehrotra 1992 predicts and corrects; the terms enter one p × p system only (Ferris & Munson
2003). With all q above 0 the equations but these stay exact from the start, so that the sum of the products is
the duality gap. Terms may share a slack: cost × max(0, the largest of several m − d·w), whose shares then add up
to less than the cost; by Sherman and Morrison's formula the system stays as small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mlcli.core.moments import quotient
from mlcli.core.tables import Array, blocks_of


class Terms(Protocol):
    """The matrix D, whose row d_k turns coefficients into what term k measures."""

    def times(self, w: Array) -> Array:
        """D·w."""

    def back(self, value: Array) -> Array:
        """Dᵀ·v."""

    def gram(self, blocks: Array) -> Array:
        """Dᵀ·B·D of symmetric blocks (groups × terms of a group, squared)."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """Terms as an explicit matrix."""

    rows: Array

    def times(self, w: Array) -> Array:
        """D·w."""
        return np.asarray(self.rows @ w)

    def back(self, value: Array) -> Array:
        """Dᵀ·v."""
        return np.asarray(value @ self.rows)

    def gram(self, blocks: Array) -> Array:
        """Dᵀ·diag(v)·D, a few rows at a time; no term shares its slack."""
        weight = blocks[:, 0, 0]
        total = np.zeros((self.rows.shape[1],) * 2)
        for block in blocks_of(len(self.rows), self.rows.shape[1], 2**17):
            total += (self.rows[block] * weight[block, None]).T @ self.rows[block]
        return total


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """What is minimised: ½ Σ curvature·w² + slope·w + offset + Σ cost·max(0, margin − D w).

    Where there are more terms than costs, so many that follow each other share one: the largest counts.
    """

    terms: Terms
    cost: Array
    margin: Array
    curvature: Array
    """One for each coefficient; 0 where it is free."""
    slope: Array
    offset: float = 0.0

    def value(self, w: Array) -> float:
        """The objective."""
        lack = float(self.cost @ np.maximum(0.0, self.grouped(self.margin - self.terms.times(w)).max(axis=1)))
        return float(self.curvature @ w**2) / 2 + lack + float(self.slope @ w) + self.offset

    def grouped(self, values: Array) -> Array:
        """Values of terms by those that share a cost (groups × terms)."""
        return values.reshape(len(self.cost), -1)

    def least(self, w: Array, alpha: Array) -> float:
        """A lower bound of the objective, by shares; it is reduced where those of free w do not balance."""
        pull, curved = self.terms.back(alpha) - self.slope, self.curvature > 0
        squares = np.divide(pull**2, self.curvature, out=np.zeros_like(pull), where=curved)
        unbalanced = abs(float(pull[~curved] @ w[~curved]))
        return float(alpha @ self.margin) - float(squares.sum()) / 2 + self.offset - unbalanced


@dataclass(frozen=True, eq=False)
class Inside:
    """A point inside the bounds: ``alpha`` and ``beta``, the rest of the cost, are shares; the others slacks.

    All are groups × terms but ``beta`` and ``behind``, which have one column.
    """

    w: Array
    alpha: Array
    beta: Array
    ahead: Array
    behind: Array

    @property
    def products(self) -> float:
        """The duality gap, where all else is exact."""
        return float(np.vdot(self.alpha, self.ahead) + np.vdot(self.beta, self.behind))

    def moved(self, step: Inside, length: float) -> Inside:
        """The point at a length along a step."""
        return Inside(
            self.w + length * step.w,
            self.alpha + length * step.alpha,
            self.beta + length * step.beta,
            self.ahead + length * step.ahead,
            self.behind + length * step.behind,
        )

    def room(self, step: Inside) -> float:
        """The longest part of a step, up to all of it, that uses up at most 99.5 % of any share or slack."""
        longest = np.inf
        for name in ("alpha", "beta", "ahead", "behind"):
            value, change = getattr(self, name), getattr(step, name)
            shrinks = change < 0
            longest = min(longest, float(np.min(-value[shrinks] / change[shrinks], initial=np.inf)))
        return min(1.0, 0.995 * longest)


@dataclass(frozen=True, eq=False)
class PiecewiseMinimum:
    """The coefficients, the objective there, and how far it may be above the least one."""

    w: Array
    value: float
    gap: float
    """Where all curvatures are 1, ‖w − w*‖² is at most twice as much."""
    iterations: int


# A step may overflow to NaN; the point before it is returned, with its gap.
@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def interior_point(problem: PiecewiseLinear, tolerance: float, max_iterations: int) -> PiecewiseMinimum:
    """Follow the path to the minimum until the gap is small beside the objective.

    At the start each group of terms has half of its cost, and slacks that fit.
    """
    beta = problem.cost[:, None] / 2
    alpha = np.repeat(beta, len(problem.margin) // len(beta), axis=1) * len(beta) / len(problem.margin)
    w = quotient(problem.terms.back(alpha.ravel()) - problem.slope, problem.curvature)
    beyond = problem.grouped(problem.terms.times(w) - problem.margin)
    behind = np.maximum(-beyond.min(axis=1, keepdims=True), 0) + 1
    at = Inside(w, alpha, beta, beyond + behind, behind)
    for iteration in range(max_iterations + 1):
        value = problem.value(at.w)
        unbalanced = problem.curvature * at.w + problem.slope - problem.terms.back(at.alpha.ravel())
        gap = max(value - problem.least(at.w, at.alpha.ravel()), 0.0)
        size = max(abs(value), float(problem.curvature @ at.w**2) / 2)
        if gap <= tolerance * size or at.products <= 1e-16 * size or iteration == max_iterations:
            break
        newton = _Newton.of(problem, at, unbalanced)
        predicted = newton.towards(0.0, 0.0)
        ideal = at.moved(predicted, at.room(predicted)).products
        aim = at.products / (at.alpha.size + at.beta.size) * (ideal / at.products) ** 3
        step = newton.towards(aim - predicted.alpha * predicted.ahead, aim - predicted.beta * predicted.behind)
        length = at.room(step)
        if not np.isfinite(step.w).all() or length == 0:
            break
        at = at.moved(step, length)
    return PiecewiseMinimum(at.w, value, gap, iteration)


@dataclass(frozen=True, eq=False)
class _Newton:
    """Newton's equations at a point, ready to be solved for several right sides."""

    problem: PiecewiseLinear
    at: Inside
    unbalanced: Array
    blocks: Array
    """The matrix B of each group of terms (groups × terms × terms)."""
    system: Array

    @classmethod
    def of(cls, problem: PiecewiseLinear, at: Inside, unbalanced: Array) -> _Newton:
        """The equations with all but w eliminated: Q + Dᵀ·B·D."""
        blocks = _inverse_blocks(at.alpha / at.ahead, at.behind / at.beta)
        system = problem.terms.gram(blocks) + np.diag(problem.curvature)
        if not problem.curvature.all():
            system[np.diag_indices_from(system)] *= 1 + 1e-12
        return cls(problem, at, unbalanced, blocks, system)

    def _answer(self, values: Array) -> Array:
        """B·v."""
        return np.asarray((self.blocks @ values[:, :, None])[:, :, 0])

    def towards(self, ahead: Array | float, behind: Array | float) -> Inside:
        """The step to where the products α·ahead and β·behind have these values, to first order."""
        at, problem = self.at, self.problem
        pull = ahead / at.alpha - behind / at.beta - problem.grouped(problem.terms.times(at.w) - problem.margin)
        right = problem.terms.back(self._answer(pull).ravel()) - self.unbalanced
        w = np.asarray(np.linalg.solve(self.system, right), np.float64)
        alpha = self._answer(pull - problem.grouped(problem.terms.times(w)))
        beta = -alpha.sum(axis=1, keepdims=True)
        return Inside(
            w=w,
            alpha=alpha,
            beta=beta,
            ahead=(ahead - at.ahead * alpha) / at.alpha - at.ahead,
            behind=(behind - at.behind * beta) / at.beta - at.behind,
        )


def _inverse_blocks(single: Array, shared: Array) -> Array:
    """The inverses of diag(1 / single) + shared · 1 1ᵀ (Sherman & Morrison), with no large numbers taken off."""
    apart = 1 - np.eye(single.shape[1])
    whole = 1 + shared * single.sum(axis=1, keepdims=True)
    blocks: Array = -(shared / whole)[:, :, None] * single[:, :, None] * single[:, None, :] * apart
    terms = np.arange(len(apart))
    blocks[:, terms, terms] = single * (1 + shared * (single @ apart)) / whole
    return blocks
