"""What methods of boosting share: their parameters, what they learn from rows, and how they answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from mlcli.core.abilities import CountsParameters, HasImportances, RowExplainer, Staged
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Finding
from mlcli.core.findings import Table as Figures
from mlcli.core.params import GIVEN, TASK, learned, param
from mlcli.core.ranges import Among, Range, log_range
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.calibration import softmax, two_sided
from mlcli.engines.content_seeds import draws, held_aside
from mlcli.engines.ensemble import scores_after_rounds
from mlcli.engines.trees.binning import MOST_BINS
from mlcli.engines.trees.boosting import BoostedTree, GradientGrower, ScoredRows, Steps, boost
from mlcli.engines.trees.cells import cells_of, level_counts
from mlcli.engines.trees.findings import (
    MOST_LEAVES,
    NamedTree,
    importance_table,
    importances,
    rules,
    warn_without_split,
)
from mlcli.engines.trees.losses import LOSSES_OF_VALUES, AbsoluteLoss, Loss, LossDerivatives, loss_of_classes
from mlcli.engines.trees.structure import Trees, no_trees
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

MOST_POINTS = 12
"""How many rounds of a curve are shown."""
FIRST_ROUNDS = 2
"""Whose trees are shown."""


@dataclass(kw_only=True, eq=False)
class Boosted(Classifier, Regressor, CountsParameters, HasImportances, RowExplainer, Staged):
    """Trees of histograms, each grown on the slopes of the loss that the ones before leave."""

    rounds: int = param(
        100, "how many rounds at most; each adds a tree per output", ge=1, tune=log_range(10, 200, simpler="low")
    )
    learning_rate: float = param(
        0.1,
        "the learning rate: which part of a tree's answer is added",
        gt=0,
        le=1,
        tune=Among((0.05, 0.2), ordered=True),
    )
    loss: str = param(
        "squared",
        "the loss of numbers; that of classes is log-loss",
        choices=LOSSES_OF_VALUES,
        matters_when={TASK: "regressor"},
    )
    delta: float | None = param(
        None,
        "up to where huber is squared; none: as far from the median as nine tenths of the values",
        gt=0,
        matters_when={"loss": "huber"},
    )
    max_leaves: int = param(
        31,
        "how many leaves a tree has at most",
        ge=2,
        le=4096,
        tune=log_range(4, 128, simpler="low", unasked=False),
    )
    max_depth: int | None = param(
        None, "the depth of a tree at most", ge=1, tune=Range(1, 12, simpler="low", unasked=False)
    )
    min_leaf: int = param(
        20, "how many rows a leaf holds at least", ge=1, tune=log_range(1, 100, simpler="high", unasked=False)
    )
    features: float = param(1.0, "the share of columns, drawn anew, that a tree may ask for", gt=0, le=1)
    bins: int = param(MOST_BINS, "how many bins a column of numbers has at most", ge=2, le=MOST_BINS)
    stop_after: int | None = param(
        None, "how many rounds without a smaller loss of rows held aside end it; none: all rows teach", ge=1
    )
    validation: float = param(
        0.1, "the share of rows held aside for that", gt=0, lt=1, matters_when={"stop_after": GIVEN}
    )

    by_curvature: ClassVar[bool] = True
    """Whether trees grow on hessians; else rows weigh alike, and each leaf searches how far to go."""
    stage_name: ClassVar[str] = "rounds"

    trees_: Trees = learned(structure=Trees)
    start_: Array = learned("outputs")
    present_: Codes = learned("present")
    """The classes with training rows; of numbers empty."""
    training_loss_: Array = learned("grown")
    aside_loss_: Array = learned("validated")

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True, large=True)

    def bounds(self) -> tuple[Rows, float]:
        """Per column the direction that answers must keep, if any, and what half a squared leaf score costs."""
        return np.zeros(len(self.columns_), np.intp), 0.0

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Sort cells into bins, then add tree after tree."""
        train, aside = self._parted(data.counted(), rng)
        loss = self._loss(train)
        self.start_ = loss.start
        scored = ScoredRows.of(train, loss, self.start_)
        judged = None if aside is None else ScoredRows.of(aside, self._loss(aside), self.start_)
        steps, ends = self._steps(train, loss, rng), self.features == 1
        learners = boost(steps, scored, judged, self.rounds, self.stop_after or 0, ends)
        self.training_loss_ = np.array(scored.costs)
        self.aside_loss_ = np.array([] if judged is None else judged.costs)
        self._keep(learners)
        if judged is not None and self.stages() == self.rounds:
            text = f"{self.id}: the loss of the rows held aside was smallest after the last round"
            warnings.warn(f"{text}: more rounds may be better", MlcliWarning, stacklevel=2)
        if self.stages() or len(scored.costs) == 1:  # else the rows held aside wanted none of the trees
            warn_without_split(self.trees_, self.id, self.min_leaf, train.y)

    def _steps(self, train: Any, loss: Loss, rng: np.random.Generator) -> Steps:
        """A round: for every output a tree of columns drawn for it."""
        from mlcli.kernels.trees.records import NO_LIMIT, Limits

        directions, l2 = self.bounds()
        depth = self.max_depth or NO_LIMIT
        limits = Limits(max_leaves=self.max_leaves, max_depth=depth, min_leaf=self.min_leaf, l2=l2)
        grower = GradientGrower.of(cells_of(train.table), self.bins, train.weights, limits, directions)
        searched = not self.by_curvature or isinstance(loss, AbsoluteLoss)

        def trees(slopes: LossDerivatives, scores: Array) -> list[tuple[BoostedTree, Array]]:
            result = []
            for output, gradient in enumerate(slopes.gradient):
                hessian = slopes.hessian[output] if self.by_curvature else train.weights
                score_of = partial(loss.step, slopes, scores, output) if searched else None
                result.append(grower.grow(gradient, hessian, self._drawn(rng), self.learning_rate, score_of))
            return result

        return trees

    def _drawn(self, rng: np.random.Generator) -> Rows | None:
        """Some of the columns, in their order; None for all."""
        columns = len(self.columns_)
        count = max(1, round(self.features * columns))
        return None if self.features == 1 else np.sort(rng.choice(columns, count, replace=False))

    def _keep(self, learners: Sequence[Any]) -> None:
        self.trees_ = learners[0].grower.trees(learners) if learners else no_trees()

    def _parted(self, data: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """Rows to learn from, and rows held aside, if any, of classes that are learned."""
        train, aside = held_aside(data, 0.0 if self.stop_after is None else self.validation, rng, draws)
        self.present_ = np.empty(0, np.int32)
        if self.classes_ is not None:
            self.present_ = np.flatnonzero(train.class_totals > 0).astype(np.int32)
            aside = aside and aside.take(np.flatnonzero(np.isin(aside.y, self.present_)))
        return train, aside or None

    def _loss(self, data: Any) -> Loss:
        if self.classes_ is None:
            return LOSSES_OF_VALUES[self.loss](data.y, data.weights, self.delta)
        if self.loss != "squared":
            warnings.warn(
                f"{self.loss} is of numbers: the loss of classes is log-loss", MlcliWarning, stacklevel=3
            )
        return loss_of_classes(data.y, self.present_, data.weights)

    def outputs_from(self, scores: Array) -> Array:
        """What scores say: the numbers themselves, or the probabilities of all classes."""
        if self.classes_ is None:
            return scores[:, 0].copy()
        probabilities = np.zeros((len(scores), len(self.classes_)))
        scores = two_sided(scores[:, 0]) if len(self.present_) == 2 else scores
        probabilities[:, self.present_] = softmax(scores)
        return probabilities

    def predict_proba(self, table: Table) -> Array:
        """What the summed scores say of each class."""
        return next(self.staged(table, [self.stages()]))

    def predict_values(self, table: Table) -> Array:
        """The summed scores."""
        return next(self.staged(table, [self.stages()]))

    def stages(self) -> int:
        """The rounds that are kept."""
        return len(self.trees_) // len(self.start_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """What the first rounds say."""
        return map(self.outputs_from, self.scores(table, at))

    def scores(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The sums of the first rounds, in an array that goes on to the next."""
        scores, outputs = np.repeat(self.start_[None, :], len(table), axis=0), len(self.start_)
        for first, end in pairwise([0, *(stage * outputs for stage in at)]):
            self._add(scores, table, first, end)
            yield scores

    def _add(self, scores: Array, table: Table, first: int, end: int) -> None:
        """Add to scores (n × outputs) what some consecutive trees say."""
        self.trees_.part(first, end).add_to(scores, cells_of(table))

    def explain_answer(self, table: Table) -> Explanation:
        """The score of the row before any round and after more and more of them, and what it says."""
        return (scores_after_rounds(self, table),)

    def score_names(self) -> list[str]:
        """The sum of each output; of two classes it is the log-odds of the second."""
        of = [self.target_] if self.classes_ is None else map(self.classes_.__getitem__, self.present_)
        return [f"F({name})" for name in list(of)[-len(self.start_) :]]

    def adjustable_parameters(self, table: Table) -> float | None:
        """The leaves of all trees, and the score of each output before any round."""
        return float(self.trees_.leaves.sum() + len(self.start_))

    def importances(self) -> Array:
        """Per column the share of all gains."""
        return importances(self.trees_, len(self.columns_))

    def explain(self) -> Explanation:
        """Rounds kept, the loss along the way, the first trees while they are small, and what columns gained."""
        found: list[Finding] = [self._rounds(), self._losses(), *self._first_trees()]
        return (*found, self._importance_table()) if self.trees_.gain.any() else tuple(found)

    def _rounds(self) -> Figures:
        trees, made = self.trees_, len(self.training_loss_) - 1
        why = "after that, the loss of the rows held aside was not smaller" if self.stages() < made else ""
        row = (self.stages(), made, len(trees), int(trees.leaves.sum()) / max(len(trees), 1))
        return Figures("Rounds", ("kept", "made", "trees", "leaves of a tree"), (row,), note=why)

    def _losses(self) -> Figures:
        """The loss before the first round and after some of them, the last and the best included."""
        series = {"training": self.training_loss_}
        rounds = len(self.training_loss_)
        shown = np.linspace(0, rounds - 1, min(MOST_POINTS, rounds)).round().astype(int)
        if len(self.aside_loss_):
            series["held aside"], shown = self.aside_loss_, np.union1d(shown, np.argmin(self.aside_loss_))
        rows = tuple((int(k), *(float(one[k]) for one in series.values())) for k in shown)
        begun = zip(self.score_names(), self.start_, strict=True)
        note = f"before any round, F₀: {', '.join(f'{name} = {value:.6g}' for name, value in begun)}"
        return Figures("Loss", ("rounds", *series), rows, note=note)

    def _first_trees(self) -> Iterator[Finding]:
        """Those of the first rounds, unless they are large, with what their leaves add."""
        trees, names = self.trees_, self.score_names()
        end = [*trees.roots, len(trees.feature)][: FIRST_ROUNDS * len(names) + 1][-1]
        if trees.leaves[:end].sum() <= MOST_LEAVES:
            adds = [f"{value:+.6g}" for value in trees.value[:end, 0]]
            for index, root in enumerate(trees.roots[trees.roots < end].tolist()):
                title = f"Round {index // len(names) + 1}: what is added to {names[index % len(names)]}"
                yield rules(NamedTree(trees, self.columns_, adds, root), title)

    def _importance_table(self) -> Figures:
        """What each column's questions gained, as a share of all."""
        trees = self.trees_
        splits = np.bincount(trees.feature[~trees.leaves], minlength=len(self.columns_))
        return importance_table(self.columns_, self.importances(), {"splits": splits}, splits > 0)

    def check_learned(self) -> None:
        """Refuse what could lead a row astray, or answer other classes."""
        if not np.isfinite(self.start_).all():
            raise ValueError("the saved start is no list of numbers")
        self.trees_.check(level_counts(self.columns_), 1, len(self.start_))
        if not np.isin(self.present_, np.arange(0 if self.classes_ is None else len(self.classes_))).all():
            raise ValueError("the saved classes are not there")
        if len(self.start_) != (len(self.present_) if len(self.present_) > 2 else 1):
            raise ValueError("the saved scores are of other classes")
        if len(self.aside_loss_) not in (0, len(self.training_loss_)):
            raise ValueError("the saved losses are of other rounds")
