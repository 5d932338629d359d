"""Which stored rows steps no longer than a limit link: a forest of sets (Tarjan 1975) on a k-d tree.

What links rows by a matrix of distances is beside it in ``tests/kernels/neighbours/test_linking.py``.
"""

from __future__ import annotations

from mlcli.core.tables import Array, Flags, Rows
from mlcli.kernels.neighbours.kd_tree import outside_box, squared
from mlcli.kernels.without_counting import compiled, inlined


@compiled
def link(
    rows: Array, cells: Array, first: Rows, last: Rows, low: Array, high: Array, limit: float,
    parent: Rows, joined: Flags, waiting: Rows, far: Array,
) -> None:  # fmt: skip
    """Join the sets of all pairs of rows within the squared limit of each other.

    ``rows`` are in the order of the tree, and ``cells`` are their columns; every row is its own ``parent`` at
    first. A node is ``joined`` once all of its rows are in one set: it is not looked into for a row of that set.
    """
    for place in range(len(rows)):
        waiting[0], size = 0, 1
        while size:
            size -= 1
            v = waiting[size]
            if last[v] <= place or (joined[v] and root(parent, first[v]) == root(parent, place)):
                continue
            if outside_box(rows, place, low, high, v) > limit:
                continue
            if 2 * v + 2 < len(first):
                waiting[size], waiting[size + 1] = 2 * v + 1, 2 * v + 2
                size += 2
                continue
            squared(rows, place, cells, first[v], last[v], far)
            for other in range(first[v], last[v]):
                if far[other - first[v]] <= limit:
                    parent[root(parent, other)] = root(parent, place)
            note_joined(parent, joined, first, last, v)


@inlined
def root(parent: Rows, place: int) -> int:
    """The row that stands for the set of a row; paths to it are halved on the way."""
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


@inlined
def note_joined(parent: Rows, joined: Flags, first: Rows, last: Rows, v: int) -> None:
    """Note whether all rows of a leaf are in one set, and of the nodes above it whose halves are."""
    own = root(parent, first[v])
    for place in range(first[v], last[v]):
        if root(parent, place) != own:
            return
    joined[v] = True
    while v > 0:
        v = (v - 1) // 2
        if not (joined[2 * v + 1] and joined[2 * v + 2]):
            return
        if root(parent, first[2 * v + 1]) != root(parent, first[2 * v + 2]):
            return
        joined[v] = True
