"""Conditional random field: whole sequences of tags by features of rows and pairs of tags, normalised together.

Formula:
    p(y | x) = exp(Σ_i s(i, y_i) + Σ_i t(y_{i-1}, y_i)) / Σ over y' of the same; s sums the weights of features of
    row i with a tag, t weighs a pair of tags: equation (128) of the notes, of features of one row or pair.
    The weights maximise Σ log p(y | x) − l2 / 2 ‖w‖² − l1 Σ |w|, equation (124). Answered are the most probable
    tags of the sequence, by Viterbi; where probabilities are asked for, P(y_i | x) by forward-backward.

Assumes:
    Given all observations, a tag depends on its neighbours only. Sequences are independent.

Cost:
    A step of L-BFGS takes rows × (features of a row × K + K²), K being the number of tags; some 50 to 200 steps.

Choices:
    Templates say what features look at (``word@-1``, ``suffix:3``, ``shape``); every row has one feature that is
    always there, and the first and the last row of a sequence one each, so that tags by themselves, starts and
    ends have weights. All pairs of feature and tag have a weight, also those never met together (crfsuite:
    ``feature.possible_states`` and ``feature.possible_transitions``, its c2 is half of l2 and its c1 is l1).
    ``l1`` makes most of them 0; L-BFGS then goes from orthant to orthant (OWL-QN), in about as many steps. A
    level that was not in training has the features of its letters (prefix, suffix, shape), if any; numbers are
    features themselves.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.linear_objective import Iterate
from mlcli.engines.solvers import complaint, lbfgs, owlqn
from mlcli.kernels.linear_chain import add_by_feature, expect_chains, expect_steps, score_rows
from mlcli.models.sequences._markov import (
    IMPOSSIBLE,
    best_paths,
    most_probable_tags,
    tag_probabilities,
    viterbi_table,
)
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths

TEMPLATE = re.compile(r"(word|shape|(?:prefix|suffix):[1-9]\d?)(?:@([+-]?\d{1,2}))?")
TEMPLATE_HELP = "word, shape, prefix:2 or suffix:3, each with @-1 or @1 for the row before or after"


@dataclass(kw_only=True, eq=False)
class LogLinearTagger(Tagger, CountsParameters, RowExplainer):
    """Weights of features with tags, and of tags after tags."""

    templates: tuple[str, ...] = param(("word@-1", "word", "word@1"), f"what features look at: {TEMPLATE_HELP}")
    columns: tuple[str, ...] = param((), "columns that features are made of; all by default")
    l2: float = param(
        1.0,
        "L2 penalty: the cost of ½ squared weight, in log-likelihood",
        ge=0,
        tune=log_range(1e-2, 1e2, simpler="high"),
    )
    l1: float = param(
        0.0, "L1 penalty: the cost of a unit of absolute weight, which leaves features out", ge=0, if_given=True
    )
    tolerance: float = param(1e-5, "the tolerance: the gradient per row at which to stop", gt=0)
    max_iterations: int = param(1000, "maximum number of steps", ge=1)

    by_row: ClassVar[bool] = False
    """Whether tags are normalised row by row, given the tag before; else over whole sequences."""

    weights_: Array = learned("features", "classes")
    """Features × tags; a tag that was not met has none."""
    follows_: Array = learned("classes", "classes")
    """The weight of each tag after each."""
    steps_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Levels (new ones too if a template looks at letters), numbers, and empty cells: no feature."""
        letters = any(not text.startswith("word") for text in self.templates)
        return Accepts(nominal=True, missing=True, letters=letters, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """Illegal templates, and no penalty at all."""
        problems = [
            f"templates: '{text}' is none; a template is {TEMPLATE_HELP}"
            for text in self.templates
            if Template.read(text) is None
        ]
        if not self.l1 and not self.l2:
            problems.append("l1 and l2 cannot both be 0: weights would grow without end")
        return problems

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Maximise the penalised likelihood, from weights of 0, over the tags that occur."""
        met = np.flatnonzero(data.class_totals > 0)
        feature_map = self._feature_map(data.table.columns)
        objective = ChainObjective(
            rows=feature_map.of_rows(data.table, data.sequence),
            features=len(feature_map.names),
            tags=np.searchsorted(met, data.y).astype(np.int32),
            sequence=data.sequence,
            count=len(met),
            l2=self.l2,
            by_row=self.by_row,
        )
        start, tolerance = np.zeros(len(objective.own_curvatures())), self.tolerance * len(data)
        # L-BFGS remembers 20 steps: they cost little beside the sums over all rows.
        limits = (tolerance, self.max_iterations, 20)
        minimum = owlqn(objective, self.l1, start, *limits) if self.l1 else lbfgs(objective, start, *limits)
        if unfinished := complaint([minimum], tolerance):
            warnings.warn(f"{self.id} {unfinished}; a larger l2 would help", MlcliWarning, stacklevel=2)
        weights, follows = objective.split(minimum.at.w)
        tags = len(data.classes)
        self.weights_, self.follows_ = np.zeros((len(weights), tags)), np.zeros((tags, tags))
        self.weights_[:, met], self.follows_[np.ix_(met, met)] = weights, follows
        self.steps_ = minimum.iterations

    def _feature_map(self, columns: Sequence[Column]) -> FeatureMap:
        """The features that the templates make of the chosen columns."""
        by_name = {column.name: column for column in columns}
        for name in self.columns:
            if name not in by_name:
                hint = did_you_mean(name, by_name, "columns")
                raise FitError(f"{self.name}: there is no column '{name}'", hint=hint)
        chosen = [by_name[name] for name in self.columns] if self.columns else columns
        return FeatureMap.of(chosen, self.templates)

    def scores(self, table: Table, sequence: Codes) -> Array:
        """The summed weights of the features of each row with each tag (rows × tags)."""
        rows = self._feature_map(self.columns_).of_rows(table, sequence)
        scores = np.empty((len(table), len(self.classes_)))
        score_rows(rows.begins, rows.features, rows.values, self.weights_, scores)
        return np.where(self.class_totals_ > 0, scores, IMPOSSIBLE)

    def chain(self, table: Table, sequence: Codes) -> tuple[Array, Array]:
        """Scores of rows, and of tags after tags, that add up to the score of a path; its start adds nothing."""
        return self.scores(table, sequence), np.pad(self.follows_, (0, 1))

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The most probable tags of each sequence."""
        return most_probable_tags(*self.chain(table, sequence), sequence, False)

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each tag at each row, summed over the tags of all other rows."""
        return tag_probabilities(*self.chain(table, sequence), sequence, False)

    def best_paths(self, table: Table, sequence: Codes) -> tuple[Array, str]:
        """For one sequence, the score of the best tags up to each row by last tag, and what a score means."""
        meaning = "The score (log-probability plus a constant) of the best tags up to a row, by last tag."
        return best_paths(*self.chain(table, sequence)), meaning

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The table of Viterbi for one sequence."""
        sequence = np.zeros(len(table), np.int32)
        tags, (best, meaning) = self.tag(table, sequence), self.best_paths(table, sequence)
        return (viterbi_table(table, best, tags, self.classes_, self.target_, meaning),)

    def explain(self) -> findings.Explanation:
        """The weights of tags after tags, and the strongest features of each tag."""
        pairs = tuple((tag, *row) for tag, row in zip(self.classes_, self.follows_.tolist(), strict=True))
        names = self._feature_map(self.columns_).names
        strongest = np.argsort(-np.abs(self.weights_), axis=0, kind="stable")[:8].T
        rows = tuple(
            (tag, names[feature], float(self.weights_[feature, code]))
            for code, (tag, features) in enumerate(zip(self.classes_, strongest.tolist(), strict=True))
            for feature in features
            if self.weights_[feature, code] or not self.l1
        )
        nonzero = f"{np.count_nonzero(self.weights_):,} of {self.weights_.size:,} weights are not 0"
        title, header = "Largest feature weights of each tag", ("tag", "feature", "weight")
        return (
            findings.Table("Transition weights", ("after", *self.classes_), pairs),
            findings.Table(title, header, rows, note=nonzero if self.l1 else ""),
        )

    def adjustable_parameters(self, table: Table) -> float | None:
        """The weights over the tags that occur; with an L1 penalty those that are not 0."""
        if self.l1:
            return float(np.count_nonzero(self.weights_) + np.count_nonzero(self.follows_))
        tags = int((self.class_totals_ > 0).sum())
        return float((len(self.weights_) + tags) * tags)

    def check_learned(self) -> None:
        """Finite weights, as many as features."""
        if len(self.weights_) != len(self._feature_map(self.columns_).names):
            raise ValueError("weights that do not fit the features")
        if not (np.isfinite(self.weights_).all() and np.isfinite(self.follows_).all()):
            raise ValueError("weights that are no numbers")


@register("crf", reference="Lafferty, McCallum & Pereira 2001")
class ConditionalRandomField(LogLinearTagger, Tagger):
    """A linear chain, normalised over whole sequences."""


@dataclass(frozen=True, eq=False)
class ChainObjective:
    """−Σ log P(tags | rows) + l2 / 2 ‖w‖²; the vector w has the weights of features, then those of pairs."""

    rows: RowFeatures
    features: int
    tags: Codes
    sequence: Codes
    count: int
    """How many tags there are."""
    l2: float
    by_row: bool
    """Whether each tag is normalised by itself, after the true tag before it."""

    @cached_property
    def starts(self) -> Rows:
        """The first row of each sequence, and the number of rows."""
        return np.append(lengths(self.sequence)[0], len(self.tags))

    @cached_property
    def true_pairs(self) -> Array:
        """How often each tag follows each."""
        pairs = np.zeros((self.count, self.count))
        inner = np.flatnonzero(self.sequence[1:] == self.sequence[:-1])
        np.add.at(pairs, (self.tags[inner], self.tags[inner + 1]), 1.0)
        return pairs

    def split(self, w: Array) -> tuple[Array, Array]:
        """The weights of features (× tags), and of pairs of tags; both are views."""
        cut = self.features * self.count
        return w[:cut].reshape(self.features, self.count), w[cut:].reshape(self.count, self.count)

    def at(self, w: Array) -> Iterate:
        """The objective and its gradient: expected minus observed features and pairs."""
        weights, follows = self.split(w)
        rows, index = self.rows, np.arange(len(self.tags))
        scores, shares = np.empty((len(index), self.count)), np.empty((len(index), self.count))
        score_rows(rows.begins, rows.features, rows.values, weights, scores)
        gradient = np.zeros_like(w)
        by_feature, by_pair = self.split(gradient)
        if self.by_row:
            normaliser = expect_steps(scores, follows, self.starts, self.tags, shares, by_pair)
        else:
            normaliser = expect_chains(scores, follows, self.starts, shares, by_pair)
        if not np.isfinite(normaliser):
            return Iterate(w, np.inf, gradient, scores, np.inf)
        value = normaliser - scores[index, self.tags].sum() - float(np.vdot(self.true_pairs, follows))
        shares[index, self.tags] -= 1.0
        add_by_feature(rows.begins, rows.features, rows.values, shares, by_feature)
        by_pair -= self.true_pairs
        gradient += self.l2 * w
        steepness = float(np.abs(gradient).max(initial=0.0))
        return Iterate(w, float(value) + self.l2 / 2 * float(w @ w), gradient, scores, steepness)

    def own_curvatures(self) -> Array:
        """All equal: the curvature of a rare feature alone would mislead, since its rows have other features."""
        return np.ones((self.features + self.count) * self.count)


# Features. A template says what a feature looks at (``word``: the cell itself; ``prefix:2``, ``suffix:3``: so many
# letters; ``shape``: kinds of letters), and, after ``@``, how many rows later (``word@1``) or earlier
# (``word@-1``). Every template is applied to every column; for numbers ``word`` is the number itself.

ALWAYS = ("(any row)", "(first row)", "(last row)")
"""The features that need no template: of a tag by itself, and where sequences begin and end."""


@dataclass(frozen=True)
class Template:
    """What is looked at, and in which row."""

    look: str
    length: int
    offset: int

    @staticmethod
    def read(text: str) -> Template | None:
        """The template that a text means; None if it is illegal."""
        match = TEMPLATE.fullmatch(text.strip())
        if match is None:
            return None
        look, _, length = match[1].partition(":")
        return Template(look, int(length or 0), int(match[2] or 0))

    def name_for(self, column: str) -> str:
        """The name of the feature for a column."""
        look = "" if self.look == "word" else f" {self.look}{self.length or ''}"
        return f"{column}{look}{f'@{self.offset:+d}' if self.offset else ''}"

    def part_of(self, level: str) -> str:
        """The part of a level that is looked at."""
        if self.look == "prefix":
            return level[: self.length]
        if self.look == "suffix":
            return level[-self.length :]
        if self.look == "shape":  # X, x and d for runs of capitals, small letters and digits
            kinds = ("d" if c.isdigit() else "X" if c.isupper() else "x" if c.islower() else c for c in level)
            return "".join(kind for kind, _ in groupby(kinds))
        return level


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """The features of each row with their values, those of row i from ``begins[i]`` to ``begins[i + 1]``."""

    begins: Rows
    features: Rows
    values: Array


@dataclass(frozen=True, eq=False)
class Slot:
    """One template of one column: the feature of each level, or the one feature that a number is."""

    template: Template
    column: Column
    features: Rows
    names: tuple[str, ...]

    @staticmethod
    def of(template: Template, column: Column, first: int) -> Slot:
        """The features are numbered from ``first``."""
        name = template.name_for(column.name)
        if not column.coded:
            return Slot(template, column, np.array([first]), (name,))
        parts = [template.part_of(level) for level in column.levels]
        numbers = {part: first + index for index, part in enumerate(dict.fromkeys(parts))}
        features = np.array([numbers[part] for part in parts], np.intp)
        return Slot(template, column, features, tuple(f"{name}={part}" for part in numbers))

    def of_rows(self, table: Table, sequence: Codes) -> tuple[Rows, Array]:
        """The feature of each row (-1 for none), and its value."""
        cells: NDArray[np.float64 | np.int32] = np.asarray(table.cells(self.column.name))
        index = np.arange(len(table)) + self.template.offset
        inside = (index >= 0) & (index < len(table))
        index = np.where(inside, index, 0)
        if len(table):
            cells, inside = cells[index], inside & (sequence[index] == sequence)
        if not self.column.coded:
            present = inside & np.isfinite(cells)
            return np.where(present, self.features[0], -1), np.where(present, cells, 0.0)
        features = self.features
        levels = next(column.levels for column in table.columns if column.name == self.column.name)
        if len(levels) > len(features):  # a level unknown in training has the feature of its letters, if any
            parts = [self.template.part_of(level) for level in levels]
            numbers = dict(zip(parts, features.tolist(), strict=False))
            features = np.array([numbers.get(part, -1) for part in parts], np.intp)
        return np.append(features, -1)[np.where(inside & (cells >= 0), cells, -1)], np.ones(len(cells))


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """All features that templates make of some columns."""

    slots: tuple[Slot, ...]

    @staticmethod
    def of(columns: Sequence[Column], templates: Sequence[str]) -> FeatureMap:
        """Numbered template by template, after the features that need no template."""
        slots, first = list[Slot](), len(ALWAYS)
        for template in filter(None, map(Template.read, templates)):
            for column in columns:
                if column.coded or template.look == "word":
                    slots.append(Slot.of(template, column, first))
                    first += len(slots[-1].names)
        return FeatureMap(tuple(slots))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature, in their order."""
        return (*ALWAYS, *(name for slot in self.slots for name in slot.names))

    def of_rows(self, table: Table, sequence: Codes) -> RowFeatures:
        """The features of the rows of sequences."""
        first, last = np.diff(sequence, prepend=-1) != 0, np.diff(sequence, append=-1) != 0
        always = [np.zeros(len(table), np.intp), np.where(first, 1, -1), np.where(last, 2, -1)]
        parts = [(features, np.ones(len(table))) for features in always]
        parts += [slot.of_rows(table, sequence) for slot in self.slots]
        features = np.column_stack([part for part, _ in parts]).astype(np.intp)
        values = np.column_stack([part for _, part in parts])
        present = features >= 0
        begins = np.append(0, np.cumsum(present.sum(axis=1)))
        return RowFeatures(begins, features[present], values[present])
