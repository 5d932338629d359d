"""How rows lie around the centres of their groups, and how near they are to the next group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows

DECIMALS = 9
"""Sizes and centres of groups that agree to so many decimals are equal."""
COMPARED_AT_MOST = 5_000
"""Rows whose silhouettes are computed; of more rows, this many are taken at even steps."""
BLOCK_CELLS = 4_000_000
FEW_GROUPS = 30


def centres(X: Array, group: Codes, groups: int, weights: Array) -> Array:
    """The weighted mean row of each group; of an empty one NaN."""
    totals = np.bincount(group, weights=weights, minlength=groups)
    sums = (_sums_of_few if groups <= FEW_GROUPS else _sums_of_many)(X, group, groups, weights)
    return np.divide(sums, totals[:, None], out=np.full_like(sums, np.nan), where=totals[:, None] > 0)


def largest_first(X: Array, group: Codes, groups: int, weights: Array) -> Rows:
    """The groups from the heaviest to the lightest; of equals, by their centres, column by column.

    Numbered so, they do not depend on how they were found.
    """
    totals = np.bincount(group, weights=weights, minlength=groups)
    middles = np.round(centres(X - X.mean(axis=0), group, groups, weights), DECIMALS)
    return np.lexsort((*middles.T[::-1], -np.round(totals / totals.max(), DECIMALS)))


def _sums_of_few(X: Array, group: Codes, groups: int, weights: Array) -> Array:
    """By a matrix product, which is faster as long as there are few groups."""
    shares = np.zeros((groups, len(X)))
    shares[group, np.arange(len(X))] = weights
    return np.asarray(shares @ X)


def _sums_of_many(X: Array, group: Codes, groups: int, weights: Array) -> Array:
    """Column by column, in memory that grows with the rows alone."""
    columns = (np.bincount(group, weights=weights * column, minlength=groups) for column in X.T)
    return np.stack(tuple(columns), axis=1)


def around_centres(X: Array, group: Codes, groups: int, weights: Array) -> tuple[Array, Array]:
    """The squared distance of each row to its group's centre, and of that centre to the centre of all rows."""
    X = X - np.average(X, axis=0, weights=weights) if len(X) else X
    mine = centres(X, group, groups, weights)[group]
    return ((X - mine) ** 2).sum(axis=1), (mine**2).sum(axis=1)


def compared_rows(n: int) -> Rows:
    """The rows whose silhouettes are computed."""
    if n <= COMPARED_AT_MOST:
        return np.arange(n)
    return np.linspace(0, n - 1, COMPARED_AT_MOST).astype(np.intp)


def silhouettes(X: Array, group: Codes, groups: int) -> Array:
    """Rousseeuw's (b − a) / max(a, b) of each row compared, NaN for the others; 0 for a row alone in its group.

    a is the mean distance to the other rows of the own group, b the smallest mean distance to another group.
    """
    found = np.full(len(X), np.nan)
    sizes = np.bincount(group, minlength=groups)
    if (sizes > 0).sum() < 2:
        return found
    X = X - X.mean(axis=0)
    squares = (X**2).sum(axis=1)
    membership = np.eye(groups)[group]
    rows = compared_rows(len(X))
    step = max(1, BLOCK_CELLS // max(1, len(X)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        squared = squares[block, None] - 2.0 * X[block] @ X.T + squares
        squared[np.arange(len(block)), block] = 0.0
        sums = np.sqrt(np.maximum(squared, 0.0)) @ membership
        found[block] = _silhouettes_of(sums, group[block], sizes)
    return found


def _silhouettes_of(sums: Array, own: Codes, sizes: NDArray[np.intp]) -> Array:
    """From summed distances to each group."""
    places = np.arange(len(own))
    others = sizes[own] - 1
    near = np.divide(sums[places, own], others, out=np.zeros(len(own)), where=others > 0)
    apart = np.divide(sums, sizes, out=np.full_like(sums, np.inf), where=sizes > 0)
    apart[places, own] = np.inf
    next_group = apart.min(axis=1)
    larger = np.maximum(near, next_group)
    value = np.divide(next_group - near, larger, out=np.zeros(len(own)), where=larger > 0)
    return np.where(others > 0, value, 0.0)
