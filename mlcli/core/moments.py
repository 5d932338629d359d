"""Sums over columns: means, variances, extremes, quantiles, entropy, pairs; and limits of what is learned from.

Pairs of a group are counted without listing them: rows × log₂(levels) instead of rows².

Rows are refused that no method can learn from: none at all, no weight, or numbers too extreme to be squared. A
float holds 1e-308 to 1e308, and methods multiply squares of cells, weights and numbers of rows. Beyond the limits
a variance becomes infinite or 0, and a column that matters would silently count as constant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlcli.core import ROUNDING
from mlcli.core.errors import DataError, FitError, UsageError
from mlcli.core.names import bytes_in, number_in, size
from mlcli.core.tables import Array, Codes, Flags, Rows, Table, blocks_of

if TYPE_CHECKING:
    from mlcli.core.model import Model
    from mlcli.core.rows import RowsOfTable


def of_lower(value: Array, group: Codes, score: Array, margin: float, summed: Array) -> Array:
    """For each row a, the sum over the rows b below it in value whose score is above that of a less the margin."""
    return _swept(dense_ranks(value), group, -score, margin - score, summed)


def of_higher(value: Array, group: Codes, score: Array, margin: float, summed: Array) -> Array:
    """For each row b, the sum over the rows a of the same pairs."""
    level = dense_ranks(value)
    return _swept(level.max(initial=0) - level, group, score - margin, score, summed)


def pair_weight(value: Array, group: Codes, weights: Array) -> Array:
    """For each row, what its pairs with rows below it in value weigh together; a pair weighs the product."""
    none = np.zeros(len(value))
    return np.asarray(weights * of_lower(value, group, none, np.inf, weights[:, None])[:, 0])


def pair_balance(value: Array, group: Codes, score: Array, weights: Array) -> Array:
    """For each row, the weight of its pairs with rows below it that the score orders alike, less the others."""
    alike, unlike = (of_lower(value, group, by, 0.0, weights[:, None])[:, 0] for by in (-score, score))
    return np.asarray(weights * (alike - unlike))


def share_in_order(value: Array, group: Codes, score: Array, weights: Array) -> float:
    """The share of all pairs that a score orders as their value does; equal scores count half."""
    balance = pair_balance(value, group, score, weights).sum()
    return float((balance / pair_weight(value, group, weights).sum() + 1) / 2)


def dense_ranks(value: Array) -> Rows:
    """The rank of each value among the different ones."""
    return np.asarray(np.unique(value, return_inverse=True)[1])


def _swept(level: Rows, group: Codes, stands: Array, asks: Array, summed: Array) -> Array:
    """For each row, the sum over the rows of its group at a lower level that stand before where it asks."""
    count = len(level)
    at_once_asking_first = np.repeat([1, 0], count)
    order = np.lexsort((at_once_asking_first, np.concatenate([stands, asks])))
    row, asking = order % count, order >= count
    before = _before(level[row], group[row], np.where(asking[:, None], 0.0, summed[row]))
    result = np.empty(summed.shape)
    result[row[asking]] = before[asking]
    return result


def _before(level: Rows, group: Codes, values: Array) -> Array:
    """For each entry, the sum of the values of earlier entries of its group at a lower level.

    Two levels differ first in one binary digit: there, the lower one has 0, the higher one 1.
    """
    result = np.zeros(values.shape)
    for digit in range(int(level.max(initial=0)).bit_length()):
        order = np.lexsort((level >> (digit + 1), group))
        upper = (level[order] >> digit & 1).astype(bool)
        so_far = np.cumsum(np.where(upper[:, None], 0.0, values[order]), axis=0)
        # where the run of entries with the same group and higher digits begins
        groups, higher = group[order], level[order] >> (digit + 1)
        begins: Flags = np.append(True, (np.diff(groups) != 0) | (np.diff(higher) != 0))[: len(groups)]
        first = np.maximum.accumulate(np.where(begins, np.arange(len(groups)), 0))
        earlier = np.where(first[:, None] > 0, so_far[first - 1], 0.0)
        result[order[upper]] += (so_far - earlier)[upper]
    return result


SIDE_BY_SIDE = 64
"""NumPy is several times as fast on so many short rows laid side by side."""
ROUNDING_OF_SQUARES = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Moments:
    """One entry per column; a column without cells has weight, mean and variance 0."""

    weight: Array
    mean: Array
    variance: Array


class WeightedMoments(NamedTuple):
    """Weight, mean, and Σ w (x − mean)² of each column (last axis)."""

    weight: Array
    mean: Array
    squares: Array

    def moments(self, ddof: int) -> Moments:
        """The moments; ``ddof`` is taken off the weight that the variance is divided by."""
        return Moments(self.weight, self.mean, quotient(self.squares, self.weight - ddof))

    def together(self) -> WeightedMoments:
        """Those of all rows, from those of several groups (first axis; Chan, Golub & LeVeque 1979)."""
        weight = self.weight.sum(axis=0)
        mean = quotient((self.weight * self.mean).sum(axis=0), weight)
        squares = self.squares.sum(axis=0) + (self.weight * (self.mean - mean) ** 2).sum(axis=0)
        return WeightedMoments(weight, mean, _without_rounding(squares, weight, mean))


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    return _of_rows(numbers, weights, _weighted_rows(weights)).moments(ddof)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _of_rows(numbers, weights, _weighted_rows(weights)).mean


def spreads(numbers: Array, weights: Array, group: Codes, groups: int) -> WeightedMoments:
    """The moments of each group of rows (groups × columns)."""
    # NumPy sorts 16-bit integers by their digits, which is faster
    order = np.argsort(group.astype(np.int16) if groups < 2**15 else group, kind="stable")
    rows = order if (weights > 0).all() else order[weights[order] > 0]
    ends = np.searchsorted(group[rows], np.arange(groups + 1)).tolist()
    parts = [_of_rows(numbers, weights, rows[start:end]) for start, end in pairwise(ends)]
    return WeightedMoments(*map(np.array, zip(*parts, strict=True)))


def _weighted_rows(weights: Array) -> Rows | slice:
    return slice(None) if (weights > 0).all() else np.flatnonzero(weights > 0)


def _of_rows(numbers: Array, weights: Array, rows: Rows | slice) -> WeightedMoments:
    """The moments of some rows."""
    weights = weights[rows]
    if not len(weights):
        return WeightedMoments(*np.zeros((3, numbers.shape[1])))
    # Cells are measured from the first number of each column: a constant column has it as its exact mean.
    origin = numbers[0 if isinstance(rows, slice) else rows[0]].copy()
    for column in np.flatnonzero(np.isnan(origin)):
        cells = numbers[rows, column]
        origin[column] = cells[np.isnan(cells).argmin()]
    origin = _zero_for_nan(origin)
    weight, first, second = _sums_about(origin, numbers, weights, rows)
    # A first number more than 10 deviations from the mean costs digits: measure from the mean instead.
    if (first**2 > 100.0 * weight * (second - first * quotient(first, weight))).any():
        origin = origin + quotient(first, weight)
        weight, first, second = _sums_about(origin, numbers, weights, rows)
    shift = quotient(first, weight)
    mean, squares = np.where(weight > 0, origin + shift, 0.0), np.maximum(second - first * shift, 0.0)
    return WeightedMoments(weight, mean, _without_rounding(squares, weight, mean))


def _without_rounding(squares: Array, weight: Array, mean: Array) -> Array:
    """Sums of squares, with 0 for those that are no more than the rounding of the mean."""
    squares[squares <= weight * (ROUNDING_OF_SQUARES * mean) ** 2] = 0.0
    return squares


def _sums_about(origin: Array, numbers: Array, weights: Array, rows: Rows | slice) -> tuple[Array, Array, Array]:
    """The weight of the cells of each column, and weighted sums of cells less ``origin`` and of their squares."""
    total, first, second = np.zeros((3, len(origin)))
    for block in blocks_of(len(weights), len(origin), cells=2**16):
        weight = weights[block]
        if isinstance(rows, slice):
            cells = less_row(numbers[block], origin)
        else:
            copied = numbers[rows[block]]
            cells = less_row(copied, origin, out=copied)
        sums = weight @ cells
        if np.isnan(sums).any():
            gaps = np.isnan(cells)
            cells[gaps] = 0.0
            total -= weight @ gaps
            sums = weight @ cells
        total += weight.sum()
        first += sums
        cells *= cells
        second += weight @ cells
    return total, first, second


def extent(numbers: Array, weights: Array) -> tuple[Array, Array]:
    """The smallest and the largest number of each column; both 0 where there is none."""
    counted = weights > 0
    cells = numbers if counted.all() else numbers[counted]
    if not cells.size:
        return np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    whole = len(cells) - len(cells) % SIDE_BY_SIDE
    low, high = cells, cells
    if whole:
        wide = cells[:whole].reshape(-1, SIDE_BY_SIDE * cells.shape[1])
        low = np.concatenate([np.fmin.reduce(wide, axis=0).reshape(SIDE_BY_SIDE, -1), cells[whole:]])
        high = np.concatenate([np.fmax.reduce(wide, axis=0).reshape(SIDE_BY_SIDE, -1), cells[whole:]])
    return _zero_for_nan(np.fmin.reduce(low, axis=0)), _zero_for_nan(np.fmax.reduce(high, axis=0))


def _zero_for_nan(row: Array) -> Array:
    return np.where(np.isnan(row), 0.0, row)


def less_row(numbers: Array, row: Array, out: Array | None = None) -> Array:
    """Every row less one, many of them side by side."""
    whole, width = len(numbers) - len(numbers) % SIDE_BY_SIDE, SIDE_BY_SIDE * numbers.shape[1]
    if len(numbers) < 4 * SIDE_BY_SIDE or not (width and numbers.flags.c_contiguous):
        return np.asarray(np.subtract(numbers, row, out=out))
    left = np.empty_like(numbers) if out is None else out
    wide_row = np.tile(row, SIDE_BY_SIDE)
    np.subtract(numbers[:whole].reshape(-1, width), wide_row, out=left[:whole].reshape(-1, width))
    np.subtract(numbers[whole:], row, out=left[whole:])
    return left


def from_origin(numbers: Array) -> tuple[Array, Array]:
    """Numbers less one near those of each column, and that; it is 0 where they are near enough to 0."""
    # The median of 99 rows is not moved by a few far-off cells, and costs nothing.
    subset = numbers[:: max(1, -(-len(numbers) // 99))]
    known = ~np.isnan(subset)
    if known.all() and len(subset):
        middle = np.partition(subset, len(subset) // 2, axis=0)[len(subset) // 2]
    else:
        columns = zip(subset.T, known.T, strict=True)
        middle = np.array([np.median(cells[present]) if present.any() else 0.0 for cells, present in columns])
    apart = np.where(known, subset - middle, 0.0)
    squares = np.einsum("ij,ij->j", apart, apart) / np.maximum(known.sum(axis=0), 1)
    # A column more than 100 deviations from 0 would lose digits.
    origin = np.where(middle**2 > 100.0**2 * squares, middle, 0.0)
    return (less_row(numbers, origin), origin) if origin.any() else (numbers, origin)


def is_constant(low: Array, high: Array) -> Flags:
    """Which columns hold at most one number, give or take the rounding of its last digits."""
    return np.asarray(high - low <= ROUNDING_OF_SQUARES * np.maximum(np.abs(low), np.abs(high)))


def quotient(top: Array, bottom: Array) -> Array:
    """The quotient, 0 where what is divided by is not above 0."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def quantiles(values: Array, weights: Array, shares: Array | float) -> Array:
    """For each share the value with that much of the weight below it; the middle between two of them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    goal, last = shares * below[-1], len(values) - 1
    low = np.searchsorted(below, goal * (1 - ROUNDING), side="left").clip(0, last)
    high = np.searchsorted(below, goal * (1 + ROUNDING), side="right").clip(0, last)
    return np.asarray(values[order[low]] / 2 + values[order[high]] / 2)


def summed_from_the_top(scores: Array | Rows, *weights: Array) -> tuple[Array, list[Array]]:
    """The different scores in descending order; and for each weighting, the weight of the rows that reach each.

    The last axis of a weighting is that of the rows.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last_of_equals = np.flatnonzero(np.append(falling[1:] < falling[:-1], True)[: len(falling)])
    sums = [np.cumsum(weighting[..., order], axis=-1)[..., last_of_equals] for weighting in weights]
    return np.asarray(falling[last_of_equals]), sums


def entropy(shares: Array) -> Array:
    """−Σ p ln p of each row of shares, or of a single row, in nats."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=-1))


def entropy_of_counts(counts: Array) -> float:
    """The entropy of the shares that counts, or weights, make; 0 where there are none."""
    total = counts.sum()
    return float(entropy(counts.ravel() / total)) if total > 0 else 0.0


def mutual_information(joint: Array) -> float:
    """The mutual information in nats of two variables, or its mean given a third: counts a × b (× c)."""
    joint = joint.reshape(*joint.shape[:2], -1)
    a, b, c = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True), joint.sum(axis=(0, 1))
    total = c.sum()
    ratio = np.divide(joint * c, a * b, out=np.ones_like(joint), where=joint > 0)
    return max(0.0, float((joint * np.log(ratio)).sum() / total)) if total > 0 else 0.0


NUMBERS = (1e-100, 1e100)
WEIGHTS = (1e-30, 1e30)
VARIABLE = "MLCLI_MEMORY"
COPIES = 4
"""How many copies of its training rows a method holds unless it processes them in blocks."""


def refuse_unlearnable(data: RowsOfTable) -> None:
    """Refuse training rows that no method can learn from."""
    if len(data) == 0:
        raise FitError("there are no training rows")
    if data.weight is not None:
        if not (data.weight > 0).any():
            raise FitError("every training row has weight 0")
        _refuse("the weights", float(data.weight.max()), WEIGHTS)
    refuse_extremes(data.table, data.weights)


def memory() -> int:
    """How many bytes of memory may be used: by the environment variable, else all of the machine."""
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 33
    result = bytes_in(f"{stated}B" if number_in(stated) else stated)
    if result is None:
        raise UsageError(f"{VARIABLE} is no amount of memory: '{stated}'", hint="such as 4GiB or 800 MB")
    return result


def refuse_beyond_memory(model: Model, table: Table, bytes_per_pair: float) -> None:
    """Refuse a table if its copies, or its pairs of rows, would not fit into memory."""
    pairs = bytes_per_pair * len(table) ** 2
    hint = "learn from fewer rows: the step sample-rows takes a share of them"
    refuse_size(f"{model.name} needs about {{}} of memory for the pairs of {len(table):,} rows", pairs, hint)
    refuse_copies(model.name, table, 1 if model.accepts.large else COPIES)


def refuse_copies(who: str, table: Table, copies: int) -> None:
    """Refuse this many copies of a table if memory does not hold them."""
    what = f"{who} copies its {len(table):,} rows, and needs about {{}} of memory for that"
    from mlcli.core.abilities import methods_for_large_tables

    needed = copies * (table.numbers.nbytes + table.codes.nbytes)
    if needed > memory():
        methods = ", ".join(methods_for_large_tables())
        hint = f"learn from fewer rows, or use a method that takes them in blocks: {methods}"
        refuse_size(what, needed, hint)


def refuse_size(what: str, needed: float, hint: str) -> None:
    """Refuse to use more memory than there is; ``what`` has braces for the size."""
    if needed > (there := memory()):
        message = f"{what.format(size(needed))}; there are {size(there)} ({VARIABLE} may say otherwise)"
        raise FitError(message, hint=hint)


def refuse_extremes(table: Table, weights: Array) -> None:
    """Refuse a table whose columns have absolute maxima beyond the limits; rows of weight 0 are ignored."""
    if _plainly_moderate(table.numbers, weights):
        return
    low, high = extent(table.numbers, weights)
    for column, largest in zip(table.number_columns, np.maximum(np.abs(low), np.abs(high)).tolist(), strict=True):
        _refuse(f"column '{column.name}'", largest, NUMBERS)


def refuse_unanswerable(missing: Flags) -> None:
    """Refuse rows (n × anything) with missing values that a model has no answer for."""
    if missing.any():
        indices = np.flatnonzero(missing.reshape(len(missing), -1).any(axis=1))
        rows = ", ".join(str(row + 1) for row in indices[:10])
        which = f"{len(indices)} of {len(missing)} rows, the first of them: {rows}"
        what = f"the model has no answer for {which if len(missing) > 1 else 'the row'}"
        raise DataError(what, hint="fill their empty cells, or train with a step that does: steps: [impute]")


def _plainly_moderate(numbers: Array, weights: Array) -> bool:
    """Whether a quick check rules out columns beyond the limits: the sum of squares, and a few rows."""
    least, most = NUMBERS
    flat = numbers.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.dot(flat, flat) <= most**2:
            return False
    subset = numbers[np.flatnonzero(weights[:8] > 0)]  # mostly enough for a number that is not too small
    return bool((np.abs(subset).max(axis=0, initial=0.0) >= least).all())


def refuse_extreme_target(name: str, y: Array, weights: Array) -> None:
    """Refuse a target that is beyond the limits."""
    if _plainly_moderate(y[:, None], weights):
        return
    low, high = extent(y[:, None], weights)
    _refuse(f"the target '{name}'", float(max(abs(low[0]), abs(high[0]))), NUMBERS)


def _refuse(what: str, size: float, limits: Iterable[float]) -> None:
    least, most = limits
    if size != 0 and not least <= size <= most:
        verb = "go" if what == "the weights" else "goes"
        raise FitError(
            f"{what} {verb} up to {size:.3g}, too far from 1 to be multiplied",
            hint=f"choose a unit in which the largest is between {least:g} and {most:g}",
        )


def all_moderate(data: RowsOfTable) -> bool:
    """Whether every selection of the rows is within the limits."""
    target = np.asarray(getattr(data, "y", ()), np.float64)
    checked = ((data.table.numbers, NUMBERS), (data.weights, WEIGHTS), (target, NUMBERS))
    return all(_moderate(values, limits) for values, limits in checked)


def _moderate(values: Array, limits: tuple[float, float]) -> bool:
    sizes = np.abs(values)
    least, most = limits
    if sizes.size and least <= sizes.min() and sizes.max() <= most:  # no number is 0 or missing
        return True
    smallest = np.min(sizes, where=sizes > 0, initial=np.inf)
    return bool(smallest >= least) and not bool((sizes > most).any())
