"""Target transform: lets a method predict the logarithm of the target, or its root, and turns the answer back.

Formula:
    The base is fitted to f(y) instead of y, and answers f⁻¹ of what it says. `log` f(y) = log(y + k), with k = 0
    where all training values are positive, else 1 − min y; `sqrt` f(y) = √(y + k), with k = 0 where no training
    value is negative, else −min y; `standardise` f(y) = (y − μ) / σ.

Assumes:
    Values that grow by factors (`log`), counts (`sqrt`), or a base that learns best when values are near 0 and 1
    apart (`standardise`).

Cost:
    That of the base.

Choices:
    All scores are in the units of the target. The mean of logarithms turned back is the geometric
    mean, which lies below the mean: squared errors may grow while relative ones shrink. A root below 0 counts
    as 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model
from mlcli.core.moments import moments
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.tasks.supervised import REGRESSION, Regressor, ValuedRows


@register("target-transform", reference="Box & Cox 1964, An analysis of transformations")
class TargetTransform(Regressor):
    """A model of the transformed target."""

    base: Model = model_param("linear-regression", "the model that learns the transformed target", of=(Regressor,))
    target: str = param(
        "log", "what is learned in the place of the target", choices=("log", "sqrt", "standardise")
    )

    model_: Model = learned()
    numbers_: tuple[float, ...] = learned(2)
    """The shift k and 1, or the mean and the standard deviation."""

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Fit the base to the transformed target."""
        data = data.counted()
        least = float(data.y[data.weights > 0].min())
        if self.target == "log":
            self.numbers_ = (0.0 if least > 0 else 1.0 - least), 1.0
            y = np.log(np.maximum(data.y + self.numbers_[0], 1e-300))
        elif self.target == "sqrt":
            self.numbers_ = max(0.0, -least), 1.0
            y = np.sqrt(np.maximum(data.y + self.numbers_[0], 0.0))
        else:
            spread = moments(data.y[:, None], data.weights)
            mean, deviation = float(spread.mean[0]), float(np.sqrt(spread.variance[0])) or 1.0
            self.numbers_ = mean, deviation
            y = (data.y - mean) / deviation
        self.model_ = fitted(self.base, replace(data, y=y), rng)

    def predict_values(self, table: Table) -> Array:
        """The predictions of the base, turned back."""
        predictions, (shift, unit) = outputs(self.model_, table, REGRESSION)[:, 0], self.numbers_
        if self.target == "log":
            return np.asarray(np.exp(predictions) - shift)
        if self.target == "sqrt":
            return np.asarray(np.maximum(predictions, 0.0) ** 2 - shift)
        return predictions * unit + shift

    def check_learned(self) -> None:
        """The base as configured, and a unit above 0."""
        check_members((self.model_,), self.base, self)
        if not self.numbers_[1] > 0:
            raise ValueError("a transform without a unit")

    def explain(self) -> Explanation:
        """The transform, then what the base says of itself, in transformed units."""
        shift, unit = self.numbers_
        formulas = {"log": f"log(y + {shift:g})", "sqrt": f"√(y + {shift:g})"}
        formula = formulas.get(self.target, f"(y − {shift:g}) / {unit:g}")
        return (Lines("Transformed target", (formula,)), *self.model_.explain())
