"""Structures of graphs: the best tree (Chow & Liu 1968), hill climbing by a score, and separation.

``arrows`` and ``edges`` are matrices of flags, from × to; edges are symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from mlcli.core.moments import mutual_information
from mlcli.core.tables import Array, Codes, Flags


def counts(codes: Codes, levels: Sequence[int], of: Sequence[int], weights: Array) -> Array:
    """The weight of each combination of levels of some variables, in rows where all of them are known."""
    subset, shape = codes[:, list(of)], tuple(levels[index] for index in of)
    known = (subset >= 0).all(axis=1)
    indices = np.ravel_multi_index(tuple(subset[known].T), shape) if of else np.zeros(known.sum(), np.intp)
    met = np.bincount(indices, weights[known], int(np.prod(shape)))
    return met.astype(np.float64).reshape(shape)  # without rows NumPy counts whole numbers


# Trees.


def tree_among(
    codes: Codes, levels: Sequence[int], among: Sequence[int], given: Sequence[int], weights: Array
) -> Flags:
    """Arrows of the tree of the largest mutual information, given some variables, away from the first of all."""
    worth = np.zeros((len(among), len(among)))
    for i in range(len(among)):
        for j in range(i):
            joint = counts(codes, levels, (among[i], among[j], *given), weights)
            worth[i, j] = worth[j, i] = mutual_information(joint)
    arrows = np.zeros((len(levels), len(levels)), bool)
    for i, j in best_tree(worth):
        arrows[among[i], among[j]] = True
    return arrows


def best_tree(worth: Array) -> Iterator[tuple[int, int]]:
    """The edges of the tree of the largest worth (Prim), each from a node inside to a new one; 0 is the root."""
    inside, outside = [0], list(range(1, len(worth)))
    while outside:
        pairs = ((start, end) for start in inside for end in outside)
        start, end = max(pairs, key=lambda pair: (round(float(worth[pair]), 12), -pair[1], -pair[0]))
        yield start, end
        inside.append(end)
        outside.remove(end)


# Hill climbing.


def bic(joint: Array) -> float:
    """The log-likelihood of counts (parents × levels), less ½ log N for each free parameter."""
    by_parents = joint.reshape(-1, joint.shape[-1])
    totals = by_parents.sum(axis=1, keepdims=True)
    shares = np.divide(by_parents, totals, out=np.ones_like(by_parents), where=by_parents > 0)
    free = len(by_parents) * (by_parents.shape[1] - 1)
    return float((by_parents * np.log(shares)).sum() - 0.5 * free * np.log(max(totals.sum(), 1.0)))


def bdeu(joint: Array, strength: float = 1.0) -> float:
    """The log marginal likelihood of counts (parents × levels), with ``strength`` prior rows spread evenly."""
    from scipy.special import gammaln

    by_parents = joint.reshape(-1, joint.shape[-1])
    per_cell, per_combination = strength / by_parents.size, strength / len(by_parents)
    of_parents = gammaln(per_combination) - gammaln(by_parents.sum(axis=1) + per_combination)
    return float(of_parents.sum() + (gammaln(by_parents + per_cell) - gammaln(per_cell)).sum())


SCORES: dict[str, Callable[[Array], float]] = {"bic": bic, "bdeu": bdeu}
LocalScore = Callable[[int, tuple[int, ...]], float]
"""What a variable with such parents adds to the score of a graph."""


def climb_from_counts(
    codes: Codes, levels: Sequence[int], weights: Array, score: Callable[[Array], float], most_parents: int
) -> Flags:
    """Arrows by a score of counts; an empty cell is taken for the most frequent level, so that rows stay."""
    filled = codes.copy()
    for cells, count in zip(filled.T, levels, strict=True):
        cells[cells < 0] = np.bincount(cells[cells >= 0], weights[cells >= 0], count).argmax()
    return climb(
        len(levels),
        lambda child, parents: score(counts(filled, levels, (*parents, child), weights)),
        most_parents,
    )


def climb(variables: int, score: LocalScore, most_parents: int) -> Flags:
    """From no arrows on, make the change that raises the score most, while one does."""
    arrows = np.zeros((variables, variables), bool)
    scores: dict[tuple[int, tuple[int, ...]], float] = {}

    def cached_score(child: int, parents: set[int]) -> float:
        key = child, tuple(sorted(parents))
        if key not in scores:
            scores[key] = score(*key)
        return scores[key]

    while True:
        gain, changed = max(_changes(arrows, cached_score, most_parents), default=(0.0, ()))
        if gain <= 1e-9:  # rounding alone makes no change
            return arrows
        for parent, child in changed:
            arrows[parent, child] = not arrows[parent, child]


def _changes(
    arrows: Flags, score: Callable[[int, set[int]], float], most_parents: int
) -> Iterator[tuple[float, tuple[tuple[int, int], ...]]]:
    """Every arrow that may be added, removed or turned: the gain, rounded so that equal ones tie, and cells."""
    reachable = arrows.copy()
    for through in range(len(arrows)):
        reachable |= reachable[:, through, None] & reachable[through]
    parents = [set(np.flatnonzero(column).tolist()) for column in arrows.T]
    for parent, child in np.ndindex(*arrows.shape):
        before = score(child, parents[child])
        if arrows[parent, child]:
            removed = score(child, parents[child] - {parent}) - before
            yield round(removed, 9), ((parent, child),)
            # If there is another path from one to the other, the turned arrow would close a cycle.
            if len(parents[parent]) < most_parents and not (arrows[parent] & reachable[:, child]).any():
                turned = score(parent, parents[parent] | {child}) - score(parent, parents[parent])
                yield round(removed + turned, 9), ((parent, child), (child, parent))
        elif parent != child and len(parents[child]) < most_parents and not reachable[child, parent]:
            yield round(score(child, parents[child] | {parent}) - before, 9), ((parent, child),)


# Cycles, order, and separation.


def cycle_in(arrows: Flags) -> list[int]:
    """The variables of a cycle, the first again at the end; none in a graph without cycles."""
    left = set(range(len(arrows)))
    while sources := {variable for variable in left if not arrows[sorted(left), variable].any()}:
        left -= sources
    if not left:
        return []
    path = [min(left)]
    while path[-1] not in path[:-1]:  # every variable that is left has a parent that is left
        path.append(next(variable for variable in sorted(left) if arrows[variable, path[-1]]))
    return path[path.index(path[-1]) :][::-1]


def in_order(arrows: Flags) -> list[int]:
    """Each variable after its parents, the first possible one first."""
    order: list[int] = []
    while len(order) < len(arrows):
        left = [variable for variable in range(len(arrows)) if variable not in order]
        order.append(next(variable for variable in left if not arrows[left, variable].any()))
    return order


def separated(edges: Flags, first: Collection[int], second: Collection[int], given: Collection[int]) -> bool:
    """Whether every path of an undirected graph between two sets meets the given variables."""
    reached, border = set(first), set(first)
    while border:
        border = {int(near) for here in border for near in np.flatnonzero(edges[here])} - reached - set(given)
        reached |= border
    return not reached & set(second)


def d_separated(arrows: Flags, first: Collection[int], second: Collection[int], given: Collection[int]) -> bool:
    """Whether arrows say that two sets are independent, given a third (Lauritzen et al. 1990).

    That is separation in the moral graph of the ancestors of all three: parents of one child are joined, and
    arrows become edges.
    """
    ancestors, border = {*first, *second, *given}, {*first, *second, *given}
    while border:
        border = {int(parent) for here in border for parent in np.flatnonzero(arrows[:, here])} - ancestors
        ancestors |= border
    inside = np.zeros(len(arrows), bool)
    inside[sorted(ancestors)] = True
    among = arrows & inside & inside[:, None]
    counted = among.astype(np.intp)
    moral = among | among.T | (counted @ counted.T > 0)
    return separated(moral, first, second, given)
