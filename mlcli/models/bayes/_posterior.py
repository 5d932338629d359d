"""From log joint probabilities to posteriors, so that what ties on paper ties here."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Flags

NOTHING = -1000.0
"""A difference of logarithms whose exponential is 0."""


def impossible(log_joint: Array) -> Flags:
    """The rows to which every class gives probability zero."""
    return np.asarray(np.isneginf(log_joint).all(axis=1))


def posterior(log_joint: Array) -> Array:
    """Probabilities (n × classes) in proportion to the joint ones; each row needs a class that is possible."""
    lines = np.array(log_joint.T, order="C")
    lines -= lines.max(axis=0)
    np.maximum(lines, NOTHING, out=lines)
    # Rows that tie on paper differ in the last digit of a sum of logarithms, and a rank metric sees that: rows 2
    # and 6 of the weather table move the AUC by 1/90. Twelve decimals are above that noise, below anything real.
    np.round(lines, 12, out=lines)
    np.exp(lines, out=lines)
    lines /= lines.sum(axis=0)
    return np.asarray(lines.T)
