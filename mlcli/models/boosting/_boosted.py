"""What methods of boosting share: parameters, rounds, trees on gradients, predictions and explanations.

A round computes the gradient and hessian of the loss at the scores so far, and fits a weak learner to them for
each output, mostly a tree. Rows held aside can say when to stop. All trees grow on the same binned rows; the
memory that this takes is used again for each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from mlcli.core.abilities import CountsParameters, HasImportances, RowExplainer, Staged
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Finding
from mlcli.core.findings import Table as Figures
from mlcli.core.params import GIVEN, TASK, learned, param
from mlcli.core.ranges import Among, Range, log_range
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.calibration import softmax, two_sided
from mlcli.engines.content_seeds import draws, held_aside
from mlcli.engines.trees.findings import (
    MOST_LEAVES,
    NamedTree,
    importance_table,
    importances,
    rules,
    warn_without_split,
)
from mlcli.engines.trees.growing import AMOUNT_BITS, MOST_BINS, Grower, bin_columns, bit_length
from mlcli.engines.trees.structure import LEAF, Cells, Trees, cells_of, level_counts
from mlcli.models.boosting._losses import LOSSES_OF_VALUES, AbsoluteLoss, Loss, LossDerivatives, loss_of_classes
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Grown, Ids, KeptSums, Limits, PackedTargets, Scale, Words


class Learner(Protocol):
    """A fitted weak learner of one output."""

    @property
    def contributes(self) -> bool:
        """Whether it changes any score."""

    def predict(self, table: Table) -> Array:
        """What it adds to the scores of rows."""


FitRound = Callable[[LossDerivatives, Array], Sequence[tuple[Learner, Array]]]
"""From the derivatives at some scores: for each output a learner, and what it adds to training rows."""


@dataclass(kw_only=True, eq=False)
class Boosted(Classifier, Regressor, CountsParameters, HasImportances, RowExplainer, Staged):
    """Trees of histograms, each grown on the gradients that the ones before leave."""

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
    """Whether trees grow on hessians; otherwise on equal weights, and each leaf searches for its best step."""
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
        """Per column the direction that predictions must keep, if any; and the L2 penalty of leaf scores."""
        return np.zeros(len(self.columns_), np.intp), 0.0

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Sort cells into bins, then add tree after tree."""
        train, aside = held_aside(data.counted(), self.validation if self.stop_after else 0.0, rng, draws)
        self.present_ = np.empty(0, np.int32)
        if isinstance(train, LabelledRows):
            self.present_ = np.flatnonzero(train.class_totals > 0).astype(np.int32)
            aside = aside and aside.take(np.flatnonzero(np.isin(aside.y, self.present_)))
        loss = self._loss(train)
        self.start_ = loss.start
        scored, validated = ScoredRows.of(train, loss, self.start_), None
        if aside:
            validated = ScoredRows.of(aside, self._loss(aside), self.start_)
        fit_round = self._round_fitter(train, loss, rng)
        learners = boost(fit_round, scored, validated, self.rounds, self.stop_after or 0, self.features == 1)
        self.training_loss_ = np.array(scored.losses)
        self.aside_loss_ = np.array([] if validated is None else validated.losses)
        self._keep(learners)
        if validated is not None and self.stages() == self.rounds:
            text = f"{self.id}: the loss of the rows held aside was smallest after the last round"
            warnings.warn(f"{text}: more rounds may be better", MlcliWarning, stacklevel=2)
        if self.stages() or len(scored.losses) == 1:  # otherwise no tree lowered the loss of the rows held aside
            warn_without_split(self.trees_, self.id, self.min_leaf, train.y)

    def _loss(self, data: SupervisedRows) -> Loss:
        """The loss of some rows."""
        if self.classes_ is None:
            return LOSSES_OF_VALUES[self.loss](data.y, data.weights, self.delta)
        if self.loss != "squared":
            text = f"{self.loss} is of numbers: the loss of classes is log-loss"
            warnings.warn(text, MlcliWarning, stacklevel=3)
        return loss_of_classes(data.y, self.present_, data.weights)

    def _round_fitter(self, train: SupervisedRows, loss: Loss, rng: np.random.Generator) -> FitRound:
        """A function that fits a tree for each output, on columns drawn for it."""
        from mlcli.kernels.trees.records import NO_LIMIT, Limits

        directions, l2 = self.bounds()
        depth, count = self.max_depth or NO_LIMIT, len(self.columns_)
        limits = Limits(max_leaves=self.max_leaves, max_depth=depth, min_leaf=self.min_leaf, l2=l2)
        grower = GradientGrower.of(cells_of(train.table), self.bins, train.weights, limits, directions)
        searches = not self.by_curvature or isinstance(loss, AbsoluteLoss)

        def fit_trees(derivatives: LossDerivatives, scores: Array) -> list[tuple[BoostedTree, Array]]:
            results = []
            for output, gradient in enumerate(derivatives.gradient):
                columns = None
                if self.features < 1:
                    columns = np.sort(rng.choice(count, max(1, round(self.features * count)), replace=False))
                hessian = derivatives.hessian[output] if self.by_curvature else train.weights
                score_of = partial(loss.step, derivatives, scores, output) if searches else None
                results.append(grower.grow(gradient, hessian, columns, self.learning_rate, score_of))
            return results

        return fit_trees

    def _keep(self, learners: Sequence[Learner]) -> None:
        """Store the fitted learners."""
        trees = [learner for learner in learners if isinstance(learner, BoostedTree)]
        self.trees_ = trees[0].grower.to_trees(trees) if trees else no_trees()

    def outputs_from(self, scores: Array) -> Array:
        """The predictions for scores: the numbers themselves, or the probabilities of all classes."""
        if self.classes_ is None:
            return scores[:, 0].copy()
        probabilities = np.zeros((len(scores), len(self.classes_)))
        scores = two_sided(scores[:, 0]) if len(self.present_) == 2 else scores
        probabilities[:, self.present_] = softmax(scores)
        return probabilities

    def predict_proba(self, table: Table) -> Array:
        """The probabilities that follow from the summed scores."""
        return next(self.staged(table, [self.stages()]))

    def predict_values(self, table: Table) -> Array:
        """The summed scores."""
        return next(self.staged(table, [self.stages()]))

    def stages(self) -> int:
        """The rounds that are kept."""
        return len(self.trees_) // len(self.start_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The predictions of the first rounds."""
        return map(self.outputs_from, self.scores(table, at))

    def scores(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The sums of the first rounds, in an array that the next rounds change."""
        scores, outputs = np.repeat(self.start_[None, :], len(table), axis=0), len(self.start_)
        for first, end in pairwise([0, *(stage * outputs for stage in at)]):
            self._add(scores, table, first, end)
            yield scores

    def _add(self, scores: Array, table: Table, first: int, end: int) -> None:
        """Add the predictions of some consecutive trees to scores (n × outputs)."""
        self.trees_.part(first, end).add_predictions(scores, cells_of(table))

    def explain_answer(self, table: Table) -> Explanation:
        """The start score, the sums after more and more rounds, and the predictions that follow from them."""
        at = sorted({0, *(2**power for power in range(self.stages().bit_length())), self.stages()})
        scores = np.vstack([score.copy() for score in self.scores(table, at)])
        header, columns = ["rounds", *self.score_names()], scores
        if self.classes_ is not None:
            header += [f"p({name})" for name in self.classes_]
            columns = np.hstack([scores, self.outputs_from(scores)])
        lines = tuple((count, *line) for count, line in zip(at, columns.tolist(), strict=True))
        return (Figures("Score of the row", tuple(header), lines),)

    def score_names(self) -> list[str]:
        """The name of the score of each output; of two classes it is the log-odds of the second."""
        names = [self.target_] if self.classes_ is None else [self.classes_[code] for code in self.present_]
        return [f"F({name})" for name in names[-len(self.start_) :]]

    def adjustable_parameters(self, table: Table) -> float | None:
        """The leaves of all trees, and the score of each output before any round."""
        return float(self.trees_.leaves.sum() + len(self.start_))

    def importances(self) -> Array:
        """Per column the share of all gains."""
        return importances(self.trees_, len(self.columns_))

    def explain(self) -> Explanation:
        """Rounds kept, the loss along the way, the first trees while they are small, and what columns gained."""
        trees, grown = self.trees_, len(self.training_loss_) - 1
        note = "after that, the loss of the rows held aside was not smaller" if self.stages() < grown else ""
        row = (self.stages(), grown, len(trees), int(trees.leaves.sum()) / max(len(trees), 1))
        rounds = Figures("Rounds", ("kept", "made", "trees", "leaves of a tree"), (row,), note=note)
        sections: list[Finding] = [rounds, self._losses(), *self._first_trees()]
        if trees.gain.any():
            splits = np.bincount(trees.feature[~trees.leaves], minlength=len(self.columns_))
            sections.append(importance_table(self.columns_, self.importances(), {"splits": splits}, splits > 0))
        return tuple(sections)

    def _losses(self) -> Figures:
        """The loss before the first round and after some of them, the last and the best included."""
        series, rounds, most_shown = {"training": self.training_loss_}, len(self.training_loss_), 12
        shown = np.linspace(0, rounds - 1, min(most_shown, rounds)).round().astype(int)
        if len(self.aside_loss_):
            series["held aside"], shown = self.aside_loss_, np.union1d(shown, np.argmin(self.aside_loss_))
        rows = tuple((int(k), *(float(losses[k]) for losses in series.values())) for k in shown)
        start = zip(self.score_names(), self.start_, strict=True)
        note = f"before any round, F₀: {', '.join(f'{name} = {value:.6g}' for name, value in start)}"
        return Figures("Loss", ("rounds", *series), rows, note=note)

    def _first_trees(self) -> Iterator[Finding]:
        """The trees of the first two rounds, unless they are large, with what their leaves add."""
        trees, names = self.trees_, self.score_names()
        end = [*trees.roots, len(trees.feature)][: 2 * len(names) + 1][-1]
        if trees.leaves[:end].sum() <= MOST_LEAVES:
            adds = [f"{value:+.6g}" for value in trees.value[:end, 0]]
            for index, root in enumerate(trees.roots[trees.roots < end].tolist()):
                title = f"Round {index // len(names) + 1}: what is added to {names[index % len(names)]}"
                yield rules(NamedTree(trees, self.columns_, adds, root), title)

    def check_learned(self) -> None:
        """Refuse trees, classes or losses that do not fit."""
        if not np.isfinite(self.start_).all():
            raise ValueError("the saved start is no list of numbers")
        self.trees_.check(level_counts(self.columns_), 1, len(self.start_))
        if not np.isin(self.present_, np.arange(0 if self.classes_ is None else len(self.classes_))).all():
            raise ValueError("the saved classes are not there")
        if len(self.start_) != (len(self.present_) if len(self.present_) > 2 else 1):
            raise ValueError("the saved scores are of other classes")
        if len(self.aside_loss_) not in (0, len(self.training_loss_)):
            raise ValueError("the saved losses are of other rounds")


@dataclass(eq=False)
class ScoredRows:
    """Rows with their scores so far (outputs × rows), and their mean loss before any round and after each."""

    table: Table
    loss: Loss
    scores: Array
    losses: list[float] = field(default_factory=list)

    @staticmethod
    def of(data: SupervisedRows, loss: Loss, start: Array) -> ScoredRows:
        """Rows that all have the score from which boosting starts."""
        return ScoredRows(data.table, loss, np.repeat(start[:, None], len(data), axis=1))

    @property
    def best(self) -> int:
        """The number of rounds with the smallest loss; of equal ones the fewest."""
        return int(np.argmin(self.losses))

    def add(self, steps: Iterable[Array]) -> LossDerivatives:
        """Add the steps of a round to the scores of each output; return the derivatives there."""
        for output, step in enumerate(steps):
            self.scores[output] += step
        derivatives = self.loss.at(self.scores)
        self.losses.append(derivatives.cost)
        return derivatives


def boost(
    fit_round: FitRound,
    train: ScoredRows,
    aside: ScoredRows | None,
    max_rounds: int,
    patience: int,
    ends_without_gain: bool,
) -> list[Learner]:
    """The learners of all outputs, round after round (algorithms 2 and 3 of the notes).

    With rows held aside, boosting ends after ``patience`` rounds without a smaller loss there, and the learners up
    to the smallest loss are kept. With ``ends_without_gain``, it also ends if a round changes no score.
    """
    learners, derivatives = list[Learner](), train.add(())
    if aside is not None:
        aside.add(())
    while len(train.losses) <= max_rounds and (aside is None or len(aside.losses) - 1 - aside.best < patience):
        fits = fit_round(derivatives, train.scores)
        if ends_without_gain and not any(learner.contributes for learner, _ in fits):
            break
        learners += [learner for learner, _ in fits]
        derivatives = train.add(step for _, step in fits)
        if aside is not None:
            aside.add(learner.predict(aside.table) for learner, _ in fits)
    return learners if aside is None else learners[: aside.best * len(train.scores)]


@dataclass(frozen=True, eq=False)
class BoostedTree:
    """One tree as the compiled loops leave it."""

    grower: GradientGrower
    grown: Grown

    @property
    def contributes(self) -> bool:
        """Whether it has a split."""
        return len(self.grown.nodes) > 1

    def predict(self, table: Table) -> Array:
        """What the tree adds to the scores of rows."""
        return self.grower.to_trees([self]).predict(cells_of(table))[:, 0]


@dataclass(frozen=True, eq=False)
class GradientGrower:
    """Binned training rows, and all that stays the same from tree to tree."""

    grower: Grower
    weights: Array
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""

    @staticmethod
    def of(cells: Cells, bins: int, weights: Array, limits: Limits, directions: Rows) -> GradientGrower:
        """Bin the cells, with at most so many ``bins`` for an ordered column."""
        joined, level_bins = join_rare_levels(cells, weights)
        grower = Grower(bin_columns(joined, bins), limits, level_bins=level_bins)
        return GradientGrower(grower, weights, directions)

    def grow(
        self,
        gradient: Array,
        hessian: Array,
        columns: Rows | None = None,
        learning_rate: float = 1.0,
        score_of: Callable[[Ids], float] | None = None,
    ) -> tuple[BoostedTree, Array]:
        """A tree on some columns, or on all by None, and what it adds to the scores of the training rows.

        A leaf adds −G / (H + l2), or the score that a function gives its rows, times the learning rate.
        """
        targets = self._packed(gradient, hessian)
        grown, rows = self.grower.grow(targets, np.arange(len(gradient)), columns, kept=self._kept)
        nodes = grown.nodes
        leaves = np.flatnonzero(nodes["feature"] == LEAF)
        leaves = leaves[np.argsort(nodes["begin"][leaves])]  # rows are grouped by leaf
        begin, end, value = (nodes[name][leaves] for name in ("begin", "end", "value"))
        if score_of is not None:
            value = np.array([score_of(rows[first:last]) for first, last in zip(begin, end, strict=True)])
        value *= learning_rate
        nodes["value"] = 0.0
        nodes["value"][leaves] = value
        steps = np.empty(len(rows))
        steps[rows] = np.repeat(value, end - begin)
        return BoostedTree(self, grown), steps

    def to_trees(self, each: Sequence[BoostedTree]) -> Trees:
        """All these trees as one structure."""
        _, scale = self._weight_units
        trees = self.grower.to_trees([tree.grown for tree in each], scale)
        return replace(trees.with_missing_sent_on(), impurity=np.empty(0))

    def _packed(self, gradient: Array, hessian: Array) -> PackedTargets:
        """Gradients and hessians as whole numbers of units, the finest whose sums fit."""
        from mlcli.kernels.trees.records import PackedTargets

        weights, scale = self._weight_units
        amount = 2.0 ** (bit_length(np.abs(gradient).sum()) - AMOUNT_BITS)
        curvature = 2.0 ** (bit_length(hessian.sum()) + 1 - scale.shift)
        parts = np.array([np.rint(gradient / amount), np.rint(hessian / curvature)]).astype(np.int64)
        parts[1] += weights << scale.shift
        return PackedTargets(parts, np.empty(0), scale._replace(amount=amount, curvature=curvature))

    @cached_property
    def _weight_units(self) -> tuple[Words, Scale]:
        """The weights in units (1 for whole ones), and where in a word they stand."""
        from mlcli.kernels.trees.records import Scale

        weights = self.weights
        spare = 30 - bit_length(weights.sum())  # sums of weights take at most 30 bits of a word
        digits = min(spare, 0) if (weights == np.rint(weights)).all() else spare
        shift = AMOUNT_BITS - bit_length(weights.sum() * 2.0**digits + len(weights))
        scale = Scale(0, 2.0**-digits, shift=shift, mask=(1 << shift) - 1)
        return np.floor(weights * 2.0**digits + 0.5).astype(np.int64), scale

    @cached_property
    def _kept(self) -> KeptSums:
        """Sums and bounds of nodes, which growing fills anew for each tree."""
        from mlcli.kernels.trees.records import KeptSums

        leaves, columns = self.grower.limits.max_leaves, self.grower.binned
        sums = np.empty((leaves, len(columns.known), 2, columns.width), np.int64)
        return KeptSums(sums, np.zeros(2 * leaves, np.intp), np.empty((2 * leaves, 2)), self.directions)


def join_rare_levels(cells: Cells, weights: Array) -> tuple[Cells, tuple[Rows, ...]]:
    """Cells whose nominal columns have no more levels than a byte can number, and the bin of every level.

    The rarest levels of a column share a bin.
    """
    bins = tuple(np.arange(count) for count in cells.levels)
    many = np.flatnonzero(cells.levels > MOST_BINS + 1)
    if not len(many):
        return cells, bins
    joined = cells.values.astype(np.float64)
    for j in many:
        codes, level_bins = joined[:, j].astype(np.intp), bins[j]
        frequent = np.argsort(-np.bincount(codes, weights, len(level_bins))[:-1], kind="stable")[: MOST_BINS - 1]
        level_bins[:-1], level_bins[-1] = MOST_BINS - 1, MOST_BINS
        level_bins[frequent] = np.arange(MOST_BINS - 1)
        joined[:, j] = level_bins[codes]
    return Cells(joined, np.minimum(cells.levels, MOST_BINS + 1)), bins


def no_trees() -> Trees:
    """A structure without trees."""
    index, note = np.empty(0, np.int32), np.empty(0)
    links = {"roots": index, "feature": index, "left": index, "missing": index, "offset": index, "child_of": index}
    return Trees(**links, threshold=note, value=np.empty((0, 1)), weight=note, impurity=note, gain=note)
