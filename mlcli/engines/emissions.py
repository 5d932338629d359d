"""What tags emit: levels by their shares, numbers by a normal density of each column; tags may be shares."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes

LEAST_VARIANCE = 1e-6
"""Of a column at a tag, as a share of its variance over all rows."""
LOG_TAU = float(np.log(2 * np.pi))


def counts_of_levels(codes: Codes, shares: Array, levels: int) -> Array:
    """How often each level goes with each tag (levels × tags), by the shares of tags at rows, but for gaps."""
    known = codes >= 0
    counts = [np.bincount(codes[known], weights=of_tag[known], minlength=levels) for of_tag in shares.T]
    return np.asarray(np.array(counts).T, dtype=np.float64).reshape(levels, shares.shape[1])


def shares_of_levels(counts: Array) -> Array:
    """P(level | tag), and after the levels 1 for a gap, of which nothing is known."""
    totals = counts.sum(axis=0)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    return np.vstack([shares, np.ones(counts.shape[1])])


def normals(X: Array, shares: Array) -> tuple[Array, Array]:
    """The mean and variance of each column at each tag (tags × columns), by the shares of tags at rows.

    A tag without rows has those of all rows together.
    """
    known = np.isfinite(X)
    cells = np.where(known, X, 0.0)
    weight, total = shares.T @ known, np.maximum(known.sum(axis=0), 1)
    overall = cells.sum(axis=0) / total
    spread = (np.where(known, X - overall, 0.0) ** 2).sum(axis=0) / total
    there = weight > 0
    held = np.where(there, weight, 1.0)
    means = np.where(there, overall + (shares.T @ np.where(known, X - overall, 0.0)) / held, overall)
    squares = [of_tag @ np.where(known, X - mean, 0.0) ** 2 for of_tag, mean in zip(shares.T, means, strict=True)]
    variances = np.where(there, np.reshape(squares, means.shape) / held, spread)
    return means, np.maximum(variances, np.where(spread > 0, LEAST_VARIANCE * spread, 1.0))


def log_normals(X: Array, means: Array, variances: Array) -> Array:
    """The logarithm of the density of each row at each tag; an empty cell adds nothing."""
    found = np.zeros((len(X), len(means)))
    for tag, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        of_cells = -0.5 * ((X - mean) ** 2 / variance + np.log(variance) + LOG_TAU)
        found[:, tag] = np.where(np.isfinite(X), of_cells, 0.0).sum(axis=1)
    return found
