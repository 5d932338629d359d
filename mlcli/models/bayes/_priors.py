"""Probabilities of the classes before a row is looked at: given, or as counted."""

from __future__ import annotations

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array
from mlcli.tasks.classification import LabelledRows

Given = tuple[float, ...] | None


def wrong_sum(priors: Given) -> list[str]:
    """What is wrong with given priors whatever the classes are."""
    total = 1.0 if priors is None else sum(priors)
    return [] if abs(total - 1) < 1e-9 else [f"priors add up to {total:g}, not to 1"]


def given_or_counted(method: str, priors: Given, data: LabelledRows) -> Array:
    """The priors that are given, or else the share of each class."""
    if priors is not None:
        return given_priors(method, priors, data.classes)
    return np.asarray(data.class_totals / data.class_totals.sum())


def given_priors(method: str, priors: tuple[float, ...], classes: tuple[str, ...]) -> Array:
    """Given priors; one for each class."""
    if len(priors) != len(classes):
        raise FitError(
            f"{method}: {len(priors)} priors were given for {len(classes)} classes",
            hint=f"give one for each of {', '.join(classes)}, in this order",
        )
    return np.array(priors)
