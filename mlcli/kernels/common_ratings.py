"""Ratings that two users have of the same items, or two items of the same users: sums over them, and the answers.

An owner is a user and a thing an item, or the other way round.
"""

from __future__ import annotations

from numba import njit

from mlcli.core.tables import Array, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def sums_in_common(mine: Rows, values: Array, starts: Rows, owners: Rows, ratings: Array, sums: Array) -> None:
    """Add up n, Σx, Σy, Σx², Σy², Σxy for each owner (a column of ``sums``).

    They are over what it has rated of what I have: ``mine``, with my ratings x in ``values``.

    ``owners`` and ``ratings`` from starts[j] to starts[j + 1] are those of what has the number j.
    """
    for index in range(len(mine)):
        x = values[index]
        for at in range(starts[mine[index]], starts[mine[index] + 1]):
            owner, y = owners[at], ratings[at]
            sums[0, owner] += 1.0
            sums[1, owner] += x
            sums[2, owner] += y
            sums[3, owner] += x * x
            sums[4, owner] += y * y
            sums[5, owner] += x * y


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_raters(
    order: Rows, closeness: Array, starts: Rows, rated: Rows, deviations: Array, k: int, sums: Array
) -> None:
    """Add up, for each thing (a column of ``sums``): Σ s d, Σ s and n over the k closest that have rated it.

    ``order`` is from the closest on; ``rated`` and ``deviations`` from starts[o] to starts[o + 1] are those of o.
    What is as close as the k-th counts too; the last row of ``sums`` is how close the last of them is.
    """
    for owner in order:
        near = closeness[owner]
        for at in range(starts[owner], starts[owner + 1]):
            thing = rated[at]
            if sums[2, thing] >= k and near < sums[3, thing]:
                continue
            sums[0, thing] += near * deviations[at]
            sums[1, thing] += near
            sums[2, thing] += 1.0
            sums[3, thing] = near
