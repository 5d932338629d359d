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
    All that is judged is judged in the units of the target. The mean of logarithms turned back is the geometric
    mean, which lies below the mean: squared errors may grow while relative ones shrink. A root below 0 counts
    as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model
from mlcli.core.moments import moments
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.tasks.regression import REGRESSION, Regressor, ValuedRows

Numbers = tuple[float, float]
"""What a transform learns of the target: where it begins, and its unit."""


@dataclass(frozen=True)
class Transform:
    """There and back again."""

    learned: Callable[[Array, Array], Numbers]
    there: Callable[[Array, Numbers], Array]
    back: Callable[[Array, Numbers], Array]


def _shift(y: Array, weights: Array) -> Numbers:
    least = float(y[weights > 0].min())
    return (0.0 if least > 0 else 1.0 - least), 1.0


def _scale(y: Array, weights: Array) -> Numbers:
    found = moments(y[:, None], weights)
    return float(found.mean[0]), float(np.sqrt(found.variance[0])) or 1.0


TRANSFORMS = {
    "log": Transform(_shift, lambda y, k: np.log(np.maximum(y + k[0], 1e-300)), lambda z, k: np.exp(z) - k[0]),
    "sqrt": Transform(
        lambda y, weights: (max(0.0, -float(y[weights > 0].min())), 1.0),
        lambda y, k: np.sqrt(np.maximum(y + k[0], 0.0)),
        lambda z, k: np.maximum(z, 0.0) ** 2 - k[0],
    ),
    "standardise": Transform(_scale, lambda y, k: (y - k[0]) / k[1], lambda z, k: z * k[1] + k[0]),
}


@register("target-transform", reference="Box & Cox 1964, An analysis of transformations")
class TargetTransform(Regressor):
    """A model of the transformed target."""

    base: Model = model_param("linear-regression", "the model that learns the transformed target", of=(Regressor,))
    target: str = param("log", "what is learned in the place of the target", choices=TRANSFORMS)

    model_: Model = learned()
    numbers_: tuple[float, ...] = learned(2)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Fit the base to the transformed target."""
        data = data.counted()
        transform = TRANSFORMS[self.target]
        self.numbers_ = transform.learned(data.y, data.weights)
        self.model_ = fitted(self.base, replace(data, y=transform.there(data.y, self._numbers())), rng)

    def _numbers(self) -> Numbers:
        begin, unit = self.numbers_
        return begin, unit

    def predict_values(self, table: Table) -> Array:
        """What the base says, turned back."""
        said = outputs(self.model_, table, REGRESSION)[:, 0]
        return TRANSFORMS[self.target].back(said, self._numbers())

    def check_learned(self) -> None:
        """The base that was asked for, and a unit that is one."""
        check_members((self.model_,), self.base, self)
        if not self.numbers_[1] > 0:
            raise ValueError("a transform without a unit")

    def explain(self) -> Explanation:
        """The transform, then what the base says of itself, in transformed units."""
        begin, unit = self._numbers()
        straight = f"(y − {begin:g}) / {unit:g}"
        message = {"log": f"log(y + {begin:g})", "sqrt": f"√(y + {begin:g})", "standardise": straight}
        return (Lines("Transformed target", (message[self.target],)), *self.model_.explain())
