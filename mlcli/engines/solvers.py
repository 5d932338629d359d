"""Solvers of smooth objectives, with an absolute penalty (corners) where they can.

Newton's method goes to the minimum of the quadratic that fits the objective here; with corners, coordinate descent
minimises the quadratic plus the corners (Lee, Sun & Saunders 2014). A step that would raise the objective is
halved. Long tables start at the minimum for a few of their rows.

L-BFGS guesses the curvature from the last few steps (Liu & Nocedal 1989). OWL-QN extends it to absolute sizes of
weights: within an orthant, where no weight changes its sign, they are linear (Andrew & Gao 2007).

Gradient descent takes steps that a bound of the curvature proves safe. Each entry is divided by its own bound, so
that columns of any scale advance alike. Steps carry momentum (Nesterov 1983), which is dropped when it points
uphill (O'Donoghue & Candès 2015). Corners are met by a proximal step (Beck & Teboulle 2009). A pass of stochastic
gradient descent begins with the gradient of all rows; each step takes this, and what the gradient of its few rows
has changed by since (Johnson & Zhang 2013), so that steps need not become smaller. With a ``learning_rate`` η both
step by −η times the gradient, without bounds and momentum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array
from mlcli.engines.linear_objective import Iterate, LinearObjective, Loss, Penalty, weighted_gram

SHORTEST_STEP = 2.0**-30
ROUNDING = 1e-14
"""A rise by this share of the objective, or of a score of 1, is rounding."""
SUFFICIENT_FALL = 1e-4
"""A step of L-BFGS must lower the objective by this share of what the slope promises."""
PRECISION = 1e-13
"""Coordinate descent ends when no entry of the gradient moves by this share of the largest at 0."""

Memory = deque[tuple[Array, Array]]
"""The last steps, and by how much the gradient changed along each."""


class Smooth(Protocol):
    """What is minimised by gradients alone."""

    def at(self, w: Array) -> Iterate:
        """The objective and its gradient at some coefficients."""

    def own_curvatures(self) -> Array:
        """About its curvature along each coefficient by itself; never 0."""


class Objective(Protocol):
    """What Newton's method minimises."""

    @property
    def penalty(self) -> Penalty:
        """The penalty on the coefficients."""

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients (outputs × columns)."""

    def curvature(self, here: Iterate) -> Array:
        """The second derivative of the smooth part (coefficients × coefficients)."""

    def reached(self, here: Iterate, fall: float, tolerance: float) -> bool:
        """Whether this is the minimum; Newton's step promises to fall by half of ``fall``."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The objective at the coefficients where a solver stopped."""

    at: Iterate
    iterations: int
    converged: bool


def complaint(minima: Sequence[Minimum], tolerance: float) -> str:
    """Why some solvers did not converge; empty if all did."""
    if all(minimum.converged for minimum in minima):
        return ""
    reached = max(minimum.at.steepness for minimum in minima)
    iterations = max(minimum.iterations for minimum in minima)
    return f"stopped after {iterations} steps with a gradient of {reached:.1e}, above the tolerance {tolerance:g}"


def newton(objective: Objective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Newton's method until the objective says that this is its minimum; the objective never rises."""
    here = objective.at(start)
    for iteration in range(max_iterations):
        step = newton_step(objective, here)
        if objective.reached(here, -float(np.vdot(step, here.gradient)), tolerance):
            return Minimum(here, iteration, converged=True)
        length, there = 1.0, None
        while there is None and length >= SHORTEST_STEP:
            tried = objective.at(here.w + length * step)
            within_rounding = tried.value <= here.value + ROUNDING * max(1.0, abs(here.value))
            if tried.value < here.value or (within_rounding and tried.steepness < here.steepness):
                there = tried
            length /= 2
        if there is None:  # a gradient up to 1e-8 is what rounding leaves of 0
            return Minimum(here, iteration, converged=here.steepness <= max(tolerance, 1e-8))
        here = there
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def newton_from_few_rows(
    objective: LinearObjective, start: Array, tolerance: float, max_iterations: int
) -> Minimum:
    """Newton's method from the rough minimum for every eighth row, if that leaves 20 rows for each coefficient."""
    if len(objective.X) >= 8 * 20 * max(start.size, 1):
        few = objective.take(slice(None, None, 8))
        if np.isfinite(few.loss.start()).all():
            start = newton_from_few_rows(few, start, 1e-3, 20).at.w
    return newton(objective, start, tolerance, max_iterations)


def newton_step(objective: Objective, here: Iterate) -> Array:
    """The step to the minimum of the quadratic that fits here, plus the corners."""
    curvature = objective.curvature(here)
    if objective.penalty.has_corners:
        l1, w = np.tile(objective.penalty.l1, len(here.w)), here.w.ravel().copy()
        toward = curvature @ here.w.ravel() - here.gradient.ravel()
        tolerance = PRECISION * max(float(np.abs(toward).max(initial=0.0)), 1e-300)
        descend_coordinates(curvature, toward, Penalty(np.zeros(len(w)), l1), w, tolerance)
        return w.reshape(here.w.shape) - here.w
    scaled, root = _with_unit_diagonal(curvature)
    return np.asarray(-(np.linalg.solve(scaled, here.gradient.ravel() / root) / root).reshape(here.w.shape))


def inverse_curvature(objective: Objective, here: Iterate) -> Array:
    """The inverse of the curvature: the covariance of the coefficients if the objective is a likelihood."""
    scaled, root = _with_unit_diagonal(objective.curvature(here))
    return np.asarray(np.linalg.inv(scaled) / np.outer(root, root))


def _with_unit_diagonal(curvature: Array) -> tuple[Array, Array]:
    """The curvature with its diagonal scaled to 1, and the roots of the diagonal.

    Otherwise a large penalty beside a free intercept would cost all digits.
    """
    root = np.sqrt(np.maximum(curvature.diagonal(), 0.0))
    root[root == 0] = 1.0
    scaled = curvature / root / root[:, None]
    scaled[np.diag_indices_from(scaled)] += 1e-12  # an inverse must exist if columns are collinear
    return scaled, root


def never_ends(objective: LinearObjective, minimum: Minimum) -> bool:
    """Whether scores still move where the gradient is nearly 0: the objective falls for ever, ever more slowly.

    Near a minimum, steps are far smaller than ½; on the way to infinity they are about 1.
    """
    change = objective.scores(newton_step(objective, minimum.at))
    return bool(np.abs(change).max(initial=0.0) > 0.5)


def descend_coordinates(gram: Array, toward: Array, penalty: Penalty, w: Array, tolerance: float) -> bool:
    """Minimise ½ wᵀ G w − toward·w + penalty over ``w`` in place; whether that converged.

    A coefficient without curvature stays (Friedman, Hastie & Tibshirani 2010).
    """
    from mlcli.kernels.linear.coordinate_descent import descend_quadratic

    most_passes, gram = 100_000, np.ascontiguousarray(gram)
    passes = descend_quadratic(gram, toward, penalty.l1, penalty.l2, w, tolerance, most_passes)
    return bool(passes < most_passes)


def lbfgs(objective: Smooth, start: Array, tolerance: float, max_iterations: int, remembered: int = 10) -> Minimum:
    """L-BFGS until no entry of the gradient is above ``tolerance``."""
    own = objective.own_curvatures()

    def step(here: Iterate, memory: Memory) -> Iterate | None:
        way = _direction(here.gradient, own, memory)
        promised, length = float(np.vdot(here.gradient, way)), 1.0
        while promised < 0 and length >= SHORTEST_STEP:
            there = objective.at(here.w + length * way)
            if there.value <= here.value + SUFFICIENT_FALL * length * promised:
                return there
            # Where the fall is lost in rounding, the slope along the step must be flatter.
            within_rounding = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
            if within_rounding and abs(float(np.vdot(there.gradient, way))) <= 0.9 * -promised:
                return there
            length /= 2
        return None

    return _descend_with_memory(objective.at(start), step, tolerance, max_iterations, remembered)


def _descend_with_memory(
    here: Iterate,
    step: Callable[[Iterate, Memory], Iterate | None],
    tolerance: float,
    max_iterations: int,
    remembered: int,
) -> Minimum:
    """Take steps that use how the gradient changed along the last ones; forget those if a step fails."""
    memory = Memory(maxlen=remembered)
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        there = step(here, memory)
        if there is None and not memory:
            return Minimum(here, iteration, converged=False)
        if there is None:
            memory.clear()
            continue
        moved, changed = there.w - here.w, there.gradient - here.gradient
        if np.vdot(moved, changed) > ROUNDING * np.vdot(changed, changed):
            memory.append((moved, changed))
        here = there
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _direction(slope: Array, own: Array, memory: Memory) -> Array:
    """The two loops of Nocedal 1980: minus the guessed inverse of the curvature times the slope.

    The guess starts with the curvature of each column by itself.
    """
    way, shares = -slope, list[float]()
    for moved, changed in reversed(memory):
        shares.append(float(np.vdot(moved, way) / np.vdot(moved, changed)))
        way = way - shares[-1] * changed
    way = way / own
    if memory:
        moved, changed = memory[-1]
        way = way * float(np.vdot(moved, changed) / np.vdot(changed, changed / own))
    for moved, changed in memory:
        way = way + (shares.pop() - float(np.vdot(changed, way) / np.vdot(moved, changed))) * moved
    return way


def owlqn(
    objective: Smooth, l1: float, start: Array, tolerance: float, max_iterations: int, remembered: int
) -> Minimum:
    """OWL-QN until no entry of the least subgradient of ``objective`` + ``l1`` Σ |w| is above ``tolerance``.

    Other than in the paper, weights that stay at 0 take no part in the guessed curvature, and only those at 0 are
    kept from going uphill: on tags of words that needs a sixth of the steps.
    """
    own = objective.own_curvatures()

    def subgradient(here: Iterate) -> Array:
        at_corner = np.sign(here.gradient) * np.maximum(np.abs(here.gradient) - l1, 0.0)
        return np.where(here.w == 0, at_corner, here.gradient + l1 * np.sign(here.w))

    def at(w: Array) -> Iterate:
        smooth = objective.at(w)
        steepness = float(np.abs(subgradient(smooth)).max(initial=0.0))
        return replace(smooth, value=smooth.value + l1 * float(np.abs(w).sum()), steepness=steepness)

    def step(here: Iterate, memory: Memory) -> Iterate | None:
        slope = subgradient(here)
        free = (here.w != 0) | (slope != 0)
        pairs = ((moved * free, changed * free) for moved, changed in memory)
        way = _direction(slope, own, Memory(pair for pair in pairs if np.vdot(*pair) > 0))
        way = np.where((here.w != 0) | (way * -slope > 0), way, 0.0)
        orthant = np.where(here.w == 0, np.sign(-slope), np.sign(here.w))
        length = 1.0
        while length >= SHORTEST_STEP:
            ahead = here.w + length * way
            w = np.where(ahead * orthant > 0, ahead, 0.0)
            there, promised = at(w), min(0.0, float(np.vdot(slope, w - here.w)))
            within_rounding = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
            flatter = there.steepness < here.steepness
            if there.value <= here.value + SUFFICIENT_FALL * promised or (within_rounding and flatter):
                return there
            length /= 2
        return None

    return _descend_with_memory(at(start), step, tolerance, max_iterations, remembered)


def gradient_descent(
    objective: LinearObjective,
    start: Array,
    tolerance: float,
    max_iterations: int,
    learning_rate: float | None = None,
) -> Minimum:
    """Gradient descent until no entry of the gradient is above ``tolerance``."""
    here = objective.at(start)
    if learning_rate is not None:
        rate, first_value = learning_rate, here.value

        def plain_step(here: Iterate) -> Iterate:
            after = objective.at(objective.penalty.proximal(here.w - rate * here.gradient, np.asarray(rate)))
            refuse_divergence(first_value, after.value, rate)
            return after

        return _repeat(plain_step, here, tolerance, max_iterations)
    step, w, momentum = _safe_steps(objective), start, 1.0
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


def stochastic_gradient_descent(
    objective: LinearObjective,
    start: Array,
    tolerance: float,
    max_iterations: int,
    learning_rate: float | None = None,
) -> Minimum:
    """Passes through all rows, in batches, until no entry of the gradient is above ``tolerance``.

    The order of rows comes from a fixed seed; the minimum does not depend on it.
    """
    rng, first, batch = np.random.default_rng(1), objective.at(start), 64
    step = np.asarray(learning_rate)
    if learning_rate is None:
        # Half of what is safe for all rows, and less if single rows bend far more than the typical one.
        own, weights = objective.own_curvatures(), objective.loss.weights
        lengths = objective.X**2 @ (1 / own[:-1]) + 1 / own[-1]
        typical = float(weights @ lengths) / float(weights.sum())
        step = 0.5 * _safe_steps(objective) / max(1.0, float(lengths.max()) / typical / batch)

    def one_pass(here: Iterate) -> Iterate:
        w, order = here.w, rng.permutation(len(objective.X))
        for rows in np.array_split(order, max(1, len(order) // batch)):
            few = objective.take(rows)
            change = few.at(w).gradient - few.at(here.w).gradient
            w = objective.penalty.proximal(w - step * (here.gradient + change), step)
        after = objective.at(w)
        if learning_rate is not None:
            refuse_divergence(first.value, after.value, learning_rate)
        return after

    return _repeat(one_pass, first, tolerance, max_iterations)


DESCENTS = {"gradient-descent": gradient_descent, "sgd": stochastic_gradient_descent}


def _repeat(step: Callable[[Iterate], Iterate], here: Iterate, tolerance: float, max_iterations: int) -> Minimum:
    """Repeat a step until no entry of the gradient is above ``tolerance``."""
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        here = step(here)
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def refuse_divergence(start: float, now: float, learning_rate: float) -> None:
    """Refuse a learning rate under which the loss grows to a million times that of the start."""
    if not now <= 1e6 * max(abs(start), 1.0):
        what = f"with a learning_rate of {learning_rate:g} the loss grows without end"
        raise FitError(what, hint="a smaller one would help; without it, safe steps follow from the data")


def _safe_steps(objective: LinearObjective) -> Array:
    """A step for each column that cannot raise the objective.

    1 / (its own curvature × the largest curvature once each is divided by its own).
    """
    gram = weighted_gram(objective.loss.weights[None, None], objective.X, float(objective.intercept))
    inside = objective.mixing.T @ objective.loss.curvature_bound() @ objective.mixing
    largest = float(np.linalg.eigvalsh(inside).max(initial=0.0))
    bound = largest * gram + np.diag(objective.penalty.l2)
    own = np.where(bound.diagonal() > 0, bound.diagonal(), 1.0)
    scaled = bound / np.sqrt(np.outer(own, own))
    return np.asarray(1 / (own * max(float(np.linalg.eigvalsh(scaled)[-1]), np.finfo(float).tiny)))


@dataclass(frozen=True)
class Solver:
    """A solver, and what it needs of a loss and a penalty."""

    minimise: Callable[[LinearObjective, Array, float, int], Minimum]
    """From an objective, a start, the tolerance of the gradient, and the most iterations."""
    advice: str = "a larger max_iterations or l2 would help"
    """What helps if it has not converged."""
    takes_corners: bool = True
    """Whether it can minimise an absolute penalty."""
    needs_bound: bool = False
    """Whether the curvature of the loss must be bounded, since the length of its steps depends on that."""

    def mismatch(self, name: str, loss: type[Loss], corners: bool) -> str:
        """Why it cannot minimise such an objective, and which solvers can; empty if it can."""
        if self.takes(loss, corners):
            return ""
        unbounded = self.needs_bound and not np.isfinite(loss.bound)
        missing = "a loss whose curvature is bounded" if unbounded else "a penalty without corners (l1 = 0)"
        able = [other for other, solver in SOLVERS.items() if solver.takes(loss, corners)]
        return f"the solver {name} needs {missing}; {' or '.join(able)} would do"

    def takes(self, loss: type[Loss], corners: bool) -> bool:
        """Whether it can minimise such an objective."""
        return (self.takes_corners or not corners) and (not self.needs_bound or bool(np.isfinite(loss.bound)))


def _choose(objective: LinearObjective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Newton where a curvature costs next to nothing; else L-BFGS, then Newton if that has not converged soon."""
    affordable = start.size <= 1000  # a larger curvature is never formed if there is a choice
    if objective.penalty.has_corners:
        solver = newton_from_few_rows if affordable else gradient_descent
        return solver(objective, start, tolerance, max_iterations)
    if len(objective.X) * start.size**2 <= 8e5:  # Newton's few steps take no longer than the many of L-BFGS
        return (newton_from_few_rows if affordable else lbfgs)(objective, start, tolerance, max_iterations)
    soon = 150  # beyond that many steps, columns are too nearly dependent for L-BFGS
    first = lbfgs(objective, start, tolerance, min(soon, max_iterations))
    if first.converged or max_iterations <= soon:
        return first
    minimum = (newton if affordable else lbfgs)(objective, first.at.w, tolerance, max_iterations - soon)
    return replace(minimum, iterations=first.iterations + minimum.iterations)


OTHERS = "another solver, or a larger max_iterations or l2, would help"
SOLVERS = {
    "auto": Solver(_choose),
    "newton": Solver(newton_from_few_rows),
    "l-bfgs": Solver(lbfgs, takes_corners=False),
    "gradient-descent": Solver(gradient_descent, OTHERS, needs_bound=True),
    "sgd": Solver(stochastic_gradient_descent, OTHERS, needs_bound=True),
}
