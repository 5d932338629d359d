"""Ranking SVM: a weighted sum of the columns that puts the pairs of each group in order, with a margin.

Formula:
    s(x) = w·x. Minimise ½‖w‖² + C Σ max(0, 1 − (s_a − s_b)) over all pairs of one group with a more relevant than
    b, or the same with the square of each max (``loss: squared-hinge``). With ``option`` naming a column, each of
    its levels o has weights of its own: s(x, o) = w_o·x, with one more for the option itself.

Assumes:
    One weight vector (for each option) fits all groups. The penalty is fair only between columns of one scale. A
    column that is the same for all rows of every group cannot order them, and gets the weight 0.

Cost:
    `squared-hinge` takes some 10 steps of rows × p × (p + log₂ levels), whatever the number of pairs; `hinge`
    takes 10 to 50 steps of m·p², m being the number of pairs, up to Σ over groups of (its rows)²/2. Of more than
    about 250,000 pairs only those near their margin are listed at once, in several rounds. Memory does not grow
    with the number of pairs.

Choices:
    Section 5.5.6 of the notes, "the loss is calculated on each pair": the order a > b > c > d is 6 pairs. The
    notes have a weight vector for each of a fixed set of options; that is ``option: COLUMN``, with which columns
    that are the same for all rows of a group (who chooses) can distinguish its options. Without it one vector
    serves all, and a nominal column that names the option gives each option a constant score. There is no
    intercept, since it would cancel. Pairs of equally relevant rows are left out. A pair counts the product of
    the weights of its rows, and every pair counts alike, so that a group of 20 rows matters more than one of 2.
    The hinge of Joachims 2002 is the default; either loss is minimised to a proven gap: ‖w − w*‖² is at most
    twice that gap.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import of_higher, of_lower, pair_weight, share_in_order
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table, blocks_of
from mlcli.engines.interior_point import PiecewiseLinear, PiecewiseMinimum, interior_point
from mlcli.engines.linear_objective import Iterate, Penalty
from mlcli.engines.solvers import newton
from mlcli.tasks.ranking import GroupedRows, Ranker

WINDOW = 1 << 19
"""As many pairs of near rows are listed at once; at most half of them are pairs to be ordered."""
ROUGH = 1e-4
"""The precision of problems whose solution is only a step on the way."""


@register("ranking-svm", reference="Herbrich, Graepel & Obermayer 2000; Joachims 2002")
class RankingSVM(Ranker):
    """Pairs as rows of a support vector machine."""

    C: float = param(1.0, "cost of a pair for each unit below its margin", gt=0, tune=(1e-3, 1e3))
    loss: str = param("hinge", "the loss of a pair below its margin", choices=("hinge", "squared-hinge"))
    option: str | None = param(None, "nominal column whose levels have their own weights")
    tolerance: float = param(1e-12, "the duality gap, as a share of the objective, at which to stop", gt=0)
    max_iterations: int = param(200, "maximum number of steps", ge=1)

    weights_: Array = learned()
    """A weight for each column; or for each option, then for the product of each column with each option."""
    pairs_: int = learned()
    in_order_: float = learned()
    """The share of the training pairs, by weight, that are in the right order."""
    objective_: float = learned()
    gap_: float = learned()
    iterations_: int = learned()

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Minimise the loss of all pairs."""
        data = data.counted()
        rows = PairSums.of(data, self._features(data.table), self.C)
        minimise = least_hinge if self.loss == "hinge" else least_squared_hinge
        minimum = minimise(rows, self.tolerance, self.max_iterations)
        if minimum.gap > self.tolerance * minimum.value:
            reached = f"stopped after {minimum.iterations} steps with a gap of {minimum.gap / minimum.value:.1e}"
            message = f"{self.id} {reached}, above the tolerance {self.tolerance:g}"
            warnings.warn(f"{message}; columns of one scale or a smaller C would help", MlcliWarning, stacklevel=2)
        self.weights_, self.objective_, self.gap_ = minimum.w, minimum.value, minimum.gap
        self.iterations_ = minimum.iterations
        self.pairs_ = int(pair_weight(rows.relevance, rows.group, np.ones(len(data))).sum())
        self.in_order_ = share_in_order(rows.relevance, rows.group, rows.X @ minimum.w, rows.weights)

    def score_rows(self, table: Table) -> Array:
        """w·x, summed row by row: equal rows get equal scores wherever they stand."""
        return np.asarray((self._features(table) * self.weights_).sum(axis=1))

    def _option_columns(self) -> tuple[list[int], list[int]]:
        """The indices of the columns that indicate options, and of the others."""
        indicators = [column.name.startswith(f"{self.option}=") for column in self.columns_]
        return np.flatnonzero(indicators).tolist(), np.flatnonzero(np.logical_not(indicators)).tolist()

    def _features(self, table: Table) -> Array:
        """The columns; with options the options themselves, then each other column times each option."""
        if self.option is None:
            return table.numbers
        indicators, others = self._option_columns()
        if not indicators:
            message = f"{self.id}: there is no nominal column '{self.option}' of options"
            hint = "option names the column whose levels are ranked, such as the mode of travel"
            raise FitError(message, hint=hint)
        options = table.numbers[:, indicators]
        if len(indicators) == 1:
            options = np.hstack([1 - options, options])
        crossed = table.numbers[:, others, None] * options[:, None, :]
        return np.hstack([options, crossed.reshape(len(table), -1)])

    def explain(self) -> findings.Explanation:
        """The weight of each column (for each option), and how the training pairs lie."""
        names = [column.name for column in self.columns_]
        header: tuple[str, ...] = ("column", "weight")
        rows: list[tuple[findings.Entry, ...]] = []
        if self.option is None:
            rows.extend(zip(names, self.weights_.tolist(), strict=True))
        else:
            indicators, others = self._option_columns()
            options = [names[j] for j in indicators]
            if len(options) == 1:
                options = [f"not {options[0]}", *options]
            header = ("column", *options)
            by_column = self.weights_.reshape(-1, len(options)).tolist()
            lines = zip(["(option)", *(names[j] for j in others)], by_column, strict=True)
            rows.extend((name, *weights) for name, weights in lines)
        note = "What one unit more (a standard deviation, if standardised) adds to the score of a row."
        pairs = (
            f"{self.pairs_} training pairs, {100 * self.in_order_:.1f} % of them in the right order",
            f"{self.loss}: objective {self.objective_:.6g} after {self.iterations_} steps, "
            f"at most {self.gap_:.1e} above the least",
        )
        return findings.Table("Weights", header, tuple(rows), note=note), findings.Lines("Pairs", pairs)

    def check_learned(self) -> None:
        """One weight per column, or per option and column."""
        empty = Table.of([(column, np.empty(0)) for column in self.columns_], 0)
        if np.shape(self.weights_) != (self._features(empty).shape[1],):
            raise ValueError("weights that do not fit the columns")


# The slack of a pair (a, b) is 1 − (s_a − s_b) where that is above 0. The squared hinge needs sums of slacks only
# and lists no pairs.


@dataclass(frozen=True, eq=False)
class PairSums:
    """½‖w‖² + c × the slacks of the pairs of training rows, or their squares, added up per row."""

    X: Array
    relevance: Array
    group: Codes
    weights: Array
    c: float

    @classmethod
    def of(cls, data: GroupedRows, numbers: Array, c: float) -> Self:
        """A common offset of all rows cancels in pairs, and would only cost digits."""
        return cls(numbers - numbers.mean(axis=0), data.relevance, data.group, data.weights, c)

    @cached_property
    def penalty(self) -> Penalty:
        """½‖w‖²."""
        width = self.X.shape[1]
        return Penalty(np.ones(width), np.zeros(width))

    def at(self, w: Array) -> Iterate:
        """The objective of the squared hinge and its gradient."""
        score = self.X @ w
        powers = self._powers(score, 2)
        count, total, squares = self._lower(score, powers).T
        loss = float(self.weights @ (count * (1 - score) ** 2 + 2 * (1 - score) * total + squares))
        above, sum_above, _ = self._higher(score, powers).T
        pull = above * (1 + score) - sum_above - count * (1 - score) - total
        gradient = w + self.c * 2 * (self.weights * pull) @ self.X
        steepness = float(np.abs(gradient).max(initial=0.0))
        return Iterate(w, float(w @ w) / 2 + self.c * loss, gradient, score, steepness)

    def curvature(self, here: Iterate) -> Array:
        """The Hessian of the squared hinge."""
        below, above = (side(here.scores, self.weights[:, None])[:, 0] for side in (self._lower, self._higher))
        partners = self._lower(here.scores, self.weights[:, None] * self.X)
        own = (self.X * (self.weights * (below + above))[:, None]).T @ self.X
        crossed = (self.X * self.weights[:, None]).T @ partners
        return np.asarray(np.eye(len(here.w)) + 2 * self.c * (own - crossed - crossed.T))

    def gap(self, here: Iterate) -> float:
        """A bound on how far the objective of the squared hinge is above the least one."""
        return float(here.gradient @ here.gradient) / 2

    def reached(self, here: Iterate, fall: float, tolerance: float) -> bool:
        """Whether the gap is small beside the objective."""
        return self.gap(here) <= tolerance * here.value

    def hinge(self, w: Array) -> float:
        """The objective of the hinge."""
        score = self.X @ w
        count, total = self._lower(score, self._powers(score, 1)).T
        return float(w @ w / 2 + self.c * (self.weights @ (count * (1 - score) + total)))

    def line_within(self, score: Array, margin: float) -> tuple[Array, float]:
        """Slope and offset, as a function of w, of the slacks of the pairs within a smaller margin."""
        below = self._lower(score, self.weights[:, None], margin)[:, 0]
        above = self._higher(score, self.weights[:, None], margin)[:, 0]
        return np.asarray((self.weights * (above - below)) @ self.X), float(self.weights @ below)

    def _lower(self, score: Array, summed: Array, margin: float = 1.0) -> Array:
        """For each row, the sum over its partners below that have a slack."""
        return of_lower(self.relevance, self.group, score, margin, summed)

    def _higher(self, score: Array, summed: Array, margin: float = 1.0) -> Array:
        """For each row, the sum over its partners above that have a slack."""
        return of_higher(self.relevance, self.group, score, margin, summed)

    def _powers(self, score: Array, most: int) -> Array:
        """Weight × score⁰, weight × score¹, ...: what sums of slacks are made from."""
        return np.column_stack([self.weights * score**power for power in range(most + 1)])


def least_squared_hinge(rows: PairSums, tolerance: float, max_iterations: int) -> PiecewiseMinimum:
    """By Newton's method: the objective is made of parabolas, so that the last step is exact (Lee & Lin 2014)."""
    minimum = newton(rows, np.zeros(rows.X.shape[1]), tolerance, max_iterations)
    return PiecewiseMinimum(minimum.at.w, minimum.at.value, rows.gap(minimum.at), minimum.iterations)


# The hinge. Far from its margin a pair costs nothing, or a straight line that needs only sums. So the pairs near
# their margin are listed, the cost of the others is kept fixed, and the interior point method solves this problem.
# It lies nowhere above the true objective, so that its minimum is a proven lower bound, and a step towards it goes
# down. If all pairs fit, one round is the whole method.


def least_hinge(rows: PairSums, tolerance: float, max_iterations: int) -> PiecewiseMinimum:
    """Solve the window of listed pairs, step towards its solution, and list anew, until the gap is small.

    After a step that turned out too long, the next one is held back by ½ hold ‖w − here‖² (a proximal term); a
    window that is solved so proves no bound.
    """
    w, bound, hold, iterations = np.zeros(rows.X.shape[1]), 0.0, 0.0, 0
    if rows_in_window(rows.group, rows.X @ w, -np.inf, np.inf).size > WINDOW:
        w = least_squared_hinge(rows, ROUGH, max_iterations).w  # a start that needs no pairs
    objective = rows.hinge(w)
    for _ in range(200):
        window, holds_all = _window(rows, rows.X @ w)
        near = holds_all or objective - bound <= 0.05 * objective
        held = replace(window, curvature=window.curvature * (1 + hold), slope=window.slope - hold * w)
        minimum = interior_point(held, tolerance if near else ROUGH, max_iterations)
        iterations += minimum.iterations
        if holds_all:
            return replace(minimum, iterations=iterations)
        if hold == 0:
            bound = max(bound, minimum.value - minimum.gap)
        length = 1.0  # the whole step, half of it, ...: the first that lowers the objective
        while length > 2.0**-20 and (reached := rows.hinge(w + length * (minimum.w - w))) >= objective:
            length /= 2
        if length > 2.0**-20:
            w, objective = w + length * (minimum.w - w), reached
        else:
            length = 0.0
        # Without a way down, or held back very much, only rounding errors are left to win.
        enough = tolerance if length else max(tolerance, 1e-9)
        if (hold == 0 and objective - bound <= enough * objective) or hold > 1e15:
            break
        weaker = hold / 10 if hold > 10 else 0.0
        hold = weaker if length >= 2.0**-10 else max(hold, 1.0) * 10
    return PiecewiseMinimum(w, objective, max(objective - bound, 0.0), iterations)


def _window(rows: PairSums, score: Array) -> tuple[PiecewiseLinear, bool]:
    """The pairs near their margin, with the line of those with more slack; whether all pairs are listed."""
    reach = np.inf
    near = rows_in_window(rows.group, score, -reach, reach)
    while near.size > WINDOW and reach > 2.0**-20:
        reach = min(reach, 2.0) / 2
        near = rows_in_window(rows.group, score, 1 - reach, 1 + reach)
    pairs = pairs_in_window(rows.relevance, rows.weights, near)
    slope, offset = rows.line_within(score, 1 - reach)
    ones = np.ones(rows.X.shape[1])
    terms, costs = PairDifferences(rows.X, pairs), rows.c * pairs.weight
    window = PiecewiseLinear(terms, costs, np.ones(len(pairs)), ones, rows.c * slope, rows.c * offset)
    return window, bool(np.isinf(reach))


@dataclass(frozen=True, eq=False)
class RowsInWindow:
    """For each row, the rows of its group that lie near it by a score: those of ``order`` from first to last."""

    order: Rows
    first: Rows
    count: Rows

    @property
    def size(self) -> int:
        """Their number for all rows together."""
        return int(self.count.sum())


def rows_in_window(group: Codes, score: Array, least: float, most: float) -> RowsInWindow:
    """The rows whose score is lower by something between ``least`` and ``most``."""
    first = _rows_before(group, -score, least - score, before_equals=True)
    last = _rows_before(group, -score, most - score, before_equals=False)
    return RowsInWindow(np.lexsort((-score, group)), first, np.maximum(last - first, 0))


def _rows_before(group: Codes, places: Array, queries: Array, *, before_equals: bool) -> Rows:
    """For each row, how many rows, by group and place, stand before its query."""
    count = len(group)
    turn = np.repeat([1, 0] if before_equals else [0, 1], count)
    order = np.lexsort((turn, np.concatenate([places, queries]), np.tile(group, 2)))
    is_query = order >= count
    result = np.empty(count, np.intp)
    result[order[is_query] - count] = np.cumsum(~is_query)[is_query]
    return result


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Row positions of the higher and the lower row of each pair, and what the pair counts."""

    higher: Rows
    lower: Rows
    weight: Array
    """The product of the weights of its rows: rows of weight 2 and 3 are as many as 6 pairs of plain rows."""

    def __len__(self) -> int:
        return len(self.higher)


def pairs_in_window(value: Array, weight: Array, near: RowsInWindow) -> PreferencePairs:
    """The pairs of each row with those near it that have a lower value, without those of weight 0."""
    higher = np.repeat(np.arange(len(value)), near.count)
    along = np.arange(len(higher)) - np.repeat(np.cumsum(near.count) - near.count, near.count)
    lower = near.order[along + near.first[higher]]
    product = weight[higher] * weight[lower]
    kept = (value[higher] > value[lower]) & (product > 0)
    return PreferencePairs(higher[kept], lower[kept], product[kept])


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """The matrix whose row for a pair (a, b) is x_a − x_b; it is never written out as a whole."""

    X: Array
    pairs: PreferencePairs

    def times(self, w: Array) -> Array:
        """The difference of scores of each pair."""
        score = self.X @ w
        return np.asarray(score[self.pairs.higher] - score[self.pairs.lower])

    def back(self, value: Array) -> Array:
        """The transposed matrix times a value of each pair."""
        gained = np.bincount(self.pairs.higher, weights=value, minlength=len(self.X))
        lost = np.bincount(self.pairs.lower, weights=value, minlength=len(self.X))
        return np.asarray((gained - lost) @ self.X)

    def gram(self, blocks: Array) -> Array:
        """Σ weight × the products of two columns of a difference, block by block."""
        weight, total = blocks[:, 0, 0], np.zeros((self.X.shape[1],) * 2)
        for block in blocks_of(len(self.pairs), self.X.shape[1], 1 << 17):
            difference = self.X[self.pairs.higher[block]] - self.X[self.pairs.lower[block]]
            total += (difference * weight[block, None]).T @ difference
        return total
