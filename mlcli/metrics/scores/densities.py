"""Scores of densities: how likely rows are that were not fitted, and how well a fit pays for its parameters."""

from __future__ import annotations

import math

from mlcli.core.tables import Array
from mlcli.metrics.base import Score
from mlcli.metrics.declaring import mean_of_rows, score
from mlcli.tasks.density import DensityAnswers


@mean_of_rows("log-likelihood", DensityAnswers, better="high")
def log_likelihood(answers: DensityAnswers) -> Array:
    """Mean natural logarithm of the density at a row."""
    return answers.log_density


@score("bic", DensityAnswers, better="low", aggregation="of the fit")
def bic(answers: DensityAnswers) -> Score:
    """Bayesian information criterion of the fit: k ln n - 2 ln L over its k parameters and n training rows."""
    return answers.free_parameters * math.log(answers.fit_rows) - 2 * answers.fit_log_likelihood


@score("aic", DensityAnswers, better="low", aggregation="of the fit")
def aic(answers: DensityAnswers) -> Score:
    """Akaike's information criterion of the fit: 2 k - 2 ln L over its k parameters."""
    return 2 * answers.free_parameters - 2 * answers.fit_log_likelihood
