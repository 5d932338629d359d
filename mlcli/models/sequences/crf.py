"""Conditional random field: whole sequences of tags by features of rows and pairs of tags, normalised together.

Formula:
    p(y | x) = exp(Σ_i s(i, y_i) + Σ_i t(y_{i-1}, y_i)) / Σ over y' of the same; s sums the weights of features of
    row i with a tag, t weighs a pair of tags: equation (128) of the notes, of features of one row or pair.
    The weights maximise Σ log p(y | x) − l2 / 2 ‖w‖² − l1 Σ |w|, equation (124). Answered are the most probable
    tags of the sequence, by Viterbi; where probabilities are asked for, P(y_i | x) by forward-backward.

Assumes:
    Given everything that is observed, a tag depends on its neighbours only. Sequences are independent.

Cost:
    A step of L-BFGS takes rows × (features of a row × K + K²), K being the number of tags; some 50 to 200 steps.

Choices:
    Templates say what features look at (``word@-1``, ``suffix:3``, ``shape``); every row has one that is always
    there, and the first and the last of a sequence one each, so that tags by themselves, starts and ends have
    weights. All pairs of feature and tag have a weight, also those never met together (crfsuite:
    ``feature.possible_states`` and ``feature.possible_transitions``, its c2 is half of l2 and its c1 is l1).
    ``l1`` leaves out most of them; L-BFGS then goes from orthant to orthant (OWL-QN), in about as many steps. A
    level that the training file does not have makes the features of its letters (prefix, suffix, shape), if any;
    numbers are features as they stand.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.linear_objective import Iterate, complaint
from mlcli.engines.solvers.lbfgs import lbfgs
from mlcli.engines.solvers.owlqn import owlqn
from mlcli.kernels.linear_chain import add_by_feature, expect_chains, expect_steps, score_rows
from mlcli.models.sequences._markov import (
    IMPOSSIBLE,
    OF_SCORES,
    best_paths,
    most_probable_tags,
    tag_probabilities,
    viterbi_table,
)
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths

# What log-linear models of sequences minimise: −log P(tags | rows), by weights of features and of pairs.
#
# A template says what a feature looks at (``word``: the cell itself; ``prefix:2``, ``suffix:3``: so many letters;
# ``shape``: kinds of letters), and, after ``@``, how many rows later (``word@1``) or earlier (``word@-1``). It is
# made for every column; of a column of numbers ``word`` is the number itself, and there are no letters.

WRITTEN = re.compile(r"(word|shape|(?:prefix|suffix):[1-9]\d?)(?:@([+-]?\d{1,2}))?")
LOOKS = "word, shape, prefix:2 or suffix:3, each with @-1 or @1 for the row before or after"
ALWAYS = ("(any row)", "(first row)", "(last row)")
"""The features that need no template: of a tag by itself, and where sequences begin and end."""
LETTERS: dict[str, Callable[[str, int], str]] = {
    "prefix": lambda text, length: text[:length],
    "suffix": lambda text, length: text[-length:],
    "shape": lambda text, length: "".join(kind for kind, _ in groupby(map(_kind_of_letter, text))),
    "word": lambda text, length: text,
}


def _kind_of_letter(letter: str) -> str:
    """X, x or d for a capital, a small letter, a digit; others are their own kind."""
    return "d" if letter.isdigit() else "X" if letter.isupper() else "x" if letter.islower() else letter


@dataclass(frozen=True)
class Template:
    """What is looked at, and in which row."""

    look: str
    length: int
    offset: int

    @staticmethod
    def read(text: str) -> Template | None:
        """The template that a text means, or None."""
        match = WRITTEN.fullmatch(text.strip())
        if match is None:
            return None
        look, _, length = match[1].partition(":")
        return Template(look, int(length or 0), int(match[2] or 0))

    def named(self, column: str) -> str:
        """What it is called for a column."""
        look = "" if self.look == "word" else f" {self.look}{self.length or ''}"
        return f"{column}{look}{f'@{self.offset:+d}' if self.offset else ''}"


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
        name = template.named(column.name)
        if not column.coded:
            return Slot(template, column, np.array([first]), (name,))
        seen = [LETTERS[template.look](level, template.length) for level in column.levels]
        order = {text: first + index for index, text in enumerate(dict.fromkeys(seen))}
        features = np.array([order[text] for text in seen], np.intp)
        return Slot(template, column, features, tuple(f"{name}={text}" for text in order))

    def _of_levels(self, table: Table) -> Rows:
        """The feature of each level; one that was not there in training has that of its letters, or none."""
        levels = next(column.levels for column in table.columns if column.name == self.column.name)
        if len(levels) == len(self.column.levels):
            return self.features
        seen = [LETTERS[self.template.look](level, self.template.length) for level in levels]
        feature_of = dict(zip(seen, self.features.tolist(), strict=False))
        return np.array([feature_of.get(text, -1) for text in seen], np.intp)

    def of_rows(self, table: Table, sequence: Codes) -> tuple[Rows, Array]:
        """The feature of each row (-1 for none), and its value."""
        cells, there = _moved(np.asarray(table.cells(self.column.name)), sequence, self.template.offset)
        if self.column.coded:
            known = there & (cells >= 0)
            features = np.append(self._of_levels(table), -1)[np.where(known, cells, -1)]
            return features, np.ones(len(cells))
        known = there & np.isfinite(cells)
        return np.where(known, self.features[0], -1), np.where(known, cells, 0.0)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """All features that templates make of some columns."""

    slots: tuple[Slot, ...]

    @staticmethod
    def of(columns: Sequence[Column], templates: Sequence[str]) -> FeatureMap:
        """Numbered template by template, after those that every map has."""
        slots, first = list[Slot](), len(ALWAYS)
        for template in filter(None, map(Template.read, templates)):
            for column in columns:
                if column.coded or template.look == "word":
                    slots.append(Slot.of(template, column, first))
                    first += len(slots[-1].names)
        return FeatureMap(tuple(slots))

    @property
    def names(self) -> tuple[str, ...]:
        """Of each feature, in their order."""
        return (*ALWAYS, *(name for slot in self.slots for name in slot.names))

    def of_rows(self, table: Table, sequence: Codes) -> RowFeatures:
        """The features of the rows of sequences."""
        ends = np.diff(sequence, prepend=-1) != 0, np.diff(sequence, append=-1) != 0
        always = [np.zeros(len(table), np.intp), np.where(ends[0], 1, -1), np.where(ends[1], 2, -1)]
        parts = [(features, np.ones(len(table))) for features in always]
        parts += [slot.of_rows(table, sequence) for slot in self.slots]
        features = np.column_stack([part for part, _ in parts]).astype(np.intp)
        values = np.column_stack([part for _, part in parts])
        there = features >= 0
        begins = np.append(0, np.cumsum(there.sum(axis=1)))
        return RowFeatures(begins, features[there], values[there])


def _moved(cells: NDArray[Any], sequence: Codes, offset: int) -> tuple[NDArray[Any], Flags]:
    """The cell so many rows later, and whether there is such a row in the sequence."""
    place = np.arange(len(cells)) + offset
    inside = (place >= 0) & (place < len(cells))
    place = np.where(inside, place, 0)
    if not len(cells):
        return cells, inside
    return cells[place], inside & (sequence[place] == sequence)


Expect = Callable[[Array, Array, Rows, Codes, Array, Array], float]
"""From scores of rows, of pairs, first rows and tags: normalisers, with shares and pairs as they are expected."""


def over_sequences(scores: Array, follows: Array, starts: Rows, tags: Codes, shares: Array, pairs: Array) -> float:
    """Tags of whole sequences are normalised together."""
    return float(expect_chains(scores, follows, starts, shares, pairs))


def over_steps(scores: Array, follows: Array, starts: Rows, tags: Codes, shares: Array, pairs: Array) -> float:
    """Each tag is normalised by itself, after the true one before it."""
    return float(expect_steps(scores, follows, starts, tags, shares, pairs))


@dataclass(frozen=True, eq=False)
class ChainObjective:
    """−Σ log P(tags | rows) + l2 / 2 ‖w‖², w being the weights of features, then of pairs, in one line."""

    rows: RowFeatures
    features: int
    tags: Codes
    sequence: Codes
    count: int
    """How many tags there are."""
    l2: float
    expect: Expect

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

    def parted(self, w: Array) -> tuple[Array, Array]:
        """The weights of features (× tags), and of pairs of tags."""
        cut = self.features * self.count
        return w[:cut].reshape(self.features, self.count), w[cut:].reshape(self.count, self.count)

    def at(self, w: Array) -> Iterate:
        """The objective and its gradient at some weights."""
        weights, follows = self.parted(w)
        rows, numbers = self.rows, np.arange(len(self.tags))
        scores, shares = np.empty((len(numbers), self.count)), np.empty((len(numbers), self.count))
        score_rows(rows.begins, rows.features, rows.values, weights, scores)
        slope = np.zeros_like(w)
        by_feature, by_pair = self.parted(slope)
        normaliser = self.expect(scores, follows, self.starts, self.tags, shares, by_pair)
        if not np.isfinite(normaliser):
            return Iterate(w, np.inf, slope, scores, np.inf)
        value = normaliser - scores[numbers, self.tags].sum() - float(np.vdot(self.true_pairs, follows))
        shares[numbers, self.tags] -= 1.0
        add_by_feature(rows.begins, rows.features, rows.values, shares, by_feature)
        by_pair -= self.true_pairs
        slope += self.l2 * w
        steepness = float(np.abs(slope).max(initial=0.0))
        return Iterate(w, float(value) + self.l2 / 2 * float(w @ w), slope, scores, steepness)

    def own_curvatures(self) -> Array:
        """Alike: what rare features bend by themselves would mislead, as the others of their rows share it."""
        return np.ones((self.features + self.count) * self.count)


@dataclass(kw_only=True, eq=False)
class LogLinearTagger(Tagger, CountsParameters, RowExplainer):
    """Weights of features with tags, and of tags after tags."""

    templates: tuple[str, ...] = param(("word@-1", "word", "word@1"), f"what features look at: {LOOKS}")
    columns: tuple[str, ...] = param((), "the columns that features are made of; all where none is named")
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
        # L-BFGS remembers 20 steps: they cost little beside the sums over all rows
        start, until = np.zeros((width + count) * count), (tolerance, self.max_iterations, 20)
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
        from mlcli.kernels.linear_chain import score_rows

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
        tags, (best, note) = self.tag(table, sequence), self.best_paths(table, sequence)
        return (viterbi_table(table, best, tags, self.classes_, self.target_, note),)

    def best_paths(self, table: Table, sequence: Codes) -> tuple[Array, str]:
        """Of one sequence, the score of the best tags up to each row for each last tag, and what it says."""
        return best_paths(*self.chain(table, sequence)), OF_SCORES

    def adjustable_parameters(self, table: Table) -> float | None:
        """The weights over the tags that occur; with an L1 penalty those that are not 0."""
        if self.l1:
            return float(np.count_nonzero(self.weights_) + np.count_nonzero(self.follows_))
        tags = int((self.class_totals_ > 0).sum())
        return float((len(self.weights_) + tags) * tags)

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
        # the strongest features of each tag
        strongest = np.argsort(-np.abs(self.weights_), axis=0, kind="stable")[:8].T
        rows = tuple(
            (tag, names[feature], float(self.weights_[feature, code]))
            for code, (tag, features) in enumerate(zip(self.classes_, strongest.tolist(), strict=True))
            for feature in features
            if self.weights_[feature, code] or not self.l1
        )
        left = f"{np.count_nonzero(self.weights_):,} of {self.weights_.size:,} weights are not 0"
        note = left if self.l1 else ""
        return (
            findings.Table("Transition weights", ("after", *self.classes_), pairs),
            findings.Table("Largest feature weights of each tag", ("tag", "feature", "weight"), rows, note=note),
        )


@register("crf", reference="Lafferty, McCallum & Pereira 2001")
class ConditionalRandomField(LogLinearTagger, Tagger):
    """A linear chain, normalised over whole sequences."""

    def normaliser(self) -> Expect:
        """Whole sequences."""
        return over_sequences
