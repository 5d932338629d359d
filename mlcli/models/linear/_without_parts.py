"""Linear classifiers without each part of a round: from the minimum for all rows, by steps for many parts at once.

The curvature without a part is taken at the minimum for all rows, once, so each step leaves about the same small
share of the way. A part is answered when nothing is left; parts that do not come near are refused.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.linear._inverse import inverse
from mlcli.models.linear._leaving import TOGETHER, Leaving
from mlcli.models.linear._ways import Ways, WithoutPart, WithoutRow

LARGEST = 2e7
"""How many numbers the curvatures of parts may be."""
NOTHING = 1e-11
"""A score is where it ends if so little is left of its way."""
SLOWEST = 0.5
"""A step that leaves more than this share of the way leads nowhere."""
HOPELESS = 2.0
"""Steps that grow so much do not come back."""
MOST_STEPS = 40


def scores_without_parts(leaving: Leaving) -> tuple[Array, Flags] | None:
    """The scores of all rows (rows × outputs), each without its part, and which parts are refused."""
    size = leaving.there.w.size
    one_by_one = leaving.round_.one_by_one
    if not one_by_one and size**2 * leaving.round_.parts > LARGEST:
        return None
    whole = leaving.whole.curvature(leaving.there)
    shared = inverse(whole) if one_by_one else whole
    ways = WithoutRow if one_by_one else WithoutPart
    scores = np.zeros((len(leaving.frame.columns), len(leaving.there.w)))
    refused = np.ones(leaving.round_.parts, bool)
    sound = np.flatnonzero(leaving.units.sound)
    for first in range(0, len(sound), TOGETHER):
        parts = sound[first : first + TOGETHER]
        _solve(leaving, ways(leaving, shared, parts), parts, scores, refused)
    return scores, refused


def _solve(leaving: Leaving, ways: Ways, parts: Rows, scores: Array, refused: Flags) -> None:
    """Fill in the scores of the rows of some parts."""
    among: Rows = np.arange(len(parts))
    slopes = leaving.slope_at_start(parts)
    way = ways.steps(slopes, among)
    w, before = leaving.there.w + way, _length(leaving, parts, slopes, way)
    for _ in range(MOST_STEPS):
        slopes = leaving.slope(parts[among], w)
        way = ways.steps(slopes, among)
        w, length = w + way, _length(leaving, parts[among], slopes, way)
        left = length / np.maximum(before, NOTHING)
        there = (length <= NOTHING) | ((left < SLOWEST) & (length * left <= NOTHING))
        arrived = parts[among[there]]
        for part, own in zip(arrived.tolist(), leaving.own_scores(arrived, w[there]), strict=True):
            scores[leaving.round_.rows_of[part]], refused[part] = own, False
        on = ~there & (left < HOPELESS)
        among, w, before = among[on], w[on], length[on]
        if not len(among):
            break
    if not leaving.round_.one_by_one:
        _solve_alone(leaving, parts, scores, refused)


def _solve_alone(leaving: Leaving, parts: Rows, scores: Array, refused: Flags) -> None:
    """Fill in the scores of parts whose minimum is too far away."""
    for part in parts[refused[parts]].tolist():
        w = leaving.alone(part, leaving.there.w)
        if w is not None:
            (own,) = leaving.own_scores(np.array([part]), w[None])
            scores[leaving.round_.rows_of[part]], refused[part] = own, False


def _length(leaving: Leaving, parts: Rows, slopes: Array, ways: Array) -> Array:
    """How far scores move on each way: the farthest of the rows of the part, or the others on the whole."""
    others = np.sqrt(np.abs(np.einsum("bjc,bjc->b", slopes, ways)))
    moved = leaving.own_scores(parts, ways)
    own = (
        np.abs(moved).max(axis=(1, 2))
        if isinstance(moved, np.ndarray)
        else [np.abs(one).max(initial=0.0) for one in moved]
    )
    return np.asarray(np.maximum(others, own))
