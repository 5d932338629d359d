"""Sums over the pairs of a group that never lists them: rows × log₂(levels) instead of rows².

A pair is two rows of one group that differ in a value. What a row adds up over its partners
depends on two orders only, that of the value and that of a score, so that one sweep along the score for each
binary digit of the value is enough. (Joachims 2006 and Lee & Lin 2014 sweep as well, with a count for each level
or with a tree.)
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows


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
