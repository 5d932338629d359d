"""Sums over all tags of sequences, and over the features of their rows; plain twins are in ``tests/kernels``."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def score_rows(begins: Rows, features: Rows, values: Array, weights: Array, scores: Array) -> None:
    """The summed weights (features × tags) of the features of each row, written into ``scores``."""
    tags = weights.shape[1]
    for row in range(len(scores)):
        for tag in range(tags):
            scores[row, tag] = 0.0
        for at in range(begins[row], begins[row + 1]):
            for tag in range(tags):
                scores[row, tag] += values[at] * weights[features[at], tag]


@njit(cache=True, nogil=True, error_model="numpy")
def add_by_feature(begins: Rows, features: Rows, values: Array, of_rows: Array, sums: Array) -> None:
    """Add what rows have (rows × tags) to each of their features (features × tags)."""
    tags = sums.shape[1]
    for row in range(len(of_rows)):
        for at in range(begins[row], begins[row + 1]):
            for tag in range(tags):
                sums[features[at], tag] += values[at] * of_rows[row, tag]


@njit(cache=True, nogil=True, error_model="numpy")
def expect_chains(scores: Array, follows: Array, starts: Rows, shares: Array, pairs: Array) -> float:
    """Forward-backward over sequences of which each tag scores by itself and after the tag before.

    Writes P(tag) of each row into ``shares``, adds P(tag, next tag) to ``pairs``, gives the summed logarithm of
    Σ over all tags of exp(their score). ``starts`` are the first rows of sequences, and the number of rows.
    """
    tags, top = scores.shape[1], -np.inf
    after, sums = np.empty((tags, tags)), np.empty((tags, tags))
    for before in range(tags):
        for tag in range(tags):
            top = follows[before, tag] if follows[before, tag] > top else top
    for before in range(tags):
        for tag in range(tags):
            after[before, tag], sums[before, tag] = math.exp(follows[before, tag] - top), 0.0
    emitted, scale, later = np.empty(scores.shape), np.empty(len(scores)), np.empty(tags)
    total: float = powers(scores, emitted) + top * (len(scores) - len(starts) + 1)
    for index in range(len(starts) - 1):
        total += forward(starts[index], starts[index + 1], after, emitted, scale, shares)
        if not total > -np.inf:
            return -np.inf
        backward(starts[index], starts[index + 1], after, emitted, scale, shares, sums, later)
    for before in range(tags):
        for tag in range(tags):
            pairs[before, tag] += sums[before, tag] * after[before, tag]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def powers(scores: Array, emitted: Array) -> float:
    """The exponentials of scores beside the largest of their row; gives the sum of these largest."""
    tags, total = scores.shape[1], 0.0
    for row in range(len(scores)):
        highest = scores[row, 0]
        for tag in range(1, tags):
            highest = max(highest, scores[row, tag])
        for tag in range(tags):
            emitted[row, tag] = math.exp(scores[row, tag] - highest)
        total += highest
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def forward(first: int, end: int, after: Array, emitted: Array, scale: Array, shares: Array) -> float:
    """P(tag | rows up to here) into ``shares``; gives the logarithm of what they are divided by."""
    tags, total = len(after), 0.0
    for row in range(first, end):
        here = 0.0
        for tag in range(tags):
            reached = 1.0
            if row > first:
                reached = 0.0
                for before in range(tags):
                    reached += shares[row - 1, before] * after[before, tag]
            shares[row, tag] = reached * emitted[row, tag]
            here += shares[row, tag]
        if not here > 0.0:
            return -np.inf
        scale[row] = 1.0 / here
        total += math.log(here)
        for tag in range(tags):
            shares[row, tag] *= scale[row]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def backward(
    first: int, end: int, after: Array, emitted: Array, scale: Array, shares: Array, sums: Array, later: Array
) -> None:
    """From the last row of a sequence to its first: ``shares`` take in what comes after them.

    Sums of pairs lack the factor ``after``, which is the same for all rows.
    """
    tags = len(after)
    for row in range(end - 1, first, -1):
        for tag in range(tags):
            rest = later[tag] if row < end - 1 else 1.0
            shares[row, tag] *= rest
            emitted[row, tag] *= rest * scale[row]
        for before in range(tags):
            rest = 0.0
            for tag in range(tags):
                sums[before, tag] += shares[row - 1, before] * emitted[row, tag]
                rest += after[before, tag] * emitted[row, tag]
            later[before] = rest
    if end - first > 1:
        for tag in range(tags):
            shares[first, tag] *= later[tag]


@njit(cache=True, nogil=True, error_model="numpy")
def expect_steps(scores: Array, follows: Array, starts: Rows, tags: Codes, shares: Array, pairs: Array) -> float:
    """P(tag | the true tag before) of each row into ``shares``, their sums after each tag added to ``pairs``.

    Gives the summed logarithm of the normalisers, which are those of each row by itself.
    """
    total, count = 0.0, scores.shape[1]
    for index in range(len(starts) - 1):
        for row in range(starts[index], starts[index + 1]):
            before = tags[row - 1] if row > starts[index] else -1
            highest = -np.inf
            for tag in range(count):
                shares[row, tag] = scores[row, tag] + (follows[before, tag] if before >= 0 else 0.0)
                highest = max(highest, shares[row, tag])
            here = 0.0
            for tag in range(count):
                shares[row, tag] = math.exp(shares[row, tag] - highest)
                here += shares[row, tag]
            total += highest + math.log(here)
            for tag in range(count):
                shares[row, tag] /= here
                if before >= 0:
                    pairs[before, tag] += shares[row, tag]
    return total
