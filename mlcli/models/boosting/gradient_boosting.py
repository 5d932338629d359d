"""Gradient boosting: adds tree after tree, fitted to what the loss pulls at; each leaf searches how far to go.

Formula:
    F_0 = arg min_γ Σ w L(y, γ). A round takes the pseudo-residuals r = −∂L/∂F of every row, fits a tree to them by
    least squares, and lets each leaf answer γ = arg min_γ Σ_leaf w L(y, F + γ): the mean of y − F for the squared
    loss, the median for the absolute one, what lies between for Huber's. F ← F + learning_rate·γ.
    Classes: F is the log-odds (two) or a softmax over K scores, one tree per class and round (more); a leaf takes
    one step of Newton's, γ = Σ w r / Σ w p(1 − p), times (K − 1)/K for more than two.

Assumes:
    Nothing of the columns. Trees of few questions, since each only has to be a little better than none.

Cost:
    Per round and output about n·p·log2(leaves) / 2 additions, plus leaves·p·bins for the search; n·p bytes, and
    leaves·p·4 kB for histograms.

Choices:
    ∂L/∂F of the squared loss is −(y − F), not +. The notes' algorithm 2 searches one multiplier for a whole tree;
    here every leaf has its own (Friedman 2001, TreeBoost), which contains that. A leaf of one class has no best
    step, so classes take Friedman's single step. ``delta`` of Huber's loss stays the same in all rounds, so that
    the losses of rounds can be compared. Bins, missing cells and nominal columns are as in newton-boosting, with h
    = 1 and no l2.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.engines.trees.gradients import GradientGrower, Grown
from mlcli.engines.trees.losses import Loss, Slopes
from mlcli.models.boosting._boosted import Boosted
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor


@register(
    "gradient-boosting", reference="Friedman 2001, Greedy function approximation: a gradient boosting machine"
)
@dataclass(kw_only=True, eq=False)
class GradientBoosting(Boosted, Classifier, Regressor):
    """Trees on gradients alone."""

    max_depth: int | None = param(3, "how many questions lead to a leaf at most", ge=1, tune=(1, 8))
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=(1, 100))

    def tree(
        self, grower: GradientGrower, loss: Loss, slopes: Slopes, scores: Array, output: int, chosen: Rows | None
    ) -> Grown:
        """A least-squares tree of the pseudo-residuals, whose leaves search how far to go."""
        grown = grower.grow(slopes.gradient[output], grower.weights, chosen)
        return grown.refitted(lambda rows: loss.step(slopes, scores, output, rows))
