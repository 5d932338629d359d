"""Newton boosting: adds tree after tree, each a step of Newton's method on the loss of what is there so far.

Formula:
    F_0 = arg min_γ Σ w L(y, γ). A round takes g = ∂L/∂F and h = ∂²L/∂F² of every row and grows a tree that lowers
    Σ g·θ(x) + ½ h·θ(x)² + ½ l2·Σ_leaves θ², so a leaf scores θ = −G / (H + l2), and a split gains
    ½ [G_l²/(H_l + l2) + G_r²/(H_r + l2) − G²/(H + l2)], with G and H summed over rows. F ← F + learning_rate·θ.
    Classes: F is the log-odds (two) or a softmax over scores, one tree per class and round (more).

Assumes:
    Nothing of the columns. Many small steps, as each tree is greedy; without stop_after, many rounds fit noise.

Cost:
    Per round and output about n·p·log2(leaves) / 2 additions, plus leaves·p·bins for the search; n·p bytes, and
    leaves·p·4 kB for histograms.

Choices:
    Algorithm 3 of the notes with the signs of g and h set right, weight ½ h, and output F_0 + Σ F̂_m. Logarithms
    are natural. Columns are sorted into at most ``bins`` bins once, one per value where there are no more values
    than that; then splits are those of an exact search. Missing cells go to whichever side gains more (where the
    node had none: to the heavier side). Levels of a nominal column are sorted by G/(H + l2) in the node and cut
    there; without l2 no other grouping lowers the quadratic more (Fisher 1958). The absolute and the Huber loss
    grow trees with h = 1, and under the absolute loss leaves predict the median. A leaf needs a summed hessian of
    0.001. ``monotone`` bounds all that is below a split of such a column by the middle of its two sides. Gradients
    are summed as whole numbers of a fine unit, so the order of rows makes no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.abilities import EstimatesFitTime
from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.params import param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Rows
from mlcli.engines.trees.structure import is_ordered
from mlcli.models.boosting._boosted import Boosted
from mlcli.tasks.supervised import Classifier, Regressor

DIRECTIONS = {"rising": 1, "falling": -1}


@register(
    "newton-boosting", reference="Friedman, Hastie & Tibshirani 2000; Chen & Guestrin 2016 (XGBoost)", revision=3
)
class NewtonBoosting(Boosted, Classifier, Regressor, EstimatesFitTime):
    """Trees on gradients and hessians."""

    l2: float = param(
        1.0,
        "L2 penalty: the cost of half a unit of squared leaf score",
        ge=0,
        tune=log_range(1e-3, 1e2, simpler="high", unasked=False),
    )
    monotone: dict[str, Any] | None = param(
        None, "columns with which the answer may only rise or fall, such as {age: rising, price: falling}"
    )

    def conflicts(self) -> list[str]:
        """Unknown directions."""
        allowed, given = " or ".join(DIRECTIONS), (self.monotone or {}).items()
        wrong = [(name, direction) for name, direction in given if direction not in DIRECTIONS]
        return [f"monotone: {name} is {allowed}, was given {direction!r}" for name, direction in wrong]

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """A tree for each class, or one, in every round."""
        return 1.5e-8 * self.rounds * rows * columns * (classes if classes > 2 else 1)

    def bounds(self) -> tuple[Rows, float]:
        """Per column 1, −1 or 0 for the direction that predictions must keep; and l2."""
        monotone = self.monotone or {}
        by_threshold = {column.name: is_ordered(column) for column in self.columns_}
        if monotone and len(self.start_) > 1:
            message = "monotone is of numbers or of two classes, but there are more"
            raise FitError(message, hint="leave out the parameter monotone")
        for name in monotone:
            if name not in by_threshold:
                hint = did_you_mean(name, by_threshold, "columns")
                raise FitError(f"monotone: there is no column '{name}'", hint=hint)
            if not by_threshold[name]:
                message = f"monotone: column '{name}' is nominal, so its levels have no order to rise or fall with"
                raise FitError(message)
        return np.array([DIRECTIONS.get(str(monotone.get(name)), 0) for name in by_threshold], np.intp), self.l2
