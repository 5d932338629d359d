"""Bayesian network: each column depends on a few others, by arrows without cycles; the class follows from all.

Formula:
    P(x_1, ..., x_n) = Π_i P(x_i | parents of x_i), the target being one of the x_i. The class of a row is that of
    the largest P(class, known cells); cells that are empty are summed out, by variable elimination in the order of
    min-fill. Of N rows whose parents have the same levels, n_v with level v, one of V, give

        P(v | parents) = (n_v + α) / (N + Vα)              `smoothing: laplace`
        P(v | parents) = (n_v + α/(QV)) / (N + α/Q)        `smoothing: bdeu`, Q being the combinations of parents

Assumes:
    Given its parents, a column is independent of all columns that it does not lead to. Nominal columns: numbers
    are cut into bins before it.

Cost:
    To learn naive arrows one pass; a tree, rows × columns²; climbing, as much for each arrow. To predict, rows ×
    columns if all cells are known; else up to exponential in how many empty cells are connected.

Choices:
    `structure` is found from data, or given as {wet: [rain, sprinkler], rain: []}; a column that is not named
    has no parents. `edges` says the same arrow by arrow: [rain -> wet, sprinkler -> wet]. `naive`: the target
    leads to every column. `tree-augmented`: so does the tree of the largest mutual information given the target,
    from the first column on. `hill-climbing`: starting without arrows, the arrow that raises the `score` most is
    added, removed or turned, while one does, with at most `max_parents` parents.

    A row counts for a column if that and its parents are known. With `gaps: em` it counts for all combinations
    of its unknown cells, by their probability, until the likelihood of the known cells settles; rows without a
    class then count, too, and a column that is never known is a hidden cause, starting from random
    probabilities. Arrows are found before that, from the known cells. Climbing, whose scores must be of the same
    rows, replaces an empty cell by the most frequent level. Learned arrows need not be causes: many graphs have
    the same independences. Methods of `inference` that are not exact are for rows with many empty cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, GivesEvidence
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.posteriors import log_sum
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
from mlcli.models.graphs._inference import INFERENCES, Factor, blocks_with_the_same_gaps, marginal, shares
from mlcli.models.graphs._structures import (
    SCORES,
    climb_from_counts,
    counts,
    cycle_in,
    d_separated,
    in_order,
    tree_among,
)
from mlcli.tasks.supervised import Classifier, LabelledRows

ARROW = "->"
SMOOTHING_NOTES = {
    "laplace": "In every table {:g} is added to the count of every level (alpha).",
    "bdeu": "In every table {:g} is spread evenly over the counts (alpha).",
}

Family = tuple[int, ...]
"""A variable behind its parents."""


@register("bayes-net", reference="Pearl 1988; Friedman, Geiger & Goldszmidt 1997, Bayesian network classifiers")
class BayesNet(OverGraph, Classifier, CountsParameters, Generative, GivesEvidence):
    """Arrows between columns, and a table of conditional probabilities for each."""

    structure: str | dict[str, list[str]] = param(
        "tree-augmented",
        "how arrows are found, or the parents of columns: {wet: [rain]}",
        choices=("naive", "tree-augmented", "hill-climbing"),
        matters_when={"edges": ((),)},
    )
    max_parents: int = param(
        2,
        "maximum number of parents of a column (structure: hill-climbing)",
        ge=1,
        matters_when={"structure": "hill-climbing"},
    )
    score: str = param(
        "bic",
        "score that arrows maximise (structure: hill-climbing)",
        choices=SCORES,
        matters_when={"structure": "hill-climbing"},
    )
    edges: tuple[str, ...] = param((), "arrows, such as rain -> wet, instead of a structure", if_given=True)
    gaps: str = param(
        "known", "how rows with empty cells are used in training", choices=("known", "em"), if_given=True
    )
    smoothing: str = param("laplace", "how probabilities are smoothed", choices=SMOOTHING_NOTES)
    alpha: float = param(
        1.0, "rows added to each level (bdeu: each table)", ge=0, tune=log_range(0.01, 10, simpler="high")
    )
    inference: str = param("exact", "how empty cells are summed out", choices=INFERENCES)
    sweeps: int = param(
        1000, "number of sweeps of Gibbs sampling (inference: gibbs)", ge=10, matters_when={"inference": "gibbs"}
    )

    arrows_: Flags = learned()
    """From × to, the target being the last variable."""
    chances_: tuple[Array, ...] = learned()
    """The conditional probabilities of each variable: its parents in their order × its levels."""
    path_: Array = learned()
    """The log-likelihood of every round of EM, smoothing included."""
    seed_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Levels and empty cells; for EM a row without a class has one more empty cell."""
        return replace(ACCEPTS, unlabelled=self.gaps == "em")

    def conflicts(self) -> list[str]:
        """Parents are a list of names; edges are arrows between two."""
        if isinstance(self.structure, str):
            wrong = [text for text in self.edges if not split_edge(text, ARROW)]
            return [f"edges: '{text}' is no arrow such as rain -> wet" for text in wrong]
        if self.edges:
            return ["structure and edges both say the arrows"]
        wrong = [name for name, parents in self.structure.items() if not _are_names(parents)]
        return [f"structure: the parents of '{name}' are a list of columns, such as [rain]" for name in wrong]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the arrows, then count each column with its parents."""
        codes = labelled_codes(data)
        self.seed_, self.path_ = int(rng.integers(2**31)), np.zeros(0)
        self.arrows_ = self._find_arrows(codes, data.weights)
        if self.gaps == "em":
            rows = data if data.unlabelled is None else data.alone().joined(data.unlabelled.counted())
            self._fit_by_em(labelled_codes(rows), rows.weights, rng)
        else:
            met = self._count(codes, data.weights)
            self.chances_ = tuple(self._smoothed_shares(table) for table in met)

    def _find_arrows(self, codes: Codes, weights: Array) -> Flags:
        """The arrows that are given, or those that the structure finds."""
        columns, levels, target = self.variables(), self.level_counts(), len(self.columns_)
        arrows = np.zeros((target + 1, target + 1), bool)
        if self.edges or not isinstance(self.structure, str):
            where = "edges" if self.edges else "structure"
            if isinstance(self.structure, str):
                pairs = read_edges(self.edges, ARROW, columns)
            else:
                parents_of = {
                    index_of(name, columns, where): parents or [] for name, parents in self.structure.items()
                }
                pairs = [
                    (index_of(parent, columns, where), child)
                    for child, parents in parents_of.items()
                    for parent in parents
                ]
            for parent, child in pairs:
                arrows[parent, child] = True
            if cycle := cycle_in(arrows):
                names = " -> ".join(columns[index].name for index in cycle)
                raise FitError(f"{where}: arrows go in a circle: {names}", hint="leave out one of these arrows")
        elif self.structure == "hill-climbing":
            arrows = climb_from_counts(codes, levels, weights, SCORES[self.score], self.max_parents)
        else:
            if self.structure == "tree-augmented":
                arrows = tree_among(codes, levels, range(target), (target,), weights)
            arrows[target, :target] = True
        return arrows

    def _families(self) -> list[Family]:
        """Each variable behind its parents."""
        return [(*np.flatnonzero(parents).tolist(), child) for child, parents in enumerate(self.arrows_.T)]

    def _count(self, codes: Codes, weights: Array) -> list[Array]:
        """The weight of each combination of a family, in rows where all of it is known."""
        levels, families = self.level_counts(), self._families()
        for family in families:
            if np.prod([float(levels[variable]) for variable in family]) > 10_000_000:
                columns = self.variables()
                message = f"'{columns[family[-1]].name}' has too many parents: {names_of(columns, family[:-1])}"
                raise FitError(message, hint="give it fewer, or fewer levels")
        return [counts(codes, levels, family, weights) for family in families]

    def _added(self, table: Array) -> float:
        """What smoothing adds to each entry of a table of counts."""
        return self.alpha / table.size if self.smoothing == "bdeu" else self.alpha

    def _smoothed_shares(self, met: Array) -> Array:
        """P(level | parents) from counts; equal shares if nothing was counted."""
        added = self._added(met)
        totals = met.sum(axis=-1, keepdims=True) + added * met.shape[-1]
        equal = np.full_like(met, 1 / met.shape[-1])
        return np.asarray(np.divide(met + added, totals, out=equal, where=totals > 0))

    # Expectation maximisation over empty cells (Lauritzen 1995).

    def _fit_by_em(self, codes: Codes, weights: Array, rng: np.random.Generator) -> None:
        """Climb to a local maximum of the likelihood of the known cells, smoothing included.

        It starts from counts of rows that are known; a family that no row knows whole starts from random shares.
        """
        self.chances_ = tuple(
            self._smoothed_shares(table)
            if table.any()
            else np.asarray(rng.dirichlet(np.ones(table.shape[-1]), table.shape[:-1]))
            for table in self._count(codes, weights)
        )
        path = list[float]()
        for _ in range(200):
            expected, likelihood = self._expected_counts(codes, weights)
            with np.errstate(divide="ignore"):
                logs = [(self._added(table), np.log(table)) for table in self.chances_]
            path.append(likelihood + sum(float(added * values.sum()) for added, values in logs if added))
            if len(path) > 1 and path[-1] - path[-2] < 1e-7 * weights.sum():
                break
            self.chances_ = tuple(map(self._smoothed_shares, expected))
        self.path_ = np.array(path)

    def _expected_counts(self, codes: Codes, weights: Array) -> tuple[list[Array], float]:
        """The expected counts of each family over the unknown cells, and the log-likelihood of the known ones."""
        factors, expected, likelihood = self.factors(), self._count(codes, weights), 0.0
        for rows in blocks_with_the_same_gaps(codes >= 0):
            known = set(np.flatnonzero(codes[rows[0]] >= 0).tolist())
            with_evidence = [factor.given(codes[rows], known) for factor in factors]
            likelihood += float(weights[rows] @ np.broadcast_to(marginal(with_evidence, ()).logs, len(rows)))
            for family, table in zip(self._families(), expected, strict=True):
                hidden = [variable for variable in family if variable not in known]
                if hidden:
                    _add_expected(table, family, codes[rows], weights[rows], marginal(with_evidence, hidden))
        return expected, likelihood

    def factors(self) -> tuple[Factor, ...]:
        """The conditional probabilities of each variable as a factor."""
        tables = zip(self._families(), self.chances_, strict=True)
        return tuple(Factor.of(family, table) for family, table in tables)

    def log_evidence(self, table: Table) -> Array:
        """Log P(known cells), always exact."""
        return log_sum(self.log_joint(table, exact=True), 1)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Each variable drawn after its parents (ancestral sampling); the target is the last column."""
        codes, families = np.zeros((n, len(self.chances_)), np.int32), self._families()
        for child in in_order(self.arrows_):
            probabilities = self.chances_[child][tuple(codes[:, parent] for parent in families[child][:-1])]
            cumulative = np.cumsum(np.broadcast_to(probabilities, (n, probabilities.shape[-1])), axis=1)
            codes[:, child] = (rng.random((n, 1)) >= cumulative[:, :-1]).sum(axis=1)
        return Table.of(zip(self.variables(), codes.T, strict=True), n)

    def separated(self, first: Collection[int], second: Collection[int], given: Collection[int]) -> bool:
        """D-separation."""
        return d_separated(self.arrows_, first, second, given)

    def explain(self) -> findings.Explanation:
        """The graph, the factorisation, the conditional probabilities, and the rounds of EM."""
        columns, order = self.variables(), in_order(self.arrows_)
        pairs = [(parent, child) for parent, child in np.argwhere(self.arrows_).tolist()]
        all_families = self._families()
        families = [all_families[child] for child in order]
        whole = f"P({names_of(columns, order)}) ="
        arrows = tuple((columns[parent].name, columns[child].name) for parent, child in pairs)
        note = "" if pairs else "no arrows: all columns are independent"
        curves: list[findings.Curve] = []
        if len(self.path_):
            rounds = tuple(float(number) for number in range(1, len(self.path_) + 1))
            line = ("log-likelihood", tuple(self.path_.tolist()))
            curves.append(findings.Curve("Log-likelihood by iteration of EM", "iteration", rounds, (line,)))
        return (
            findings.Lines("Factorisation", (whole, *(f"    {self._title(family)}" for family in families))),
            *graph_picture(columns, order, pairs, directed=True),
            findings.Table("Arrows", ("from", "to"), arrows, note=note),
            *self._probability_tables(families),
            *curves,
        )

    def _title(self, family: Family) -> str:
        columns, (*parents, child) = self.variables(), family
        return f"P({columns[child].name}{' | ' if parents else ''}{names_of(columns, parents)})"

    def _probability_tables(self, families: Sequence[Family]) -> Iterator[findings.Table]:
        """The conditional probabilities of each variable with at most 24 lines; the first table has a note."""
        columns = self.variables()
        note = SMOOTHING_NOTES[self.smoothing] if self.alpha else "The probabilities are as counted, not smoothed."
        note = note.format(self.alpha)
        for *parents, child in families:
            table = self.chances_[child]
            lines: list[tuple[findings.Entry, ...]] = []
            for codes in np.ndindex(table.shape[:-1]):
                levels = (columns[parent].levels[code] for parent, code in zip(parents, codes, strict=True))
                lines.append((*levels, *table[codes].tolist()))
            if len(lines) <= 24:
                header = (*(columns[parent].name for parent in parents), *columns[child].levels)
                yield findings.Table(self._title((*parents, child)), header, tuple(lines), note=note)
                note = ""

    def adjustable_parameters(self, table: Table) -> float | None:
        """The probabilities of all levels but one, for each combination of the parents' levels."""
        return float(sum(chances.size - chances[..., 0].size for chances in self.chances_))

    def check_learned(self) -> None:
        """Arrows without cycles, and tables that fit them."""
        count = len(self.columns_) + 1
        if self.arrows_.shape != (count, count) or self.arrows_.dtype != bool or cycle_in(self.arrows_):
            raise ValueError("arrows that do not fit the columns, or go in a circle")
        levels = self.level_counts()
        shapes = [tuple(levels[variable] for variable in family) for family in self._families()]
        sum_to_1 = (np.allclose(chances.sum(axis=-1), 1) and (chances >= 0).all() for chances in self.chances_)
        if [chances.shape for chances in self.chances_] != shapes or not all(sum_to_1):
            raise ValueError("conditional probabilities that do not fit the arrows")


def _are_names(parents: object) -> bool:
    """Whether parents are a list of names, or nothing."""
    return parents is None or (
        isinstance(parents, list | tuple) and all(isinstance(parent, str) for parent in parents)
    )


def _add_expected(table: Array, family: Family, codes: Codes, weights: Array, joint: Factor) -> None:
    """Add each row to all combinations of its hidden cells, by their probability (``joint``)."""
    probabilities = shares(joint.logs)
    rows: Rows = np.arange(len(codes)) if len(probabilities) > 1 else np.zeros(len(codes), np.intp)
    for levels in np.ndindex(probabilities.shape[1:]):
        hidden = dict(zip(joint.variables, levels, strict=True))
        cells = tuple(
            np.full(len(codes), hidden[variable]) if variable in hidden else codes[:, variable]
            for variable in family
        )
        np.add.at(table, cells, weights * np.nan_to_num(probabilities[(rows, *levels)]))
