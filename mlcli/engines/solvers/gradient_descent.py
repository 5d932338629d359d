"""First-order solvers: batch gradient descent, and stochastic gradient descent that arrives.

Batch: steps of a length that the curvature's bound proves safe. Each entry is divided by its own bound, so that
columns of any scale advance alike. Steps carry momentum (Nesterov 1983), which is dropped when it points uphill
(O'Donoghue & Candès 2015). A penalty with corners is met by its proximal step after each one down the rest (Beck &
Teboulle 2009).

Stochastic: a pass begins with the gradient of all rows. Each step then takes this, and what the gradient of its
few rows has changed by since (Johnson & Zhang 2013), so that steps need not become smaller to arrive. Rows come in
an order that a fixed seed draws: where the minimum is does not depend on it.

With a ``learning_rate`` η both step by −η times the gradient in every column, without bounds and momentum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array
from mlcli.engines.linear_objective import Iterate, LinearObjective, Minimum, weighted_gram


def gradient_descent(
    objective: LinearObjective,
    start: Array,
    tolerance: float,
    max_iterations: int,
    learning_rate: float | None = None,
) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``."""
    if learning_rate is not None:
        return _plain_descent(objective, start, tolerance, max_iterations, learning_rate)
    step, w = _safe_steps(objective), start
    momentum, here = 1.0, objective.at(start)
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        before, w = w, objective.penalty.proximal(here.w - step * here.gradient, step)
        if np.vdot((here.w - w) / step, w - before) > 0:
            momentum = 1.0
        momentum, last = (1 + np.sqrt(1 + 4 * momentum**2)) / 2, momentum
        here = objective.at(w + (last - 1) / momentum * (w - before))
    here = objective.at(w)
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _descend(
    here: Iterate, tolerance: float, max_iterations: int, next_iterate: Callable[[Iterate], Iterate]
) -> Minimum:
    """From one iterate to the next until no entry of the gradient is above ``tolerance``."""
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        here = next_iterate(here)
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _plain_descent(
    objective: LinearObjective, start: Array, tolerance: float, max_iterations: int, learning_rate: float
) -> Minimum:
    """θ ← θ − η ∂f/∂θ."""
    first = objective.at(start)

    def next_iterate(here: Iterate) -> Iterate:
        step = here.w - learning_rate * here.gradient
        after = objective.at(objective.penalty.proximal(step, np.asarray(learning_rate)))
        refuse_divergence(first.value, after.value, learning_rate)
        return after

    return _descend(first, tolerance, max_iterations, next_iterate)


def refuse_divergence(start: float, now: float, learning_rate: float) -> None:
    """Refuse a learning rate under which the objective grows without end."""
    if not now <= DIVERGED * max(abs(start), 1.0):
        what = f"with a learning_rate of {learning_rate:g} the loss grows without end"
        raise FitError(what, hint="a smaller one would help; without it, safe steps follow from the data")


def _safe_steps(objective: LinearObjective) -> Array:
    """A step for each column down which no gradient step can rise.

    1 / (its own curvature × the largest curvature once each is divided by its own).
    """
    gram = weighted_gram(objective.loss.weights[None, None], objective.X, float(objective.intercept))
    inside = objective.mixing.T @ objective.loss.most_curved() @ objective.mixing
    largest = float(np.linalg.eigvalsh(inside).max(initial=0.0))
    bound = largest * gram + np.diag(objective.penalty.l2)
    own = np.where(bound.diagonal() > 0, bound.diagonal(), 1.0)
    alike = bound / np.sqrt(np.outer(own, own))
    return np.asarray(1 / (own * max(float(np.linalg.eigvalsh(alike)[-1]), np.finfo(float).tiny)))


BATCH = 64
"""Rows for each step."""
CAUTION = 0.5
DIVERGED = 1e6
"""A loss this many times that of the start will not fall again."""
SEED = 1


def stochastic_gradient_descent(
    objective: LinearObjective,
    start: Array,
    tolerance: float,
    max_iterations: int,
    learning_rate: float | None = None,
) -> Minimum:
    """Go through all rows until no entry of the gradient is above ``tolerance``; an iteration is a pass."""
    rng, first = np.random.default_rng(SEED), objective.at(start)
    step = _stochastic_steps(objective) if learning_rate is None else np.asarray(learning_rate)

    def one_pass(here: Iterate) -> Iterate:
        w, order = here.w, rng.permutation(len(objective.X))
        for rows in np.array_split(order, max(1, len(order) // BATCH)):
            few = objective.take(rows)
            change = few.at(w).gradient - few.at(here.w).gradient
            w = objective.penalty.proximal(w - step * (here.gradient + change), step)
        after = objective.at(w)
        if learning_rate is not None:
            refuse_divergence(first.value, after.value, learning_rate)
        return after

    return _descend(first, tolerance, max_iterations, one_pass)


DESCENTS = {"gradient-descent": gradient_descent, "sgd": stochastic_gradient_descent}


def _stochastic_steps(objective: LinearObjective) -> Array:
    """The steps that are safe for all rows, less where single rows bend far more than all do."""
    own, weights = objective.own_curvatures(), objective.loss.weights
    lengths = objective.X**2 @ (1 / own[:-1]) + 1 / own[-1]
    typical = float(weights @ lengths) / float(weights.sum())
    return np.asarray(CAUTION * _safe_steps(objective) / max(1.0, float(lengths.max()) / typical / BATCH))
