"""Bayesian network: each column depends on a few others, by arrows without cycles; the class follows from all.

Formula:
    P(x_1, ..., x_n) = Π_i P(x_i | parents of x_i), the target being one of the x_i. The class of a row is that of
    the largest P(class, known cells); cells that are empty are summed out, by variable elimination in the order of
    min-fill. Of N rows whose parents have the same levels, n_v with level v, one of V, give

        P(v | parents) = (n_v + α) / (N + Vα)              `smoothing: laplace`
        P(v | parents) = (n_v + α/(QV)) / (N + α/Q)        `smoothing: bdeu`, Q being the combinations of parents

Assumes:
    A column is independent of all that it does not lead to, once its parents are known. Nominal columns: numbers
    are cut into bins in front of it.

Cost:
    To learn naive arrows one pass; a tree, rows × columns²; climbing, as many for each arrow. To answer, rows ×
    columns where all cells are known; else up to exponential in how many empty cells hang together.

Choices:
    `structure` is found from data, or given as {wet: [rain, sprinkler], rain: []}; a column that is not named has
    no parents. `edges` says the same arrow by arrow: [rain -> wet, sprinkler -> wet]. `naive`: the target leads to
    every column. `tree-augmented`: so does the tree of the largest mutual information given the target, from the
    first column on. `hill-climbing`: from no arrow on, the arrow that raises the `score` most is added, removed or
    turned, while one does, with at most `max_parents` parents.

    A row counts for a column where that and its parents are known. `gaps: em` lets it count for all combinations
    of what it does not know, by how probable they are, until the likelihood of the known cells settles; rows
    without a class then count, too, and a column that is nowhere known is a hidden cause, from drawn chances on.
    Arrows are found before that, by what is known. Climbing, whose scores must be of the same
    rows, takes an empty cell for the most frequent level. Arrows that are learned need not be causes: many graphs
    say the same of independence. Ways of `inference` that are not exact are for many empty cells at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.posteriors import log_sum
from mlcli.models.graphs._graphical import (
    ACCEPTS,
    OverGraph,
    are_names,
    arrow_table,
    chance_tables,
    drawn_graph,
    ends,
    factorisation,
    joined_by,
    labelled_codes,
    listed_names,
    place_of,
)
from mlcli.models.graphs._inference import INFERENCES, Factor, Inference, marginal, rows_alike, shares
from mlcli.models.graphs._structures import (
    SCORES,
    climbed_arrows,
    counts,
    cycle_in,
    d_separated,
    in_order,
    tree_among,
)
from mlcli.tasks.classification import Classifier, LabelledRows

# Tables of conditional probabilities: by counting rows, and by EM where cells are empty (Lauritzen 1995).

MOST_ROUNDS = 200

Tables = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Families:
    """Each variable behind its parents, with how many levels all have, and what is added to counts."""

    members: tuple[tuple[int, ...], ...]
    levels: tuple[int, ...]
    alpha: float
    smoothing: str
    """``laplace``: added to each level; ``bdeu``: spread over each table."""

    def counted(self, codes: Codes, weights: Array) -> Tables:
        """The weight of each combination, in rows where the whole family is known."""
        return tuple(counts(codes, self.levels, family, weights) for family in self.members)

    def chances(self, met: Sequence[Array]) -> Tables:
        """Shares of counts, smoothed."""
        return tuple(map(self._shares, met))

    def _added(self, met: Array) -> float:
        return self.alpha / met.size if self.smoothing == "bdeu" else self.alpha

    def _shares(self, met: Array) -> Array:
        added = self._added(met)
        totals = met.sum(axis=-1, keepdims=True) + added * met.shape[-1]
        even = np.full_like(met, 1 / met.shape[-1])
        return np.asarray(np.divide(met + added, totals, out=even, where=totals > 0))

    def factors(self, chances: Sequence[Array]) -> tuple[Factor, ...]:
        """The conditional probabilities of each variable as a factor."""
        return tuple(Factor.of(family, table) for family, table in zip(self.members, chances, strict=True))

    def by_em(self, codes: Codes, weights: Array, rng: np.random.Generator) -> tuple[Tables, list[float]]:
        """Chances at which the likelihood of the known cells is highest nearby, and the way there.

        It begins with counts of what is known; families that no row knows whole begin at drawn chances.
        """
        met = self.counted(codes, weights)
        chances = tuple(_drawn(values, rng) if not values.any() else self._shares(values) for values in met)
        path = list[float]()
        for _ in range(MOST_ROUNDS):
            expected, likely = self._expected(codes, weights, chances)
            path.append(likely + self._prior(chances))
            # the gain per row below which EM ends
            if len(path) > 1 and path[-1] - path[-2] < 1e-7 * weights.sum():
                break
            chances = self.chances(expected)
        return chances, path

    def _prior(self, chances: Sequence[Array]) -> float:
        """What smoothing adds to the likelihood that EM climbs."""
        with np.errstate(divide="ignore"):
            logs = ((self._added(table), np.log(table)) for table in chances)
            return sum(float(added * values.sum()) for added, values in logs if added)

    def _expected(self, codes: Codes, weights: Array, chances: Sequence[Array]) -> tuple[list[Array], float]:
        """What counts are on average over the unknown cells, and the log-likelihood of the known ones."""
        factors, expected, likely = self.factors(chances), list(self.counted(codes, weights)), 0.0
        for rows in rows_alike(codes >= 0):
            known = set(np.flatnonzero(codes[rows[0]] >= 0).tolist())
            left = [factor.given(codes[rows], known) for factor in factors]
            likely += float(weights[rows] @ np.broadcast_to(marginal(left, ()).logs, len(rows)))
            for family, table in zip(self.members, expected, strict=True):
                hidden = [index for index in family if index not in known]
                if hidden:
                    _spread(table, family, codes[rows], weights[rows], marginal(left, hidden))
        return expected, likely


def _spread(table: Array, family: tuple[int, ...], codes: Codes, weights: Array, about: Factor) -> None:
    """Add each row to the combinations of what it does not know, by how probable they are."""
    of_hidden = shares(about.logs)
    rows: Rows = np.arange(len(codes)) if len(of_hidden) > 1 else np.zeros(len(codes), np.intp)
    for levels in np.ndindex(of_hidden.shape[1:]):
        index_of = dict(zip(about.variables, levels, strict=True))
        cells = tuple(
            np.full(len(codes), index_of[index]) if index in index_of else codes[:, index] for index in family
        )
        np.add.at(table, cells, weights * np.nan_to_num(of_hidden[(rows, *levels)]))


def _drawn(met: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.dirichlet(np.ones(met.shape[-1]), met.shape[:-1]))


GAPS = ("known", "em")
ARROW = "->"
STRUCTURES = ("naive", "tree-augmented", "hill-climbing")
HOW_SMOOTHED = {
    "laplace": "In every table {:g} is added to the count of every level (alpha).",
    "bdeu": "In every table {:g} is spread evenly over the counts (alpha).",
}
"""How an explanation puts each."""


@register("bayes-net", reference="Pearl 1988; Friedman, Geiger & Goldszmidt 1997, Bayesian network classifiers")
class BayesNet(OverGraph, Classifier, CountsParameters, Generative, GivesEvidence):
    """Arrows between columns, and a table of conditional probabilities for each."""

    structure: str | dict[str, Any] = param(
        "tree-augmented",
        "how arrows are found, or the parents of columns, as {wet: [rain]}",
        choices=STRUCTURES,
        matters_when={"edges": ((),)},
    )
    max_parents: int = param(
        2,
        "how many parents a column may have (structure: hill-climbing)",
        ge=1,
        matters_when={"structure": "hill-climbing"},
    )
    score: str = param(
        "bic",
        "what arrows are chosen by (structure: hill-climbing)",
        choices=SCORES,
        matters_when={"structure": "hill-climbing"},
    )
    edges: tuple[str, ...] = param((), "arrows, as rain -> wet, in the place of a structure", if_given=True)
    gaps: str = param("known", "how rows with empty cells are learned from", choices=GAPS, if_given=True)
    smoothing: str = param("laplace", "how probabilities are smoothed", choices=HOW_SMOOTHED)
    alpha: float = param(
        1.0, "rows added to each level (bdeu: each table)", ge=0, tune=log_range(0.01, 10, simpler="high")
    )
    inference: str = param("exact", "how empty cells are summed out", choices=INFERENCES)
    sweeps: int = param(
        1000, "how many sweeps of Gibbs sampling (inference: gibbs)", ge=10, matters_when={"inference": "gibbs"}
    )

    arrows_: Flags = learned()
    """From × to, the target being the last variable."""
    chances_: tuple[Array, ...] = learned()
    """Of each variable: its parents in their order × its levels."""
    path_: Array = learned()
    """The log-likelihood of every round of EM, smoothing included."""
    seed_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Levels and gaps; to EM a row without a class is one more with a gap."""
        return replace(ACCEPTS, unlabelled=self.gaps == "em")

    def conflicts(self) -> list[str]:
        """Parents are a list of names; edges are arrows between two."""
        if isinstance(self.structure, str):
            wrong = [text for text in self.edges if not ends(text, ARROW)]
            return [f"edges: '{text}' is no arrow such as rain -> wet" for text in wrong]
        if self.edges:
            return ["structure and edges both say the arrows"]
        wrong = [name for name, parents in self.structure.items() if not are_names(parents)]
        return [f"structure: the parents of '{name}' are a list of columns, such as [rain]" for name in wrong]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the arrows, then count each column with its parents."""
        codes = labelled_codes(data)
        self.seed_, self.path_ = int(rng.integers(2**31)), np.zeros(0)
        self.arrows_ = self._arrows(codes, data.weights)
        families = self._families()
        if self.gaps == "known":
            self.chances_ = families.chances(families.counted(codes, data.weights))
            return
        rows = data if data.unlabelled is None else data.alone().joined(data.unlabelled.counted())
        self.chances_, path = families.by_em(labelled_codes(rows), rows.weights, rng)
        self.path_ = np.array(path)

    def _arrows(self, codes: Codes, weights: Array) -> Flags:
        columns = self.variables()
        if self.edges:
            return self._given_arrows(joined_by(self.edges, ARROW, columns))
        if not isinstance(self.structure, str):
            pairs = [(parent, child) for child, parents in self.structure.items() for parent in parents or ()]
            named = [*self.structure, *(parent for parent, _ in pairs)]
            places = {name: place_of(name, columns, "structure") for name in named}
            return self._given_arrows([(places[parent], places[child]) for parent, child in pairs])
        if self.structure == "hill-climbing":
            return climbed_arrows(codes, self.level_counts(), weights, SCORES[self.score], self.max_parents)
        levels, target = self.level_counts(), len(self.columns_)
        arrows = np.zeros((target + 1, target + 1), bool)
        if self.structure == "tree-augmented":
            arrows = tree_among(codes, levels, range(target), (target,), weights)
        arrows[target, :target] = True
        return arrows

    def _given_arrows(self, pairs: list[tuple[int, int]]) -> Flags:
        columns = self.variables()
        arrows = np.zeros((len(columns), len(columns)), bool)
        for one, other in pairs:
            arrows[one, other] = True
        if cycle := cycle_in(arrows):
            names = " -> ".join(columns[place].name for place in cycle)
            where = "edges" if self.edges else "structure"
            raise FitError(f"{where}: arrows go in a circle: {names}", hint="leave out one of these arrows")
        return arrows

    def _families(self) -> Families:
        """Each variable behind its parents; tables that are too large are refused."""
        levels = self.level_counts()
        members = tuple((*self._parents(child), child) for child in range(len(levels)))
        for family in members:
            # A table of more conditional probabilities is refused
            if np.prod([float(levels[one]) for one in family]) > 10_000_000:
                columns = self.variables()
                what = f"'{columns[family[-1]].name}' has too many parents: {listed_names(columns, family[:-1])}"
                raise FitError(what, hint="give it fewer, or fewer levels")
        return Families(members, levels, self.alpha, self.smoothing)

    def _parents(self, child: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.arrows_[:, child]).tolist())

    def factors(self) -> tuple[Factor, ...]:
        """The conditional probabilities of each variable as a factor."""
        return self._families().factors(self.chances_)

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of P(known cells), always exact."""
        return log_sum(self.log_joint(table, Inference()), 1)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Each variable drawn after its parents (ancestral sampling); the target is the last column."""
        codes = np.zeros((n, len(self.chances_)), np.int32)
        for child in in_order(self.arrows_):
            chances = self.chances_[child][tuple(codes[:, parent] for parent in self._parents(child))]
            up_to = np.cumsum(np.broadcast_to(chances, (n, chances.shape[-1])), axis=1)
            codes[:, child] = (rng.random((n, 1)) >= up_to[:, :-1]).sum(axis=1)
        return Table.of(zip(self.variables(), codes.T, strict=True), n)

    def separated(self, one: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
        """D-separation."""
        return d_separated(self.arrows_, one, other, given)

    def adjustable_parameters(self, table: Table) -> float | None:
        """The probabilities of all levels but one, for each combination of the parents' levels."""
        return float(sum(chances.size - chances[..., 0].size for chances in self.chances_))

    def check_learned(self) -> None:
        """Arrows without cycles, and tables that fit them."""
        count = len(self.columns_) + 1
        if self.arrows_.shape != (count, count) or self.arrows_.dtype != bool or cycle_in(self.arrows_):
            raise ValueError("arrows that do not fit the columns, or go in a circle")
        levels = self.level_counts()
        shapes = [tuple(levels[parent] for parent in (*self._parents(child), child)) for child in range(count)]
        sum_to_1 = (np.allclose(chances.sum(axis=-1), 1) and (chances >= 0).all() for chances in self.chances_)
        if [chances.shape for chances in self.chances_] != shapes or not all(sum_to_1):
            raise ValueError("conditional probabilities that do not fit the arrows")

    def explain(self) -> findings.Explanation:
        """The graph, the factorisation, the conditional probabilities, and the rounds of EM."""
        columns, order = self.variables(), in_order(self.arrows_)
        pairs = [(one, other) for one, other in np.argwhere(self.arrows_).tolist()]
        families = [(*self._parents(child), child) for child in order]
        how = HOW_SMOOTHED[self.smoothing] if self.alpha else "The probabilities are as counted, not smoothed."
        tables = chance_tables(columns, families, self.chances_, how.format(self.alpha))
        rounds = tuple(float(number) for number in range(1, len(self.path_) + 1))
        climbed = findings.Curve(
            "Log-likelihood by iteration of EM",
            "iteration",
            rounds,
            (("log-likelihood", tuple(self.path_.tolist())),),
        )
        return (
            factorisation(columns, families),
            *drawn_graph(columns, order, pairs, directed=True),
            arrow_table(columns, pairs),
            *tables,
            *((climbed,) if rounds else ()),
        )
