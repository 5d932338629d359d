"""Structures of graphs: the best tree (Chow & Liu 1968), or hill climbing by a score; and d-separation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from mlcli.core.information import mutual_information
from mlcli.core.tables import Array, Codes, Flags

LocalScore = Callable[[int, tuple[int, ...]], float]
"""What a variable with such parents adds to the score of a graph."""


def counts(codes: Codes, levels: Sequence[int], of: Sequence[int], weights: Array) -> Array:
    """The weight of each combination of levels of some variables, in rows where all of them are known."""
    subset, shape = codes[:, list(of)], tuple(levels[index] for index in of)
    known = (subset >= 0).all(axis=1)
    indices = np.ravel_multi_index(tuple(subset[known].T), shape) if of else np.zeros(known.sum(), np.intp)
    met = np.bincount(indices, weights[known], int(np.prod(shape)))
    return met.astype(np.float64).reshape(shape)  # without rows NumPy counts whole numbers


def best_tree(worth: Array) -> Iterator[tuple[int, int]]:
    """The edges of the tree (Prim) of the largest worth, each from what it has already; the first is its root."""
    inside, outside = [0], list(range(1, len(worth)))
    while outside:
        pairs = ((index, other) for index in inside for other in outside)
        index, other = max(pairs, key=lambda pair: (round(float(worth[pair]), 12), -pair[1], -pair[0]))
        yield index, other
        inside.append(other)
        outside.remove(other)


def pairwise_worth(
    codes: Codes, levels: Sequence[int], among: Sequence[int], given: Sequence[int], weights: Array
) -> Array:
    """The mutual information of each pair of some variables, given others."""
    worth = np.zeros((len(among), len(among)))
    for i, index in enumerate(among):
        for j in range(i):
            joint = counts(codes, levels, (index, among[j], *given), weights)
            worth[i, j] = worth[j, i] = mutual_information(joint)
    return worth


def tree_among(
    codes: Codes, levels: Sequence[int], among: Sequence[int], given: Sequence[int], weights: Array
) -> Flags:
    """Arrows of the best tree over some variables, away from the first of them."""
    arrows = np.zeros((len(levels), len(levels)), bool)
    if among:
        for index, other in best_tree(pairwise_worth(codes, levels, among, given, weights)):
            arrows[among[index], among[other]] = True
    return arrows


def grid_of(cells: int, width: int) -> Flags:
    """Edges between the cells of a picture, row by row, and those to their right and below; one more has none."""
    across = width or max(1, round(cells**0.5))
    edges = np.zeros((cells + 1, cells + 1), bool)
    for cell in range(cells):
        edges[cell, cell + 1] = (cell + 1) % across != 0 and cell + 1 < cells
        if cell + across < cells:
            edges[cell, cell + across] = True
    return edges


def bic(joint: Array) -> float:
    """The log-likelihood of counts (parents × levels), less ½ log N for each free number."""
    by_parents = joint.reshape(-1, joint.shape[-1])
    totals = by_parents.sum(axis=1, keepdims=True)
    shares = np.divide(by_parents, totals, out=np.ones_like(by_parents), where=by_parents > 0)
    free = len(by_parents) * (by_parents.shape[1] - 1)
    return float((by_parents * np.log(shares)).sum() - 0.5 * free * np.log(max(totals.sum(), 1.0)))


def bdeu(joint: Array, strength: float = 1.0) -> float:
    """The log marginal likelihood of counts (parents × levels) where as many rows were spread evenly before."""
    from scipy.special import gammaln

    by_parents = joint.reshape(-1, joint.shape[-1])
    each, all_ = strength / by_parents.size, strength / len(by_parents)
    of_parents = gammaln(all_) - gammaln(by_parents.sum(axis=1) + all_)
    return float(of_parents.sum() + (gammaln(by_parents + each) - gammaln(each)).sum())


SCORES: dict[str, Callable[[Array], float]] = {"bic": bic, "bdeu": bdeu}


def climbed(variables: int, score: LocalScore, most_parents: int) -> Flags:
    """Arrows reached from none: the one that raises the score most is added, removed or turned, while one does."""
    arrows = np.zeros((variables, variables), bool)
    known: dict[tuple[int, tuple[int, ...]], float] = {}

    def worth(child: int, parents: set[int]) -> float:
        key = child, tuple(sorted(parents))
        if key not in known:
            known[key] = score(*key)
        return known[key]

    while True:
        gain, move = max(_moves(arrows, worth, most_parents), default=(0.0, ()))
        # A move must raise the score by more, so that rounding moves nothing
        if gain <= 1e-9:
            return arrows
        for index, other in move:
            arrows[index, other] = not arrows[index, other]


Move = tuple[tuple[int, int], ...]
"""The arrows that change: one alone, or both ways of one that is turned."""


def climbed_arrows(
    codes: Codes, levels: Sequence[int], weights: Array, score: Callable[[Array], float], most_parents: int
) -> Flags:
    """Arrows by a score of counts; an empty cell is taken for the most frequent level, so that rows stay."""
    filled = codes.copy()
    for cells, count in zip(filled.T, levels, strict=True):
        frequent = np.bincount(cells[cells >= 0], weights[cells >= 0], count).argmax()
        cells[cells < 0] = frequent

    def local(child: int, parents: tuple[int, ...]) -> float:
        return score(counts(filled, levels, (*parents, child), weights))

    return climbed(len(levels), local, most_parents)


def _moves(
    arrows: Flags, worth: Callable[[int, set[int]], float], most_parents: int
) -> Iterator[tuple[float, Move]]:
    """Every legal change with what it adds to the score, rounded so that equal ones tie."""
    reach = _reach(arrows)
    parents = [set(np.flatnonzero(column).tolist()) for column in arrows.T]
    for one, other in np.ndindex(*arrows.shape):
        before = worth(other, parents[other])
        if arrows[one, other]:
            lost = worth(other, parents[other] - {one}) - before
            yield round(lost, 9), ((one, other),)
            # Turned beside a way by a third, it would close a cycle.
            if len(parents[one]) < most_parents and not (arrows[one] & reach[:, other]).any():
                turned = worth(one, parents[one] | {other}) - worth(one, parents[one])
                yield round(lost + turned, 9), ((one, other), (other, one))
        elif one != other and len(parents[other]) < most_parents and not reach[other, one]:
            yield round(worth(other, parents[other] | {one}) - before, 9), ((one, other),)


def _reach(arrows: Flags) -> Flags:
    """From where arrows lead to where."""
    reach = arrows.copy()
    for through in range(len(arrows)):
        reach |= reach[:, through, None] & reach[through]
    return reach


def cycle_in(arrows: Flags) -> list[int]:
    """The variables of a cycle, the first again at the end; none in a graph without cycles.

    ``arrows`` (from × to) say where one leads.
    """
    left = _without_sources(arrows)
    if not left:
        return []
    path = [min(left)]
    while path[-1] not in path[:-1]:  # each that is left has a parent that is left
        path.append(next(index for index in sorted(left) if arrows[index, path[-1]]))
    return path[path.index(path[-1]) :][::-1]


def _without_sources(arrows: Flags) -> set[int]:
    """What is left when variables without a parent are taken away, again and again."""
    left = set(range(len(arrows)))
    while sources := {index for index in left if not arrows[sorted(left), index].any()}:
        left -= sources
    return left


def in_order(arrows: Flags) -> list[int]:
    """Each variable after its parents, the first possible one first."""
    order: list[int] = []
    while len(order) < len(arrows):
        left = [index for index in range(len(arrows)) if index not in order]
        order.append(next(index for index in left if not arrows[left, index].any()))
    return order


def separated(edges: Flags, collection: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
    """Whether every path of an undirected graph between two sets meets the given variables."""
    reached, border = set(collection), set(collection)
    while border:
        border = {int(near) for here in border for near in np.flatnonzero(edges[here])} - reached - set(given)
        reached |= border
    return not reached & set(other)


def d_separated(
    arrows: Flags, collection: Collection[int], other: Collection[int], given: Collection[int]
) -> bool:
    """Whether arrows say that two sets are independent, given a third (Lauritzen et al. 1990).

    Of the ancestors of all three, parents of one child are married, and arrows become edges: there it is
    separation.
    """
    kept = ancestors(arrows, {*collection, *other, *given})
    inside = np.zeros(len(arrows), bool)
    inside[sorted(kept)] = True
    among = arrows & inside & inside[:, None]
    return separated(moral(among), collection, other, given)


def ancestors(arrows: Flags, of: Collection[int]) -> set[int]:
    """Some variables, their parents, the parents of these, and so on."""
    results, border = set(of), set(of)
    while border:
        border = {int(parent) for here in border for parent in np.flatnonzero(arrows[:, here])} - results
        results |= border
    return results


def moral(arrows: Flags) -> Flags:
    """Edges where arrows are, and between parents of one child."""
    counted = arrows.astype(np.intp)
    edges = arrows | arrows.T | (counted @ counted.T > 0)
    np.fill_diagonal(edges, False)
    return edges
