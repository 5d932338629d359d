"""Answers of models that learn without labels, with the evidence per row that their metrics are made from."""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Codes


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterAnswers(Answers):
    """Clustering: the group of each row, its label where it has one (-1 else), and how it lies in its group."""

    cluster: Codes
    truth: Codes
    classes: tuple[str, ...]
    clusters: int
    to_centre: Array
    """Squared distance to the centre of the group."""
    centre_to_all: Array
    """Squared distance of that centre to the centre of all rows."""
    silhouette: Array
    """Rousseeuw's silhouette; NaN where it was not computed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityAnswers(Answers):
    """Density: the logarithm of the density at each row, and what BIC and AIC need to know of the fit."""

    log_density: Array
    free_parameters: int
    fit_log_likelihood: float
    fit_rows: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ProjectionAnswers(Answers):
    """Projection: the squared distance of each row to what is left of it, and to the mean of the training rows."""

    error: Array
    spread: Array
