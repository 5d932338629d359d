"""Markov random field: columns and target side by side, with a potential for each of them and each edge.

Formula:
    P(x_1, ..., x_n) = 1/Z Π_i f_i(x_i) Π_(i,j) f_ij(x_i, x_j) over the edges of a graph, the target being one of
    the x_i (a pairwise Potts model). The class of a row is that of the largest P(class, known cells). Learned are
    the logarithms θ of the potentials that maximise the pseudo-likelihood

        Σ over rows and cells of log P(x_i | its neighbours) − ½ l2 |θ|²

    which needs no Z and has one maximum.

Assumes:
    Two columns that no edge joins are independent once all others are known, and no three columns act together
    but by pairs. Nominal columns: numbers are cut into bins in front of it.

Cost:
    To learn, some tens to hundreds of steps of rows × (levels of all columns)². To answer, rows × columns where
    all cells are known; else up to exponential in how many empty cells hang together (`inference: exact`).

Choices:
    Edges: `star`, from the target to every column; `tree-augmented`, also the tree of the largest mutual
    information given the target; `tree`, the tree of the largest mutual information, target included; `grid`,
    where columns are the cells of a picture, row by row, joined with their neighbours and the target; `all`; or
    those of `edges`: [rain - wet, wet - play]. Or
    `potentials` gives the graph with its numbers, and nothing is learned: {play: [1, 2], windy - play: [[1, 3],
    [2, 1]]}, by the levels of the first column, then of the second; what is not named has 1 everywhere.

    Over empty cells `exact` sums by elimination, `sum-product` by messages (exact on trees, an approximation where
    edges go in a circle), `gibbs` by drawing; `max-product` takes the most probable levels in their place. An
    empty cell of training has no term, and says nothing to its neighbours.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.linear_objective import Iterate, complaint
from mlcli.engines.posteriors import log_sum
from mlcli.engines.solvers.lbfgs import lbfgs
from mlcli.models.graphs._graphical import (
    ACCEPTS,
    OverGraph,
    drawn_graph,
    edge_table,
    ends,
    joined_by,
    labelled_codes,
    listed_names,
    logs_of,
    place_of,
)
from mlcli.models.graphs._inference import INFERENCES, Factor, Inference, log_marginals, marginal
from mlcli.models.graphs._structures import grid_of, separated, tree_among
from mlcli.tasks.classification import Classifier, LabelledRows

# Pairwise potentials learned from rows: each cell is predicted from its neighbours, all at once (Besag 1975).

MOST_STEPS = 1000
FLAT = 1e-7
"""How small every entry of the gradient must be."""


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """−Σ over rows and known cells of log P(cell | the other cells), plus ½ l2 of all squared log-potentials.

    A level of a variable is an entry; ``joined`` (entries × entries) says which two may have a potential. An empty
    cell has no term, and says nothing to its neighbours.
    """

    indicators: Array
    """Entries × rows."""
    known: Array
    """1 for entries of variables that are known in a row, else 0, times the weight of the row."""
    owner: Rows
    """The variable of each entry."""
    joined: Flags
    l2: float

    @classmethod
    def of(cls, codes: Codes, levels: Sequence[int], edges: Flags, weights: Array, l2: float) -> PseudoLikelihood:
        """The objective of rows of codes; -1 is unknown."""
        owner = np.repeat(np.arange(len(levels)), levels)
        level = np.concatenate([np.arange(count) for count in levels])
        cells = codes.T[owner]
        indicators = (cells == level[:, None]).astype(np.float64)
        return cls(indicators, (cells >= 0) * weights, owner, edges[np.ix_(owner, owner)], l2)

    def learned(self) -> tuple[Array, Array]:
        """The log-potentials of entries, and of pairs of them (symmetric), where the objective is least."""
        minimum = lbfgs(self, np.zeros(self._size + len(self._upper[0])), FLAT, MOST_STEPS)
        if message := complaint([minimum], FLAT):
            warnings.warn(f"pseudo-likelihood: {message}", MlcliWarning, stacklevel=3)
        return self._split(minimum.at.w)

    def at(self, w: Array) -> Iterate:
        """The objective near log-potentials: those of entries, then those of pairs."""
        alone, pairs = self._split(w)
        value, slope_alone, slope_pairs = self.loss(alone, pairs)
        slope = np.concatenate([slope_alone, slope_pairs[self._upper]]) + self.l2 * w
        return Iterate(w, value + 0.5 * self.l2 * float(w @ w), slope, w, float(np.abs(slope).max()))

    def own_curvatures(self) -> Array:
        """At even chances a cell bends by at most a quarter; one of a pair counts where the other is there."""
        crossed = self.indicators @ self.known.T
        pairs = (crossed + crossed.T)[self._upper]
        return self.l2 + 0.25 * np.concatenate([self.known.sum(axis=1), pairs])

    @property
    def _size(self) -> int:
        return len(self.indicators)

    @cached_property
    def _starts(self) -> Rows:
        """Where the entries of each variable begin."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    @cached_property
    def _upper(self) -> tuple[Rows, ...]:
        return np.nonzero(np.triu(self.joined))

    def _split(self, w: Array) -> tuple[Array, Array]:
        """The free numbers as potentials of entries and of pairs."""
        pairs = np.zeros((self._size, self._size))
        pairs[self._upper] = w[self._size :]
        return w[: self._size], pairs + pairs.T

    def loss(self, alone: Array, pairs: Array) -> tuple[float, Array, Array]:
        """The negative pseudo-log-likelihood and its slopes."""
        scores = alone[:, None] + pairs @ self.indicators
        scores -= np.maximum.reduceat(scores, self._starts)[self.owner]
        chances = np.exp(scores)
        totals = np.add.reduceat(chances, self._starts)
        there = self.known * self.indicators
        value = float(np.vdot(there, np.log(totals)[self.owner]) - np.vdot(there, scores))
        errors = self.known * chances / totals[self.owner] - there
        crossed = errors @ self.indicators.T
        return value, errors.sum(axis=1), crossed + crossed.T


STRUCTURES = ("star", "tree-augmented", "tree", "grid", "all")
BETWEEN = " - "


@register("mrf", reference="Besag 1975, Statistical analysis of non-lattice data; Koller & Friedman 2009")
class MarkovRandomField(OverGraph, Classifier, CountsParameters, Generative, GivesEvidence):
    """Edges between columns, and a potential for each."""

    structure: str = param(
        "tree-augmented",
        "which edges there are",
        choices=STRUCTURES,
        matters_when={"edges": ((),), "potentials": None},
    )
    width: int = param(
        0,
        "cells in a row of a picture (structure: grid); 0: a square",
        ge=0,
        if_given=True,
        matters_when={"structure": "grid"},
    )
    edges: tuple[str, ...] = param(
        (), "edges, as rain - wet, in the place of a structure", if_given=True, matters_when={"potentials": None}
    )
    potentials: dict[str, Any] | None = param(
        None, "potentials that are given, such as {windy - play: [[1, 3], [2, 1]]}", if_given=True
    )
    l2: float = param(
        1.0,
        "how much large potentials cost",
        gt=0,
        tune=log_range(0.01, 100, simpler="high"),
        matters_when={"potentials": None},
    )
    inference: str = param("exact", "how empty cells are summed out", choices=INFERENCES)
    sweeps: int = param(
        1000, "how many sweeps of Gibbs sampling (inference: gibbs)", ge=10, matters_when={"inference": "gibbs"}
    )

    edges_: Flags = learned()
    """Symmetric, the target being the last variable."""
    alone_: Array = learned()
    """The log-potential of each level of each variable, one variable after the other."""
    pairs_: Array = learned()
    """The log-potential of each two levels (symmetric); 0 where no edge is."""
    seed_: int = learned()

    accepts = ACCEPTS

    def conflicts(self) -> list[str]:
        """Edges are between two columns."""
        wrong = [text for text in self.edges if not ends(text, BETWEEN)]
        return [f"edges: '{text}' is no edge such as rain - wet" for text in wrong]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the edges and learn their potentials, or take those that are given."""
        self.seed_ = int(rng.integers(2**31))
        if self.potentials is not None:
            self._take(self.potentials)
            return
        codes, levels = labelled_codes(data), self.level_counts()
        self.edges_ = self._edges(codes, data.weights)
        objective = PseudoLikelihood.of(codes, levels, self.edges_, data.weights, self.l2)
        self.alone_, self.pairs_ = objective.learned()

    def _edges(self, codes: Codes, weights: Array) -> Flags:
        levels, target = self.level_counts(), len(self.columns_)
        edges = np.zeros((target + 1, target + 1), bool)
        if self.edges:
            for one, other in joined_by(self.edges, BETWEEN, self.variables()):
                edges[one, other] = edges[other, one] = one != other
            return edges
        if self.structure == "all":
            edges[:] = True
        if self.structure == "tree":
            edges = tree_among(codes, levels, range(target + 1), (), weights)
        if self.structure == "tree-augmented":
            edges = tree_among(codes, levels, range(target), (target,), weights)
        if self.structure == "grid":
            edges = grid_of(target, self.width)
        if self.structure in ("star", "tree-augmented", "grid"):
            edges[target] = True
        np.fill_diagonal(edges, False)
        return edges | edges.T

    def _take(self, potentials: dict[str, Any]) -> None:
        """Fill in what is given; everything else is 1."""
        columns, places = self.variables(), self._entries()
        count, size = len(columns), places[-1].stop
        self.edges_, self.alone_ = np.zeros((count, count), bool), np.zeros(size)
        self.pairs_ = np.zeros((size, size))
        for name, given in potentials.items():
            one, *others = (place_of(part.strip(), columns, "potentials") for part in name.split(BETWEEN))
            if len(others) > 1 or one in others:
                raise FitError(
                    f"potentials: '{name}' is no column and no pair of columns",
                    hint="{a: [1, 2], a - b: [[1, 2], [2, 1]]}",
                )
            logs = logs_of(name, given, tuple(len(columns[other].levels) for other in (one, *others)))
            if others:
                other = others[0]
                self.edges_[one, other] = self.edges_[other, one] = True
                self.pairs_[places[one], places[other]] = logs
                self.pairs_[places[other], places[one]] = logs.T
            else:
                self.alone_[places[one]] = logs

    def _entries(self) -> list[slice]:
        """Where the levels of each variable stand."""
        ends = np.cumsum(self.level_counts()).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    def _joined(self) -> list[tuple[int, int]]:
        return [(int(one), int(other)) for one, other in np.argwhere(np.triu(self.edges_))]

    def factors(self) -> tuple[Factor, ...]:
        """The potentials of variables, then of edges."""
        places = self._entries()
        alone = (Factor((index,), self.alone_[None, entries]) for index, entries in enumerate(places))
        pairs = (Factor(pair, self._pair(*pair)[None]) for pair in self._joined())
        return (*alone, *pairs)

    def _pair(self, one: int, other: int) -> Array:
        places = self._entries()
        return self.pairs_[places[one], places[other]]

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of P(known cells), always exact: Z is found by elimination."""
        return log_sum(self.log_joint(table, Inference()), 1) - marginal(self.factors(), ()).logs

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Each variable drawn given those before it, the later ones summed out; the target is the last column."""
        codes, factors = np.full((n, len(self.edges_)), -1, np.int32), self.factors()
        for variable, levels in enumerate(self.level_counts()):
            logs = log_marginals(factors, codes, variable, levels, Inference())
            up_to = np.cumsum(np.exp(logs - log_sum(logs, 1)[:, None]), axis=1)
            codes[:, variable] = (rng.random((n, 1)) >= up_to[:, :-1]).sum(axis=1)
        return Table.of(zip(self.variables(), codes.T, strict=True), n)

    def separated(self, one: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
        """Separation by the given variables."""
        return separated(self.edges_, one, other, given)

    def adjustable_parameters(self, table: Table) -> float | None:
        """What potentials amount to: one less than levels, and for an edge the product of these; 0 if given."""
        if self.potentials is not None:
            return 0.0
        free = [count - 1 for count in self.level_counts()]
        return float(sum(free) + sum(free[one] * free[other] for one, other in self._joined()))

    def check_learned(self) -> None:
        """Edges and potentials that fit the columns."""
        count, size = len(self.columns_) + 1, sum(self.level_counts())
        shapes = (self.edges_.shape, self.alone_.shape, self.pairs_.shape)
        if shapes != ((count, count), (size,), (size, size)) or self.edges_.dtype != bool:
            raise ValueError("potentials that do not fit the columns")
        if (self.edges_ != self.edges_.T).any() or self.edges_.diagonal().any():
            raise ValueError("edges that do not join two columns")
        if np.isnan(self.alone_).any() or np.isnan(self.pairs_).any():
            raise ValueError("potentials that are no numbers")

    def explain(self) -> findings.Explanation:
        """The factorisation, the graph, the edges, and the potentials of those of the target."""
        columns = self.variables()
        drawn = drawn_graph(columns, range(len(columns)), self._joined(), directed=False)
        strengths = edge_table(columns, [(pair, self._pair(*pair)) for pair in self._joined()])
        return (self._factorisation(), *drawn, strengths, *self._target_tables())

    def _factorisation(self) -> findings.Lines:
        columns = self.variables()
        scopes = [(index,) for index in range(len(columns))] + self._joined()
        lines = (f"    f({listed_names(columns, scope)})" for scope in scopes)
        return findings.Lines(
            "Factorisation", (f"P({listed_names(columns, range(len(columns)))}) = 1/Z times", *lines)
        )

    def _target_tables(self) -> Iterator[findings.Table]:
        columns, target = self.variables(), len(self.columns_)
        for one, other in self._joined():
            if other == target:
                rows = zip(columns[one].levels, np.exp(self._pair(one, other)).tolist(), strict=True)
                title = f"f({listed_names(columns, (one, other))})"
                header = (columns[one].name, *self.classes_)
                yield findings.Table(title, header, tuple((level, *values) for level, values in rows))
