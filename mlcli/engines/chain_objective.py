"""What log-linear models of sequences minimise: −log P(tags | rows), by weights of features and of pairs.

A template says what a feature looks at (``word``: the cell itself; ``prefix:2``, ``suffix:3``: so many letters;
``shape``: kinds of letters), and, after ``@``, how many rows later (``word@1``) or earlier (``word@-1``). It is
made for every column; of a column of numbers ``word`` is the number itself, and there are no letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.linear_objective import Iterate
from mlcli.kernels.sequences.linear_chain import add_by_feature, expect_chains, expect_steps, score_rows
from mlcli.tasks.sequence_labelling import lengths

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
        found = WRITTEN.fullmatch(text.strip())
        if found is None:
            return None
        look, _, length = found[1].partition(":")
        return Template(look, int(length or 0), int(found[2] or 0))

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
        order = {text: first + place for place, text in enumerate(dict.fromkeys(seen))}
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
