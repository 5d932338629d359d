"""Which variables a graph says to be independent: separation without arrows, d-separation with arrows."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mlcli.core.tables import Flags


def cycle_in(arrows: Flags) -> list[int]:
    """The variables of a cycle, the first again at the end; none in a graph without cycles.

    ``arrows`` (from × to) say where one leads.
    """
    left = _without_sources(arrows)
    if not left:
        return []
    path = [min(left)]
    while path[-1] not in path[:-1]:  # each that is left has a parent that is left
        path.append(next(one for one in sorted(left) if arrows[one, path[-1]]))
    return path[path.index(path[-1]) :][::-1]


def _without_sources(arrows: Flags) -> set[int]:
    """What is left when variables without a parent are taken away, again and again."""
    left = set(range(len(arrows)))
    while sources := {one for one in left if not arrows[sorted(left), one].any()}:
        left -= sources
    return left


def in_order(arrows: Flags) -> list[int]:
    """Each variable after its parents, the first possible one first."""
    order: list[int] = []
    while len(order) < len(arrows):
        left = [one for one in range(len(arrows)) if one not in order]
        order.append(next(one for one in left if not arrows[left, one].any()))
    return order


def separated(edges: Flags, one: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
    """Whether every path of an undirected graph between two sets meets the given variables."""
    reached, border = set(one), set(one)
    while border:
        border = {int(near) for here in border for near in np.flatnonzero(edges[here])} - reached - set(given)
        reached |= border
    return not reached & set(other)


def d_separated(arrows: Flags, one: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
    """Whether arrows say that two sets are independent, given a third (Lauritzen et al. 1990).

    Of the ancestors of all three, parents of one child are married, and arrows become edges: there it is
    separation.
    """
    kept = ancestors(arrows, {*one, *other, *given})
    inside = np.zeros(len(arrows), bool)
    inside[sorted(kept)] = True
    among = arrows & inside & inside[:, None]
    return separated(moral(among), one, other, given)


def ancestors(arrows: Flags, of: Collection[int]) -> set[int]:
    """Some variables, their parents, the parents of these, and so on."""
    found, border = set(of), set(of)
    while border:
        border = {int(parent) for here in border for parent in np.flatnonzero(arrows[:, here])} - found
        found |= border
    return found


def moral(arrows: Flags) -> Flags:
    """Edges where arrows are, and between parents of one child."""
    counted = arrows.astype(np.intp)
    edges = arrows | arrows.T | (counted @ counted.T > 0)
    np.fill_diagonal(edges, False)
    return edges
