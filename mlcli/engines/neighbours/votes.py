"""Who votes and how much: the rows that get one of the k seats, and what a vote counts at its distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.neighbours.points import SAME
from mlcli.engines.neighbours.search import Pairs

WHOLE = 1 - 1e-9
"""Summed weights reach a whole number when they come this close."""


def neighbours_needed(weights: Array, k: int) -> int:
    """How many rows always hold k seats, when a row of weight w counts as w rows."""
    enough = np.cumsum(np.sort(weights)) >= k * WHOLE
    return int(np.argmax(enough)) + 1 if enough.any() else len(weights)


def kth_distance(pairs: Pairs, counts: Array, k: int) -> Array:
    """For each pair the distance at which the rows of its query point fill k seats, or that of the last row.

    ``counts`` says for how many rows each pair stands.
    """
    short = _running(pairs, counts) < k * WHOLE
    kth = pairs.begins + np.minimum(np.add.reduceat(short, pairs.begins, dtype=np.intp), pairs.counts - 1)
    return np.repeat(pairs.distance[kth], pairs.counts)


def voting_pairs(pairs: Pairs, weights: Array, k: int, outputs: Array, tied: str) -> tuple[Pairs, Array]:
    """The pairs that vote, and how many rows each counts for.

    Rows closer than the k-th sit first; those as far as the k-th are tied for the seats that are left.
    """
    kth = kth_distance(pairs, weights[pairs.stored], k)
    near = pairs.distance <= kth * (1 + SAME)
    pairs, kth = pairs.keep(near), kth[near]
    at_the_edge, count = pairs.distance >= kth * (1 - SAME), weights[pairs.stored]
    if tied == "share":
        return pairs, np.where(at_the_edge, count * _seats_left(pairs, at_the_edge, count, k), count)
    order = TIES[tied](pairs, at_the_edge, outputs, weights)
    if order is None:
        return pairs, count
    pairs = pairs.keep(order)
    count = weights[pairs.stored]
    seats = np.clip(k - (_running(pairs, count) - count), 0.0, count)
    return pairs.keep(seats > 0), seats[seats > 0]


def _running(pairs: Pairs, counts: Array) -> Array:
    """Sums of ``counts`` so far, from the first pair of each query point."""
    total = np.cumsum(counts)
    before = (total - counts)[pairs.begins]
    return np.asarray(total - np.repeat(before, pairs.counts))


def _seats_left(pairs: Pairs, at_the_edge: Flags, count: Array, k: int) -> Array:
    """For each pair the share of a seat that a tied row of its query point gets."""
    nearer, tied = (np.add.reduceat(count * side, pairs.begins) for side in (~at_the_edge, at_the_edge))
    return np.repeat(np.minimum((k - nearer) / tied, 1.0), pairs.counts)


def _in_any_order(pairs: Pairs, at_the_edge: Flags, outputs: Array, weights: Array) -> None:
    """No order: every tied row votes, or has its share of the seats that are left."""


def _first_stored(pairs: Pairs, at_the_edge: Flags, outputs: Array, weights: Array) -> Rows:
    return np.lexsort((pairs.stored, at_the_edge, pairs.query))


def _most_common_first(pairs: Pairs, at_the_edge: Flags, outputs: Array, weights: Array) -> Rows:
    """Tied rows with the output that most tied rows have sit first; of equals, the lowest class or value."""
    _, concept = np.unique(outputs[pairs.stored, ::-1], axis=0, return_inverse=True)
    place = pairs.query * (int(concept.max()) + 1) + concept
    _, which = np.unique(place, return_inverse=True)
    common = np.bincount(which, weights=weights[pairs.stored] * at_the_edge)[which]
    return np.lexsort((pairs.stored, concept, -common, at_the_edge, pairs.query))


TIES: dict[str, Callable[[Pairs, Flags, Array, Array], Rows | None]] = {
    "share": _in_any_order,
    "all": _in_any_order,
    "first": _first_stored,
    "majority": _most_common_first,
    "random": _first_stored,  # the training rows were shuffled when they were stored
}


def _spread(pairs: Pairs) -> Array:
    """From the nearest to the farthest voter; infinite where they tie, as all votes are 1 then."""
    farthest = pairs.of_each(np.maximum)
    spread = farthest - pairs.of_each(np.minimum)
    return np.where(spread <= SAME * farthest, np.inf, spread)


def _inverse_linear(pairs: Pairs, gamma: float) -> Array:
    """(D_k − D_j) / (D_k − D_1): the farthest counts 0; all count 1 when all are equally far."""
    spread = _spread(pairs)
    return np.where(np.isinf(spread), 1.0, (pairs.of_each(np.maximum) - pairs.distance) / spread)


def _gaussian(pairs: Pairs, gamma: float) -> Array:
    """exp(−γ D²), in units of that of the nearest, so that not all of them are too small for a number."""
    nearest = pairs.of_each(np.minimum)
    return np.asarray(np.exp(-gamma * (pairs.distance - nearest) * (pairs.distance + nearest)))


@dataclass(frozen=True)
class Vote:
    """What a vote counts at its distance."""

    counts: Callable[[Pairs, float], Array]
    """Of the voters, and γ for those that are kernels."""
    divisor: Callable[[Pairs], Array] | None = None
    """What distances are divided by: a small one makes much of their rounding. A kernel has none."""


VOTES = {
    "uniform": Vote(
        lambda pairs, gamma: np.ones(len(pairs.distance)), lambda pairs: np.full(len(pairs.query), np.inf)
    ),
    "inverse": Vote(lambda pairs, gamma: 1 / (pairs.distance + 1e-10), lambda pairs: pairs.distance + 1e-10),
    "inverse-linear": Vote(_inverse_linear, _spread),
    "gaussian": Vote(_gaussian),
    "laplacian": Vote(lambda pairs, gamma: np.exp(-gamma * (pairs.distance - pairs.of_each(np.minimum)))),
}
FAVOUR = 1e-9
"""So much more of a vote decides between equal votes and nothing else."""


def nearest_bonus(pairs: Pairs) -> Array:
    """A little more for the nearest rows."""
    return np.where(pairs.distance <= pairs.of_each(np.minimum) * (1 + SAME), 1 + FAVOUR, 1.0)


def mean_outputs(voters: Pairs, votes: Array, outputs: Array) -> Array:
    """The mean output of the voters of each query point."""
    sums = [np.add.reduceat(votes * column[voters.stored], voters.begins) for column in outputs.T]
    return np.column_stack(sums) / np.add.reduceat(votes, voters.begins)[:, None]
