"""Whether distances that round differently could change who votes, or how much."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Flags
from mlcli.models.neighbours._screens import SAME
from mlcli.models.neighbours._search import Pairs, of_each
from mlcli.tasks.classification import DECIMALS

VOTE_DIGITS = 1e-10
"""How wrong, relatively, a vote may be."""


def tie_in_doubt(pairs: Pairs, mark: Array, rounding: Array) -> Flags:
    """For each asked point whether some pair may or may not be as far as its ``mark``, one of its distances."""
    apart = np.abs(pairs.distance - mark)
    close = apart <= SAME * mark + rounding
    doubtful = close & (apart + rounding > SAME * mark)
    several = np.add.reduceat(close.astype(np.intp), pairs.begins) > 1
    return several & np.logical_or.reduceat(doubtful, pairs.begins)


def _none(voters: Pairs, rounding: Array) -> Array:
    return np.zeros(len(rounding))


def _of_inverse(voters: Pairs, rounding: Array) -> Array:
    return rounding / (voters.distance + 1e-10)


def _of_inverse_linear(voters: Pairs, rounding: Array) -> Array:
    """Of the farthest and the nearest: infinite where they may or may not be equally far."""
    farthest = of_each(np.maximum, voters)
    spread = farthest - of_each(np.minimum, voters)
    surely_same = spread + rounding <= SAME * farthest
    surely_not = spread - rounding > SAME * farthest
    relative = np.divide(2 * rounding, spread, out=np.full(len(spread), np.inf), where=surely_not)
    return np.where(surely_same, 0.0, relative)


VOTE_ROUNDING: dict[str, Callable[[Pairs, Array], Array]] = {
    "uniform": _none,
    "inverse": _of_inverse,
    "inverse-linear": _of_inverse_linear,
}
"""How wrong votes are, relatively, when distances are."""


def votes_in_doubt(voters: Pairs, weights: str, rounding: Array, means: Array) -> Flags:
    """For each asked point whether its mean output could differ, or the class that has most votes."""
    wrong = 2 * np.maximum.reduceat(VOTE_ROUNDING[weights](voters, rounding), voters.begins)
    return (wrong > VOTE_DIGITS) | _lead_in_doubt(means, wrong)


def _lead_in_doubt(means: Array, wrong: Array) -> Flags:
    """Whether the two largest shares may or may not be counted as equal."""
    if means.shape[1] < 2:
        return np.zeros(len(means), bool)
    second, first = np.partition(means, -2, axis=1)[:, -2:].T
    lead, equal = first - second, first * 10.0**-DECIMALS
    doubt = wrong * first
    return np.asarray((lead - doubt <= equal) & (lead + doubt > equal) & (doubt > 0))
