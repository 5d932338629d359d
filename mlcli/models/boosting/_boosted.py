"""What methods of boosting share: their parameters, what they learn from rows, and how they answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.explanation import Explanation
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.draws import draws
from mlcli.models.boosting._coding import Coding
from mlcli.models.boosting._ensemble import Ensemble, outputs_of, probabilities_of
from mlcli.models.boosting._explaining import explained
from mlcli.models.boosting._growing import GROWTH, Grower, Grown, Limits
from mlcli.models.boosting._losses import LOSSES_OF_VALUES, Loss, Slopes, loss_of_classes
from mlcli.models.boosting._rounds import HeldAside, Plan, boost
from mlcli.models.boosting._trees import Trees
from mlcli.models.trees._binning import MOST_BINS
from mlcli.models.trees._features import ordered
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows


@dataclass(kw_only=True, eq=False)
class Boosted(Classifier, Regressor):
    """Trees of histograms, each grown on the slopes of the loss that the ones before leave."""

    rounds: int = param(100, "how many rounds at most; each adds a tree per output", ge=1, tune=(20, 1000))
    learning_rate: float = param(0.1, "which part of a tree's answer is added", gt=0, le=1, tune=(0.01, 0.3))
    loss: str = param("squared", "what a wrong number costs; classes cost log-loss", choices=LOSSES_OF_VALUES)
    delta: float | None = param(
        None, "up to where huber is squared; none: as far from the median as nine tenths of the values", gt=0
    )
    max_leaves: int = param(31, "how many leaves a tree has at most", ge=2, le=4096, tune=(4, 128))
    max_depth: int | None = param(None, "how many questions lead to a leaf at most", ge=1, tune=(1, 12))
    growth: str = param(
        "leaf-wise", "which leaf is split next: what gains most, or the least deep", choices=GROWTH
    )
    min_leaf: int = param(20, "how many rows a leaf holds at least", ge=1, tune=(1, 100))
    features: float = param(1.0, "the share of columns, drawn anew, that a tree may ask for", gt=0, le=1)
    bins: int = param(MOST_BINS, "how many bins a column of numbers has at most", ge=2, le=MOST_BINS)
    stop_after: int | None = param(
        None, "how many rounds without a smaller loss of rows held aside end it; none: all rows teach", ge=1
    )
    validation: float = param(0.1, "the share of rows held aside for that", gt=0, lt=1)

    stage_name: ClassVar[str] = "rounds"

    coding_: dict[str, Array] = learned()
    trees_: dict[str, Array] = learned()
    start_: Array = learned()
    present_: Codes = learned()
    """The classes with training rows; of numbers empty."""
    training_loss_: Array = learned()
    aside_loss_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True)

    def tree(
        self, grower: Grower, loss: Loss, slopes: Slopes, scores: Array, output: int, chosen: Rows | None
    ) -> Grown:
        """The tree of one output in one round."""
        raise TypeError(f"{type(self).__name__} does not say how it grows a tree")

    def directions(self, outputs: int) -> Rows:
        """Per column the direction that answers must keep."""
        return np.zeros(len(self.columns_), np.intp)

    @property
    def leaf_penalty(self) -> float:
        """What half a squared leaf score costs."""
        return 0.0

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Sort cells into bins, then add tree after tree."""
        train, aside = self._parted(data.counted(), rng)
        coding, bins = Coding.of(train.table, train.weights, self.bins)
        loss = self._loss(train)
        grower = Grower(
            bins=bins,
            known=coding.known,
            nominal=~ordered(self.columns_),
            directions=self.directions(len(loss.start)),
            weights=train.weights,
            limits=Limits(self.max_leaves, self.max_depth, self.min_leaf, self.leaf_penalty, self.growth),
        )
        columns = None if self.features == 1 else max(1, round(self.features * len(bins)))
        plan = Plan(self.rounds, self.learning_rate, columns)
        course = boost(self, grower, loss, plan, self._held(aside, coding), rng)
        self.coding_, self.trees_, self.start_ = coding.arrays(), course.trees.arrays(), course.start
        self.training_loss_, self.aside_loss_ = course.training, course.aside

    def _parted(self, data: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """Rows to learn from, and rows held aside, if any; equal rows stay together."""
        drawn = np.zeros(len(data), bool)
        if self.stop_after is not None:
            drawn = draws(data.table, int(rng.integers(2**62))) < self.validation
            if drawn.all() or not drawn.any():
                text = f"{len(data)} rows are too few to hold some aside: all {self.rounds} rounds are made"
                warnings.warn(text, MlcliWarning, stacklevel=3)
                drawn[:] = False
        train, aside = data.take(np.flatnonzero(~drawn)), data.take(np.flatnonzero(drawn))
        self.present_ = np.empty(0, np.int32)
        if self.classes_ is not None:
            self.present_ = np.flatnonzero(train.class_totals > 0).astype(np.int32)
            aside = aside.take(np.flatnonzero(np.isin(aside.y, self.present_)))
        return train, aside if len(aside) else None

    def _loss(self, data: Any) -> Loss:
        if self.classes_ is None:
            return LOSSES_OF_VALUES[self.loss](data.y, data.weights, self.delta)
        if self.loss != "squared":
            warnings.warn(f"{self.loss} is of numbers: classes cost log-loss", MlcliWarning, stacklevel=3)
        return loss_of_classes(data.y, self.present_, data.weights)

    def _held(self, aside: Any, coding: Coding) -> HeldAside | None:
        if aside is None or self.stop_after is None:
            return None
        bins = np.ascontiguousarray(coding.bins(aside.table, np.ones(len(self.columns_), bool)).T)
        return HeldAside(bins, self._loss(aside), self.stop_after)

    @property
    def ensemble(self) -> Ensemble:
        """What was learned."""
        return Ensemble(Coding.restored(self.coding_), Trees.restored(self.trees_), self.start_)

    def predict_proba(self, table: Table) -> Array:
        """What the summed scores say of each class."""
        return self.ensemble.probabilities(table, self.present_, len(self.classes_))

    def stages(self) -> int:
        """The rounds that are kept."""
        return len(self.trees_["roots"]) // len(self.start_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """What the trees of the first rounds say."""
        for scores in self.ensemble.staged_scores(table, at):
            if self.classes_ is None:
                yield scores[0]
            else:
                yield probabilities_of(scores, self.present_, len(self.classes_))

    def predict_values(self, table: Table) -> Array:
        """The summed scores."""
        values: Array = self.ensemble.scores(table)[0]
        return values

    def explain(self) -> Explanation:
        """Rounds kept, the loss along the way, and what columns gained."""
        trees = Trees.restored(self.trees_)
        return explained(trees, self.columns_, self.training_loss_, self.aside_loss_, len(self.start_))

    def check_learned(self) -> None:
        """Refuse what could lead a row astray, or answer other classes."""
        self.ensemble.check(self.columns_)
        classes = np.arange(0 if self.classes_ is None else len(self.classes_))
        if self.present_.ndim != 1 or not np.isin(self.present_, classes).all():
            raise ValueError("the saved classes are not there")
        if len(self.start_) != outputs_of(self.present_):
            raise ValueError("the saved scores are of other classes")
        curves = (self.training_loss_, self.aside_loss_)
        if any(curve.ndim != 1 for curve in curves) or len(self.aside_loss_) not in (0, len(self.training_loss_)):
            raise ValueError("the saved losses are no curves")
