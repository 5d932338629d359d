"""Counts of tags after the tags before them, and the shares that are made from such counts.

A history is the tags of the rows before, oldest first; before the first row stands the boundary symbol, whose code
is the number of tags. As an outcome, the boundary symbol is the end of a sequence.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.tasks.sequence_labelling import lengths


def count_ngrams(y: Codes, sequence: Codes, tags: int, order: int, stop: bool) -> Array:
    """How often each tag (last axis) follows each history of ``order`` - 1 tags (the other axes)."""
    starts, sizes = lengths(sequence)
    place = np.arange(len(y)) - np.repeat(starts, sizes)
    counts = np.zeros((tags + 1,) * order)
    followed = [_before(y, place, lag, tags) for lag in range(order - 1, 0, -1)]
    np.add.at(counts, (*followed, y), 1.0)
    if stop:
        ends = starts + sizes - 1
        before_ends = [earlier[ends] for earlier in followed[1:]]
        np.add.at(counts, (*before_ends, y[ends], tags), 1.0)
    return counts


def _before(y: Codes, place: Rows, lag: int, boundary: int) -> Codes:
    """The tag that stands ``lag`` rows before each row of its sequence."""
    earlier = np.full(len(y), boundary, y.dtype)
    earlier[lag:] = np.where(place[lag:] >= lag, y[: len(y) - lag], boundary)
    return earlier


def with_alpha(counts: Array, alpha: float) -> Array:
    """(count + α) / (total + α × outcomes); a history never met, where α is 0, has the shares of all tags.

    Outcomes are the tags met in training and, where ends were counted, the end: others have probability 0.
    """
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
    raised = np.where(overall > 0, counts + alpha, 0.0)
    totals = raised.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, raised / np.where(totals > 0, totals, 1.0), overall / overall.sum())


def interpolated(counts: Array, alpha: float) -> Array:
    """λ₁ P(tag) + λ₂ P(tag | previous) + ..., the λ by deleted interpolation (Brants 2000); α plays no part.

    A history that was never met has the shares that one tag less of it gives.
    """
    shorter = [counts.sum(axis=tuple(range(left_out))) for left_out in range(counts.ndim - 1, -1, -1)]
    weights = deleted_interpolation(counts)
    shares = with_alpha(shorter[0], 0.0)
    mixed = weights[0] * shares
    for weight, longer in zip(weights[1:], shorter[1:], strict=True):
        totals = longer.sum(axis=-1, keepdims=True)
        shares = np.where(totals > 0, longer / np.where(totals > 0, totals, 1.0), shares)
        mixed = mixed + weight * shares
    return np.asarray(mixed)


def deleted_interpolation(counts: Array) -> Array:
    """The weight of each length of history: each n-gram votes for the length that predicts it best without itself.

    Of equally good lengths the longest gets the votes; an n-gram that is met once predicts nothing without itself.
    """
    held_out = []
    for left_out in range(counts.ndim - 1, -1, -1):
        shorter = counts.sum(axis=tuple(range(left_out)))
        others = np.broadcast_to(shorter.sum(axis=-1, keepdims=True) - 1, shorter.shape)
        share = np.divide(shorter - 1, others, out=np.zeros(shorter.shape), where=others > 0)
        held_out.append(np.broadcast_to(share, counts.shape))
    longest_first = np.argmax(np.stack(held_out[::-1]), axis=0)
    votes = np.bincount(counts.ndim - 1 - longest_first.ravel(), weights=counts.ravel(), minlength=counts.ndim)
    return np.asarray(votes / votes.sum())


SMOOTHINGS: dict[str, Callable[[Array, float], Array]] = {"alpha": with_alpha, "interpolation": interpolated}
