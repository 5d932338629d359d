"""Entropy and mutual information of counts, in nats."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array


def entropy(shares: Array) -> Array:
    """−Σ p ln p of each row of shares, or of the one row that there is."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=-1))


def entropy_of_counts(counts: Array) -> float:
    """The entropy of the shares that counts, or weights, make; 0 where there are none."""
    total = counts.sum()
    return float(entropy(counts.ravel() / total)) if total > 0 else 0.0


def mutual_information(joint: Array) -> float:
    """How many nats two variables tell of each other, the mean over any third: counts (a × b) or (a × b × c)."""
    joint = joint.reshape(*joint.shape[:2], -1)
    of_a, of_b, of_c = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True), joint.sum(axis=(0, 1))
    total = of_c.sum()
    there = joint > 0
    ratio = np.divide(joint * of_c, of_a * of_b, out=np.ones_like(joint), where=there)
    return max(0.0, float((joint * np.log(ratio)).sum() / total)) if total > 0 else 0.0
