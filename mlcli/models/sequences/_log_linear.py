"""What log-linear taggers share: features of rows by templates, weights by L-BFGS, answers by Viterbi.

With absolute penalties weights come by OWL-QN: L-BFGS for a smooth objective plus absolute sizes of weights, by
orthants (Andrew & Gao 2007). Within an orthant, where no weight changes its sign, the absolute sizes are linear. A
step follows the guessed curvature of the smooth part down the least subgradient of the whole; a weight that would
change its sign is 0. Other than there, weights that stay at 0 have no part in the guess, and only those at 0 are
kept from going uphill: on tags of words that takes a sixth of the steps.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.chain_objective import LOOKS, ChainObjective, Expect, FeatureMap, Template
from mlcli.engines.linear_objective import ROUNDING, SHORTEST_STEP, Iterate, Minimum, Smooth, complaint
from mlcli.engines.sequences import IMPOSSIBLE, most_probable_tags, tag_probabilities
from mlcli.engines.solvers.lbfgs import FALL, Memory, descent, direction, lbfgs
from mlcli.models.sequences._tables import OF_SCORES, viterbi_table
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger

STRONGEST = 8
"""How many features of each tag are shown."""
REMEMBERED = 20
"""How many steps L-BFGS remembers: a step of it costs little beside the sums over all rows."""


@dataclass(kw_only=True, eq=False)
class LogLinearTagger(Tagger):
    """Weights of features with tags, and of tags after tags."""

    templates: tuple[str, ...] = param(("word@-1", "word", "word@1"), f"what features look at: {LOOKS}")
    columns: tuple[str, ...] = param((), "the columns that features are made of; all where none is named")
    l2: float = param(
        1.0, "the cost of ½ squared weight, in log-likelihood", ge=0, tune=log_range(1e-2, 1e2, simpler="high")
    )
    l1: float = param(0.0, "the cost of a unit of absolute weight, which leaves features out", ge=0, if_given=True)
    tolerance: float = param(1e-5, "the gradient per row at which to stop", gt=0)
    max_iterations: int = param(1000, "how many steps at most", ge=1)

    weights_: Array = learned("features", "classes")
    """Features × tags; a tag that was not met has none."""
    follows_: Array = learned("classes", "classes")
    """The weight of each tag after each."""
    steps_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Levels, the letters of new ones where templates look at them, numbers, and empty cells: no feature."""
        letters = any(not text.startswith("word") for text in self.templates)
        return Accepts(nominal=True, missing=True, letters=letters, prefers_scaled=True)

    def normaliser(self) -> Expect:
        """How tags are normalised; the one thing in which these taggers learn differently."""
        raise TypeError(f"{type(self).__name__} does not say how it is normalised")

    def conflicts(self) -> list[str]:
        """Templates that mean nothing."""
        return [
            f"templates: '{text}' is none; a template is {LOOKS}"
            for text in self.templates
            if Template.read(text) is None
        ] + ([] if self.l1 or self.l2 else ["l1 and l2 cannot both be 0: weights would grow without end"])

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Climb the penalised likelihood, from weights of 0, over the tags that occur."""
        met = np.flatnonzero(data.class_totals > 0)
        features = self._map(data.table.columns)
        width, count = len(features.names), len(met)
        objective = ChainObjective(
            rows=features.of_rows(data.table, data.sequence),
            features=width,
            tags=np.searchsorted(met, data.y).astype(np.int32),
            sequence=data.sequence,
            count=count,
            l2=self.l2,
            expect=self.normaliser(),
        )
        tolerance = self.tolerance * len(data)
        start, until = np.zeros((width + count) * count), (tolerance, self.max_iterations, REMEMBERED)
        found = owlqn(objective, self.l1, start, *until) if self.l1 else lbfgs(objective, start, *until)
        if unfinished := complaint([found], tolerance):
            warnings.warn(f"{self.id} {unfinished}; a larger l2 would help", MlcliWarning, stacklevel=2)
        weights, follows = objective.parted(found.at.w)
        tags = len(data.classes)
        self.weights_, self.follows_ = np.zeros((width, tags)), np.zeros((tags, tags))
        self.weights_[:, met], self.follows_[np.ix_(met, met)] = weights, follows
        self.steps_ = found.iterations

    def _map(self, columns: Sequence[Column]) -> FeatureMap:
        by_name = {column.name: column for column in columns}
        for name in self.columns:
            if name not in by_name:
                hint = did_you_mean(name, by_name, "columns")
                raise FitError(f"{self.name}: there is no column '{name}'", hint=hint)
        chosen = [by_name[name] for name in self.columns] if self.columns else columns
        return FeatureMap.of(chosen, self.templates)

    def scores(self, table: Table, sequence: Codes) -> Array:
        """What each tag scores at each row by itself (rows × tags)."""
        from mlcli.kernels.sequences.linear_chain import score_rows

        rows = self._map(self.columns_).of_rows(table, sequence)
        scores = np.empty((len(table), len(self.classes_)))
        score_rows(rows.begins, rows.features, rows.values, self.weights_, scores)
        return np.where(self.class_totals_ > 0, scores, IMPOSSIBLE)

    def chain(self, table: Table, sequence: Codes) -> tuple[Array, Array]:
        """Scores of rows, and of tags after tags, whose sum is that of a path; its start adds nothing."""
        return self.scores(table, sequence), np.pad(self.follows_, (0, 1))

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The most probable tags of each sequence."""
        return most_probable_tags(*self.chain(table, sequence), sequence, False)

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each tag at each row, whatever the others are."""
        return tag_probabilities(*self.chain(table, sequence), sequence, False)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The table of Viterbi for one sequence."""
        sequence = np.zeros(len(table), np.int32)
        tags = self.tag(table, sequence)
        chain = self.chain(table, sequence)
        return (viterbi_table(table, chain, tags, self.classes_, self.target_, OF_SCORES),)

    def check_learned(self) -> None:
        """Weights that fit the features, without gaps."""
        if len(self.weights_) != len(self._map(self.columns_).names):
            raise ValueError("weights that do not fit the features")
        if not (np.isfinite(self.weights_).all() and np.isfinite(self.follows_).all()):
            raise ValueError("weights that are no numbers")

    def explain(self) -> findings.Explanation:
        """The weights of tags after tags, and the strongest features of each tag."""
        names = self._map(self.columns_).names
        pairs = tuple((tag, *row) for tag, row in zip(self.classes_, self.follows_.tolist(), strict=True))
        strongest = np.argsort(-np.abs(self.weights_), axis=0, kind="stable")[:STRONGEST].T
        rows = tuple(
            (tag, names[feature], float(self.weights_[feature, code]))
            for code, (tag, features) in enumerate(zip(self.classes_, strongest.tolist(), strict=True))
            for feature in features
            if self.weights_[feature, code] or not self.l1
        )
        left = f"{np.count_nonzero(self.weights_):,} of {self.weights_.size:,} weights are not 0"
        note = left if self.l1 else ""
        return (
            findings.Table("What a tag adds to the score of the next", ("after", *self.classes_), pairs),
            findings.Table("The strongest features of each tag", ("tag", "feature", "weight"), rows, note=note),
        )


def owlqn(
    objective: Smooth, l1: float, start: Array, tolerance: float, max_iterations: int, remembered: int
) -> Minimum:
    """Step until no entry of the least subgradient of ``objective`` + ``l1`` Σ |w| is above ``tolerance``."""
    own = objective.own_curvatures()

    def step(here: Iterate, memory: Memory) -> Iterate | None:
        return _stepped_in_orthant(objective, here, _direction_of_free(here, own, memory, l1), l1)

    return descent(_cornered(objective.at(start), l1), step, tolerance, max_iterations, remembered)


def _cornered(here: Iterate, l1: float) -> Iterate:
    """With the absolute sizes in the value and the steepness; the slope stays that of the smooth part."""
    steepness = float(np.abs(_least(here, l1)).max(initial=0.0))
    return replace(here, value=here.value + l1 * float(np.abs(here.w).sum()), steepness=steepness)


def _least(here: Iterate, l1: float) -> Array:
    """The subgradient of least size: where a weight is 0, what is left of the slope beyond ``l1``."""
    at_corner = np.sign(here.gradient) * np.maximum(np.abs(here.gradient) - l1, 0.0)
    return np.where(here.w == 0, at_corner, here.gradient + l1 * np.sign(here.w))


def _direction_of_free(here: Iterate, own: Array, memory: Memory, l1: float) -> Array:
    """That of L-BFGS among the weights that can move; what others bend by would mislead."""
    downhill = _least(here, l1)
    free = (here.w != 0) | (downhill != 0)
    among = ((moved * free, bent * free) for moved, bent in memory)
    return direction(downhill, own, Memory(pair for pair in among if np.vdot(*pair) > 0))


def _stepped_in_orthant(objective: Smooth, here: Iterate, way: Array, l1: float) -> Iterate | None:
    """The longest of the step, its half, its quarter, ... within the orthant that lowers the objective enough."""
    downhill = -_least(here, l1)
    way = np.where((here.w != 0) | (way * downhill > 0), way, 0.0)
    orthant = np.where(here.w == 0, np.sign(downhill), np.sign(here.w))
    length = 1.0
    while length >= SHORTEST_STEP:
        ahead = here.w + length * way
        w = np.where(ahead * orthant > 0, ahead, 0.0)
        promised = min(0.0, -float(np.vdot(downhill, w - here.w)))
        there = _cornered(objective.at(w), l1)
        rounded = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        if there.value <= here.value + FALL * promised or (rounded and there.steepness < here.steepness):
            return there
        length /= 2
    return None
