"""Scores of projections: what is lost of rows that are shown in fewer columns."""

from __future__ import annotations

from mlcli.core.tables import Array
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.declaring import mean_of_rows, score
from mlcli.tasks.projection import ProjectionAnswers


@mean_of_rows("reconstruction-error", ProjectionAnswers, better="low", low=0.0)
def reconstruction_error(answers: ProjectionAnswers) -> Array:
    """Mean squared distance of a row to what is left of it."""
    return answers.error


@score("explained-variance", ProjectionAnswers, better="high", high=1.0)
def explained_variance(answers: ProjectionAnswers) -> Score:
    """Share of the variance that is kept: 1 minus squared error over squared distance from the training mean."""
    spread = float(answers.weights @ answers.spread)
    if spread == 0:
        return Undefined("the judged rows all lie on the mean of the training rows")
    return 1 - float(answers.weights @ answers.error) / spread
