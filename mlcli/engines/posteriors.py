"""Posteriors from log joint probabilities, with exact ties; and priors of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.tables import Array
from mlcli.tasks.supervised import LabelledRows


def posterior(log_joint: Array) -> Array:
    """Probabilities (n × classes) in proportion to the joint ones; each row needs a possible class."""
    lines = np.array(log_joint.T, order="C")
    lines -= lines.max(axis=0)
    np.maximum(lines, -1000.0, out=lines)  # whose exponential is 0
    # Rows that tie on paper differ in the last digit of a sum of logarithms, and a rank metric sees that: rows 2
    # and 6 of the weather table move the AUC by 1/90. Twelve decimals are above that noise, below anything real.
    np.round(lines, 12, out=lines)
    np.exp(lines, out=lines)
    lines /= lines.sum(axis=0)
    return np.asarray(lines.T)


def certain_posterior(log_joint: Array, error: Array) -> Array:
    """Posteriors (... × classes), NaN if errors of the logarithms (...) change them by more than 1e-10."""
    flat = log_joint.reshape(-1, log_joint.shape[-1])
    largest, second = np.full(len(flat), -np.inf), np.full(len(flat), -np.inf)
    for column in flat.T:
        second = np.maximum(second, np.minimum(largest, column))
        largest = np.maximum(largest, column)
    possible = largest > -np.inf
    lead = np.subtract(largest, second, out=np.full_like(largest, np.inf), where=possible)
    certain = possible & (error.ravel() * np.exp(-np.minimum(lead, 700.0)) <= 1e-10)
    result = np.full(flat.shape, np.nan)
    result[certain] = posterior(flat[certain])
    return result.reshape(log_joint.shape)


def logarithm(shares: Array) -> Array:
    """The natural logarithm, -infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def log_sum(logs: Array, axis: int | tuple[int, ...] = 0) -> Array:
    """The logarithm of summed exponentials along axes; -infinity if all logarithms are."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    return np.asarray(logarithm(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


def priors_of(weight: Array, priors: tuple[float, ...] | None) -> Array:
    """The given priors, or the shares of classes (last axis) in the weight."""
    shares = weight / weight.sum(axis=-1, keepdims=True)
    return shares if priors is None else np.broadcast_to(np.array(priors), weight.shape).copy()


def log_priors(weight: Array, priors: tuple[float, ...] | None) -> Array:
    """Logarithms of priors; a class without rows is impossible."""
    return np.where(weight > 0, logarithm(priors_of(weight, priors)), -np.inf)


def prior_conflicts(priors: tuple[float, ...] | None) -> list[str]:
    """Problems of given priors that do not depend on the classes."""
    total = 1.0 if priors is None else sum(priors)
    return [] if abs(total - 1) < 1e-9 else [f"priors add up to {total:g}, not to 1"]


def refuse_misfitting_priors(method: str, priors: tuple[float, ...] | None, data: LabelledRows) -> None:
    """Refuse given priors that are not one for each class."""
    if priors is not None and len(priors) != len(data.classes):
        raise FitError(
            f"{method}: {len(priors)} priors were given for {len(data.classes)} classes",
            hint=f"give one for each of {', '.join(data.classes)}, in this order",
        )


def prior_table(target: str, classes: Sequence[str], priors: Array, note: str = "") -> findings.Table:
    """The prior of each class."""
    rows = tuple(zip(classes, map(float, priors), strict=True))
    return findings.Table("Priors", (target, "prior"), rows, note=note)


def table_by_class(
    title: str, names: Sequence[str], classes: Sequence[str], values: Array, note: str = ""
) -> findings.Table:
    """Values of each class (classes × names), with a line for each name."""
    lines = tuple((name, *line) for name, line in zip(names, values.T.tolist(), strict=True))
    return findings.Table(title, ("column", *classes), lines, note=note)
