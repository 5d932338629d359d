"""Linear classifier: least squares to +1 and −1, and the sign says the class.

Formula:
    Minimise Σ (y_i − b − w·x_i)² with y = +1 for the second class and −1 for the first; h(x) = sign(b + w·x). More
    than two classes: one such function of each class against the rest, and the largest says the class.

Assumes:
    Classes of about equal size and spread on two sides of a plane: far rows on the right side pull as hard as
    wrong ones, which lda's priors and logistic regression's loss do not. With more than two classes in a line,
    the middle one is masked.

Cost:
    n·p² + p³ to fit, p·K per row to predict.

Choices:
    A score of 0 is the first class. Probabilities are softmax of sharpened scores, which order rows by how sure
    they are; the scores themselves are not probabilities. l2 is a ridge as in `ridge`, 0 by default. Collinear
    columns share their effect.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.models.linear._classification import LinearMargins
from mlcli.models.linear._regression import least_squares_to_side
from mlcli.tasks.supervised import Classifier, LabelledRows


@register("linear-classifier", reference="Hastie, Tibshirani & Friedman 2009, section 4.2", revision=3)
class LinearClassifier(LinearMargins, Classifier):
    """Least squares to ±1."""

    l2: float = param(
        0.0,
        "L2 penalty: the cost of squared coefficients, in squared error",
        ge=0,
        tune=log_range(1e-4, 1e4, simpler="high"),
    )

    @property
    def accepts(self) -> Accepts:
        """Numbers and weights."""
        return Accepts(weights=True, prefers_scaled=self.l2 > 0)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """A plane for each side."""
        data = data.counted()
        columns = len(data.table.columns)
        fits = [least_squares_to_side(data, side, self.l2) for side in self.sides(data)]
        self.learn_scores(
            data,
            coefficients=np.array([fit.coefficients for fit in fits]).reshape(len(fits), columns),
            level=np.array([fit.level for fit in fits]),
            centre=fits[0].centre if fits else np.zeros(columns),
        )

    def explain(self) -> Explanation:
        """The coefficients."""
        return (self.coefficient_table("Intercept + coefficients × columns is +1 for a class and −1 for others."),)
