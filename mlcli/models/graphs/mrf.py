"""Markov random field: columns and target side by side, with a potential for each of them and each edge.

Formula:
    P(x_1, ..., x_n) = 1/Z Π_i f_i(x_i) Π_(i,j) f_ij(x_i, x_j) over the edges of a graph, the target being one of
    the x_i (a pairwise Potts model). The class of a row is that of the largest P(class, known cells). Learned are
    the logarithms θ of the potentials that maximise the pseudo-likelihood

        Σ over rows and cells of log P(x_i | its neighbours) − ½ l2 |θ|²

    which needs no Z and has one maximum.

Assumes:
    Two columns that no edge joins are independent given all others, and columns act together in pairs only.
    Nominal columns: numbers are cut into bins before it.

Cost:
    To learn, some tens to hundreds of steps of rows × (levels of all columns)². To predict, rows × columns if
    all cells are known; else up to exponential in how many empty cells are connected (`inference: exact`).

Choices:
    Edges: `star`, from the target to every column; `tree-augmented`, also the tree of the largest mutual
    information given the target; `tree`, the tree of the largest mutual information, target included; `grid`,
    where columns are the cells of a picture, row by row, joined with their neighbours and the target; `all`; or
    those of `edges`: [rain - wet, wet - play]. Or `potentials` gives the graph with its numbers, and nothing is
    learned: {play: [1, 2], windy - play: [[1, 3], [2, 1]]}, by the levels of the first column, then of the
    second; all other potentials are 1.

    Over empty cells `exact` sums by elimination, `sum-product` by messages (exact on trees, approximate on
    graphs with cycles), `gibbs` by sampling; `max-product` uses the most probable levels instead. An empty cell
    of training has no term, and says nothing to its neighbours.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.linear_objective import Iterate
from mlcli.engines.posteriors import log_sum
from mlcli.engines.solvers import complaint, lbfgs
from mlcli.models.graphs._graphical import (
    ACCEPTS,
    OverGraph,
    graph_picture,
    index_of,
    labelled_codes,
    names_of,
    read_edges,
    split_edge,
)
from mlcli.models.graphs._inference import INFERENCES, Factor, log_marginals, marginal
from mlcli.models.graphs._structures import separated, tree_among
from mlcli.tasks.supervised import Classifier, LabelledRows

BETWEEN = " - "


@register("mrf", reference="Besag 1975, Statistical analysis of non-lattice data; Koller & Friedman 2009")
class MarkovRandomField(OverGraph, Classifier, CountsParameters, Generative, GivesEvidence):
    """Edges between columns, and a potential for each."""

    structure: str = param(
        "tree-augmented",
        "which edges there are",
        choices=("star", "tree-augmented", "tree", "grid", "all"),
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
        (), "edges, such as rain - wet, instead of a structure", if_given=True, matters_when={"potentials": None}
    )
    potentials: dict[str, object] | None = param(
        None, "given potentials, such as {windy - play: [[1, 3], [2, 1]]}", if_given=True
    )
    l2: float = param(
        1.0,
        "L2 penalty of log-potentials",
        gt=0,
        tune=log_range(0.01, 100, simpler="high"),
        matters_when={"potentials": None},
    )
    inference: str = param("exact", "how empty cells are summed out", choices=INFERENCES)
    sweeps: int = param(
        1000, "number of sweeps of Gibbs sampling (inference: gibbs)", ge=10, matters_when={"inference": "gibbs"}
    )

    edges_: Flags = learned()
    """Symmetric, the target being the last variable."""
    alone_: Array = learned()
    """The log-potential of each level of each variable, one variable after the other."""
    pairs_: Array = learned()
    """The log-potential of each two levels (symmetric); 0 if no edge joins them."""
    seed_: int = learned()

    accepts = ACCEPTS

    def conflicts(self) -> list[str]:
        """Edges are between two columns."""
        wrong = [text for text in self.edges if not split_edge(text, BETWEEN)]
        return [f"edges: '{text}' is no edge such as rain - wet" for text in wrong]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the edges and learn their potentials, or use those that are given."""
        self.seed_ = int(rng.integers(2**31))
        if self.potentials is not None:
            self._set_potentials(self.potentials)
            return
        codes, levels = labelled_codes(data), self.level_counts()
        self.edges_ = self._find_edges(codes, data.weights)
        objective = PseudoLikelihood.of(codes, levels, self.edges_, data.weights, self.l2)
        self.alone_, self.pairs_ = objective.minimise()

    def _find_edges(self, codes: Codes, weights: Array) -> Flags:
        """The edges that are given, or those of the structure."""
        levels, target = self.level_counts(), len(self.columns_)
        edges = np.zeros((target + 1, target + 1), bool)
        if self.edges:
            for first, second in read_edges(self.edges, BETWEEN, self.variables()):
                edges[first, second] = True
        elif self.structure == "all":
            edges[:] = True
        elif self.structure == "tree":
            edges = tree_among(codes, levels, range(target + 1), (), weights)
        elif self.structure == "tree-augmented":
            edges = tree_among(codes, levels, range(target), (target,), weights)
        elif self.structure == "grid":
            across = self.width or max(1, round(target**0.5))
            for cell in range(target):
                edges[cell, cell + 1] = (cell + 1) % across != 0 and cell + 1 < target  # to the right
                if cell + across < target:
                    edges[cell, cell + across] = True  # below
        if not self.edges and self.structure in ("star", "tree-augmented", "grid"):
            edges[target] = True
        np.fill_diagonal(edges, False)
        return edges | edges.T

    def _set_potentials(self, potentials: dict[str, object]) -> None:
        """The edges and potentials that are given; all other potentials are 1."""
        columns, entries = self.variables(), self._entries()
        count, size = len(columns), entries[-1].stop
        self.edges_, self.alone_ = np.zeros((count, count), bool), np.zeros(size)
        self.pairs_ = np.zeros((size, size))
        for name, given in potentials.items():
            indices = [index_of(part.strip(), columns, "potentials") for part in name.split(BETWEEN)]
            if len(indices) > 2 or len(set(indices)) < len(indices):
                message = f"potentials: '{name}' is no column and no pair of columns"
                raise FitError(message, hint="{a: [1, 2], a - b: [[1, 2], [2, 1]]}")
            logs = _read_potentials(name, given, tuple(len(columns[index].levels) for index in indices))
            if len(indices) == 1:
                self.alone_[entries[indices[0]]] = logs
            else:
                first, second = indices
                self.edges_[first, second] = self.edges_[second, first] = True
                self.pairs_[entries[first], entries[second]] = logs
                self.pairs_[entries[second], entries[first]] = logs.T

    def _entries(self) -> list[slice]:
        """Where the levels of each variable stand among all levels."""
        ends = np.cumsum(self.level_counts()).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    def _edge_potentials(self) -> list[tuple[tuple[int, int], Array]]:
        """Each edge with the log-potentials of its levels."""
        entries = self._entries()
        pairs = [(int(first), int(second)) for first, second in np.argwhere(np.triu(self.edges_))]
        return [((first, second), self.pairs_[entries[first], entries[second]]) for first, second in pairs]

    def factors(self) -> tuple[Factor, ...]:
        """The potentials of variables, then of edges."""
        alone = (Factor((index,), self.alone_[None, entries]) for index, entries in enumerate(self._entries()))
        return (*alone, *(Factor(pair, logs[None]) for pair, logs in self._edge_potentials()))

    def log_evidence(self, table: Table) -> Array:
        """Log P(known cells), always exact: Z is found by elimination."""
        return log_sum(self.log_joint(table, exact=True), 1) - marginal(self.factors(), ()).logs

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Each variable drawn given those before it, the later ones summed out; the target is the last column."""
        codes, factors = np.full((n, len(self.edges_)), -1, np.int32), self.factors()
        for variable, levels in enumerate(self.level_counts()):
            logs = log_marginals(factors, codes, variable, levels)
            cumulative = np.cumsum(np.exp(logs - log_sum(logs, 1)[:, None]), axis=1)
            codes[:, variable] = (rng.random((n, 1)) >= cumulative[:, :-1]).sum(axis=1)
        return Table.of(zip(self.variables(), codes.T, strict=True), n)

    def separated(self, first: Collection[int], second: Collection[int], given: Collection[int]) -> bool:
        """Separation by the given variables."""
        return separated(self.edges_, first, second, given)

    def explain(self) -> findings.Explanation:
        """The factorisation, the graph, the strengths of edges, and the potentials of those of the target."""
        columns, edges = self.variables(), self._edge_potentials()
        pairs, everything = [pair for pair, _ in edges], range(len(columns))
        scopes = [*((index,) for index in everything), *pairs]
        lines = (f"    f({names_of(columns, scope)})" for scope in scopes)
        whole = f"P({names_of(columns, everything)}) = 1/Z times"
        strengths = [(names_of(columns, pair), _strength(logs)) for pair, logs in edges]
        strengths.sort(key=lambda edge: (-edge[1], edge[0]))
        note = (
            "strength: the standard deviation of what a pair of levels adds to log P beyond what each adds alone"
        )
        return (
            findings.Lines("Factorisation", (whole, *lines)),
            *graph_picture(columns, everything, pairs, directed=False),
            findings.Table("Edges", ("between", "strength"), tuple(strengths), note=note),
            *self._target_tables(),
        )

    def _target_tables(self) -> Iterator[findings.Table]:
        """The potentials of each edge of the target, the last variable."""
        columns = self.variables()
        for (first, second), logs in self._edge_potentials():
            if second == len(self.columns_):
                potentials = zip(columns[first].levels, np.exp(logs).tolist(), strict=True)
                rows = tuple((level, *values) for level, values in potentials)
                yield findings.Table(
                    f"f({names_of(columns, (first, second))})", (columns[first].name, *self.classes_), rows
                )

    def adjustable_parameters(self, table: Table) -> float | None:
        """For a variable one less than its levels, for an edge the product of these; 0 if potentials are given."""
        if self.potentials is not None:
            return 0.0
        free = [count - 1 for count in self.level_counts()]
        return float(sum(free) + sum(free[first] * free[second] for (first, second), _ in self._edge_potentials()))

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


def _read_potentials(name: str, given: object, shape: tuple[int, ...]) -> Array:
    """The logarithms of given potentials: numbers of at least 0, one for each level or pair of levels."""
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != shape or not (np.isfinite(values) & (values >= 0)).all():
        size = " × ".join(map(str, shape))
        raise FitError(f"potentials: '{name}' takes {size} numbers of at least 0, was given {given}")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _strength(logs: Array) -> float:
    """The standard deviation of log-potentials around what rows and columns add alone; infinite for a 0."""
    if np.isneginf(logs).any():
        return float("inf")
    centred = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    return float(centred.std())


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """−Σ over rows and known cells of log P(cell | the other cells), plus ½ l2 of all squared log-potentials.

    Each cell is predicted from its neighbours, all at once (Besag 1975). A level of a variable is an entry;
    ``joined`` (entries × entries) says which two may have a potential. An empty cell has no term, and says nothing
    to its neighbours.
    """

    indicators: Array
    """Entries × rows."""
    known: Array
    """The weight of the row for entries of variables that are known in it, else 0."""
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

    def minimise(self) -> tuple[Array, Array]:
        """The log-potentials of entries, and of pairs of them (symmetric), that minimise the objective."""
        start, tolerance = np.zeros(len(self.indicators) + len(self._upper[0])), 1e-7
        minimum = lbfgs(self, start, tolerance, 1000)
        if message := complaint([minimum], tolerance):
            warnings.warn(f"pseudo-likelihood: {message}", MlcliWarning, stacklevel=3)
        return self._split(minimum.at.w)

    def at(self, w: Array) -> Iterate:
        """The objective and its gradient at log-potentials: those of entries, then those of pairs."""
        alone, pairs = self._split(w)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        scores = alone[:, None] + pairs @ self.indicators
        scores -= np.maximum.reduceat(scores, starts)[self.owner]
        probabilities = np.exp(scores)
        totals = np.add.reduceat(probabilities, starts)
        observed = self.known * self.indicators
        loss = float(np.vdot(observed, np.log(totals)[self.owner]) - np.vdot(observed, scores))
        errors = self.known * probabilities / totals[self.owner] - observed
        crossed = errors @ self.indicators.T
        gradient = np.concatenate([errors.sum(axis=1), (crossed + crossed.T)[self._upper]]) + self.l2 * w
        return Iterate(w, loss + 0.5 * self.l2 * float(w @ w), gradient, w, float(np.abs(gradient).max()))

    def own_curvatures(self) -> Array:
        """At equal probabilities a cell curves by at most ¼; a pair counts a cell where the other one is known."""
        crossed = self.indicators @ self.known.T
        pairs = (crossed + crossed.T)[self._upper]
        return self.l2 + 0.25 * np.concatenate([self.known.sum(axis=1), pairs])

    @cached_property
    def _upper(self) -> tuple[Rows, ...]:
        """The pairs of entries that have a potential, each once."""
        return np.nonzero(np.triu(self.joined))

    def _split(self, w: Array) -> tuple[Array, Array]:
        """A vector as potentials of entries and of pairs."""
        size = len(self.indicators)
        pairs = np.zeros((size, size))
        pairs[self._upper] = w[size:]
        return w[:size], pairs + pairs.T
