"""Holte's discretisation: numbers are cut into buckets in which one class leads by enough rows."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array


def cuts_between(values: Array, totals: Array, min_bucket: float) -> Array:
    """Where to cut sorted distinct ``values`` with their class ``totals`` (n × K).

    Of classes that tie inside a bucket the one with the first column leads.
    """
    ends = _without_equal_neighbours(_bucket_ends(totals, min_bucket), totals)[:-1]
    below, above = values[ends - 1], values[ends]
    halfway = below + (above - below) / 2
    # Between two neighbouring floats there is no number halfway; the lower one then is the cut.
    return np.asarray(np.where(halfway < above, halfway, below))


def _bucket_ends(totals: Array, min_bucket: float) -> NDArray[np.intp]:
    """The position after the last value of each bucket.

    A bucket takes values until one class has ``min_bucket`` rows in it, and then those that follow as long as the
    same class leads in each of them. The last bucket is what is left over.
    """
    reached = np.concatenate([np.zeros((totals.shape[1], 1)), np.cumsum(totals.T, axis=1)], axis=1).tolist()
    leaders = totals.argmax(axis=1).tolist()
    ends, end = [], 0
    while end < len(totals):
        start = end
        filled = min(bisect_left(of_class, of_class[start] + min_bucket, start) for of_class in reached)
        # Beside huge weights a bucket's few rows may vanish; it takes a value all the same.
        end = min(max(filled, start + 1), len(totals))
        gained = [of_class[end] - of_class[start] for of_class in reached]
        leader = gained.index(max(gained))
        while end < len(totals) and leaders[end] == leader:
            end += 1
        ends.append(end)
    return np.array(ends, np.intp)


def _without_equal_neighbours(ends: NDArray[np.intp], totals: Array) -> NDArray[np.intp]:
    """The ends that are left when neighbouring buckets with the same leader become one."""
    if len(ends) == 0:
        return ends
    leaders = np.add.reduceat(totals, np.concatenate([[0], ends[:-1]]), axis=0).argmax(axis=1)
    return np.asarray(ends[np.append(leaders[1:] != leaders[:-1], True)])
